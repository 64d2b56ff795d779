"""GPUs that are asked for while nothing in sight would use one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from schedmate.advisor.checks.base import Checked
from schedmate.advisor.frameworks import GPU_PACKAGES
from schedmate.model import Remark

_USES_GPU = re.compile(
    rf"cuda|gpu|nvidia|nccl|rocm|\b(?:{'|'.join(sorted(GPU_PACKAGES))})\b", re.IGNORECASE
)


def gpus_not_used(checked: Checked) -> Iterator[Remark]:
    """Silent where the code cannot be read: then nobody knows."""
    asked = checked.workload.gpus
    main = checked.launch.main
    if asked is None or asked.value < 1 or main is None or main.entry.source is None:
        return
    if any(_USES_GPU.search(source.text) for source in checked.project.code):
        return
    count = f"{asked.value} GPU" + ("s" if asked.value > 1 else "")
    yield Remark(
        level="hint",
        text=f"asks for {count}, but nothing in {main.entry.name} and its imports mentions one",
        evidence=asked.evidence,
    )
