"""The contract of a check: one thing that can be wrong with a job before it has run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedmate.advisor.launch.run import Launch
from schedmate.advisor.launch.target import Target
from schedmate.advisor.understand.understanding import Understanding
from schedmate.model import Fingerprint, PastRun, Prediction, Remark, Workload

if TYPE_CHECKING:
    from schedmate.advisor.interpret.python.parsed import Unparsable


@dataclass(frozen=True, slots=True)
class Before:
    """A past run, and what it died of where that is known."""

    run: PastRun
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """All that is known of a job when the checks look at it."""

    target: Target
    launch: Launch
    understood: Understanding
    problems: tuple[Unparsable, ...]
    prediction: Prediction
    fingerprint: Fingerprint | None = None
    before: tuple[Before, ...] = ()
    """The newest runs of the same code."""
    now: float = 0.0

    @property
    def workload(self) -> Workload:
        return self.understood.workload


Check = Callable[[Checked], Iterator[Remark]]
"""Says what is wrong, with the lines that show it; never raises, never blocks."""


def in_words(seconds: float) -> str:
    for size, name in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {name}"
    whole = round(seconds)
    return "1 second" if whole == 1 else f"{whole} seconds"
