"""GPUs that are asked for while nothing in sight would use one."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.checks.base import Checked
from schedmate.model import Remark


def gpus_not_used(checked: Checked) -> Iterator[Remark]:
    """Silent where the code cannot be read: then it is unknown."""
    asked = checked.workload.gpus
    main = checked.launch.main
    if asked is None or asked.value < 1 or main is None or main.entry.source is None:
        return
    if checked.understood.mentions_gpu:
        return
    count = f"{asked.value} GPU" + ("s" if asked.value > 1 else "")
    yield Remark(
        level="hint",
        text=f"asks for {count}, but nothing in {main.entry.name} and its imports mentions one",
        evidence=asked.evidence,
    )


def one_gpu_used(checked: Checked) -> Iterator[Remark]:
    """Several GPUs, and code that would use the first of them."""
    asked, main = checked.workload.gpus, checked.launch.main
    if asked is None or asked.value <= 1 or main is None or main.entry.source is None:
        return
    alone = len(checked.launch.runs) == 1 and not checked.understood.traits.shares_gpus
    if alone and checked.understood.mentions_gpu and checked.workload.parallelism is None:
        yield Remark(
            level="warning",
            text=f"asks for {asked.value} GPUs, but nothing in {main.entry.name} and its imports "
            "would use more than one",
            evidence=asked.evidence,
        )
