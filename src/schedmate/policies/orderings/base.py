"""The contract of a policy. A policy never owns the loop: it only says who goes first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from schedmate.model import Job, Prediction


@dataclass(frozen=True, slots=True)
class Candidate:
    """A waiting job as an ordering may see it."""

    job: Job
    prediction: Prediction | None = None

    @property
    def expected_s(self) -> float | None:
        """The middle of the predicted run time, where there is a prediction."""
        if self.prediction is None or self.prediction.duration_s is None:
            return None
        return self.prediction.duration_s.p50


class Ordering(Protocol):
    """Jobs with a smaller nice number start first; equal ones in order of submission."""

    @property
    def name(self) -> str: ...

    def nice(self, candidate: Candidate) -> int: ...
