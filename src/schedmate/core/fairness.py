"""How far a job may be overtaken because of SchedMate.

A nice number sets a job back behind others. Once it is late by the bound (`overtaking.py`), it gets
the first place, and from then on it stands where its scheduler alone would have put it: a job that
its scheduler puts behind it does not start before it any more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedmate.core.scope import is_opted_out
from schedmate.model import JobState
from schedmate.policies import Candidate

if TYPE_CHECKING:
    from schedmate.model import Job, Prediction

_HOUR_S = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FairnessLimits:
    """Why these by default: docs/explanation/results.md."""

    late_hours: float = 12.0
    """So late it may become by jobs that its scheduler alone puts behind it."""
    hours: float = 0.0
    """It is overtaken for so long at least, or"""
    times: float = 0.0
    """so many times its own predicted run time, the longer of both."""

    @property
    def late_s(self) -> float:
        return self.late_hours * _HOUR_S

    def bound_s(self, job: Job, prediction: Prediction | None) -> float:
        """By what its cost goes by, too: who hides a job does not get it out of turn sooner."""
        if not self.times:
            return self.hours * _HOUR_S
        expected = Candidate(job, prediction, cautious=is_opted_out(job)).predicted_s
        return max(self.hours * _HOUR_S, self.times * (expected or 0.0))

    def due(self, job: Job, prediction: Prediction | None, waited_s: float = 0.0) -> float | None:
        """When the bound of a waiting job is reached; `waited_s` are its waits for earlier runs."""
        if job.state is not JobState.PENDING:
            return None
        since = max(job.submit_time, job.eligible_time or 0.0)
        return since + self.bound_s(job, prediction) - waited_s
