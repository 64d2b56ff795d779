"""A long job that saves nothing on its way."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.checks.base import Checked
from schedmate.advisor.checks.wording import in_words
from schedmate.model import Remark

_LONG_S = 4 * 3600.0


def no_checkpoints(checked: Checked) -> Iterator[Remark]:
    """Silent where the code cannot be read, and where a library saves by itself."""
    workload, main = checked.workload, checked.launch.main
    expected = checked.prediction.duration_s
    limit = checked.target.request.time_limit_s or checked.launch.asked.time_limit_s
    length = expected.p50 if expected is not None else limit
    if length is None or length < _LONG_S or main is None or main.entry.source is None:
        return
    if checked.understood.traits.saves or workload.checkpoint_dir or workload.checkpoint_every:
        return
    yield Remark(
        level="hint",
        text=f"nothing in {main.entry.name} and its imports saves a checkpoint, and a job of "
        f"{in_words(length)} would lose everything with its node",
        evidence=main.command.evidence,
    )
