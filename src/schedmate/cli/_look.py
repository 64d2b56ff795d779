"""What one look at a job shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedmate.model import Progress
    from schedmate.tracker.curves import RunCurves


@dataclass(frozen=True, slots=True)
class Look:
    """The progress of one job, how long its logs have been silent, and whether it is over."""

    progress: Progress
    silent_s: float | None = None
    over: bool = False
    failure: str = ""
    """What it failed of in one line, and how to learn more."""
    curves: RunCurves | None = None
    logs: int = 1
    """How many logs of the job were read together."""

    @property
    def failed(self) -> bool:
        return self.progress.phase == "failed"


def failure_line(paths: Sequence[Path]) -> str:
    """`gpu_oom: ran out of GPU memory (more: schedmate diagnose train.log)`."""
    from schedmate.handler import Case, Handler
    from schedmate.model import SchedMateError

    more = f"more: schedmate diagnose {' '.join(map(str, paths))}"
    try:
        found = Handler().diagnose(Case(logs=tuple(path for path in paths if path.is_file())))
    except SchedMateError:
        return more
    return f"{found.reason}: {found.summary} ({more})"
