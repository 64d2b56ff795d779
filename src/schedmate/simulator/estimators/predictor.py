"""What predicts the jobs of a run, as the simulated daemon asks it."""

from __future__ import annotations

import math
from typing import Protocol

from schedmate.model import JobState, Prediction, Spread
from schedmate.model.advice import Basis
from schedmate.simulator.estimators.base import Estimates


class Predictor(Protocol):
    """Jobs by their numbers in the run."""

    def cost_s(self, job: int) -> float:
        """How long it takes until it first answers."""

    def submitted(self, job: int) -> Prediction: ...

    def started(self, job: int, at: float) -> None: ...

    def ended(self, job: int, started_at: float, ended_at: float, state: JobState) -> None: ...


class Fixed:
    """What was estimated of each job beforehand."""

    def __init__(self, estimates: Estimates) -> None:
        self._estimates = estimates

    def cost_s(self, job: int) -> float:
        return float(self._estimates.cost_s[job])

    def submitted(self, job: int) -> Prediction:
        estimates = self._estimates
        basis: Basis = "history" if estimates.basis is None else estimates.basis[job]
        spread = (float(each[job]) for each in (estimates.p10, estimates.p50, estimates.p90))
        return prediction_of(*spread, basis=basis, source=estimates.source)

    def started(self, job: int, at: float) -> None: ...

    def ended(self, job: int, started_at: float, ended_at: float, state: JobState) -> None: ...


def prediction_of(p10: float, p50: float, p90: float, *, basis: Basis, source: str) -> Prediction:
    """Some sources give the middle alone, or nothing."""
    if math.isnan(p50):
        return Prediction(basis="none", explanation="its duration is unknown")
    spread = Spread(p50 if math.isnan(p10) else p10, p50, p50 if math.isnan(p90) else p90)
    return Prediction(basis=basis, duration_s=spread, explanation=source)
