"""The contract of a check: one thing that can be wrong with a job before it has run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from schedmate.advisor.launch import Launch
from schedmate.advisor.modules import Unparsable
from schedmate.advisor.target import Target
from schedmate.advisor.understanding import Understanding
from schedmate.model import Prediction, Remark, Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """All that is known of a job when the checks look at it."""

    target: Target
    launch: Launch
    understood: Understanding
    problems: tuple[Unparsable, ...]
    prediction: Prediction

    @property
    def workload(self) -> Workload:
        return self.understood.workload


Check = Callable[[Checked], Iterator[Remark]]
"""Says what is wrong, with the lines that show it; never raises, never blocks."""
