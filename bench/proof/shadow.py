"""A bound by the plain schedule itself: no later than there, plus a slack.

Live, that schedule would have to be guessed from predictions; here it is the run of the policy
alone on the same jobs, so no shadow can be better.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from schedmate.core import FairnessLimits
from schedmate.model import JobState

if TYPE_CHECKING:
    from schedmate.model import Job, JobId, Prediction
    from schedmate.simulator.experiments.run import PolicyRun

_HOUR_S = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowLimits(FairnessLimits):
    """`hours` is the slack."""

    late_hours: float = 0.0
    starts: dict[JobId, float] = field(default_factory=dict, repr=False, compare=False)

    def due(self, job: Job, prediction: Prediction | None, waited_s: float = 0.0) -> float | None:  # noqa: ARG002 - nothing depends on them
        if job.state is not JobState.PENDING:
            return None
        return self.starts.get(job.id, job.submit_time) + self.hours * _HOUR_S


def bound_beside(bound: FairnessLimits, alone: PolicyRun) -> FairnessLimits:
    """With the starts of the run of the policy alone, where the bound goes by them."""
    if not isinstance(bound, ShadowLimits):
        return bound
    columns = alone.columns
    starts = (alone.outcome.end - columns.duration).tolist()
    return replace(bound, starts=dict(zip(map(str, columns.ids), starts, strict=True)))
