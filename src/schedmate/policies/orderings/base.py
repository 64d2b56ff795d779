"""The contract of an ordering. It never owns the loop: it only says what a job costs the others."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from schedmate.model import Job, Prediction

SHORTEST_S = 300.0
"""Costs below it hardly differ. It and `longest` span what jobs cost and little more: a wider scale
leaves fewer numbers between them, and a scheduler that weighs other things, too, lets those decide
(docs/explanation/design-notes.md)."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A waiting job as an ordering may see it."""

    job: Job
    prediction: Prediction | None = None
    cautious: bool = False
    """It must not be read: it is taken to run as long as it may."""

    @property
    def predicted_s(self) -> float | None:
        """The middle of the predicted run time; of a job that must not be read the 90th
        percentile."""
        spread = None if self.prediction is None else self.prediction.duration_s
        if spread is None:
            return None
        return spread.p90 if self.cautious else spread.p50

    @property
    def expected_s(self) -> float | None:
        """As predicted, where there is a prediction; else the limit of a job that must not be
        read."""
        if self.predicted_s is not None:
            return self.predicted_s
        limit = self.job.request.time_limit_s
        return (math.inf if limit is None else limit) if self.cautious else None


class Ordering(Protocol):
    """Jobs that cost less start first; equal ones in order of submission."""

    @property
    def name(self) -> str: ...

    @property
    def longest(self) -> float:
        """The cost from which on all jobs are equally last."""

    def cost(self, candidate: Candidate) -> float | None:
        """How long it keeps the others waiting, in seconds; None where that is unknown."""


def nice_of(ordering: Ordering, candidate: Candidate, most: int) -> int:
    """The place of a job in the queue as a nice number from 0 to `most`, whatever the scheduler.

    It grows with the logarithm of the cost: `most * ln(1 + cost/300) / ln(1 + longest/300)`,
    rounded up. A job of unknown cost stands in the middle, and not before it where it must not be
    read.
    """
    cost = ordering.cost(candidate)
    if cost is None:
        return most // 2
    bounded = min(max(0.0, cost), ordering.longest)
    share = math.log1p(bounded / SHORTEST_S) / math.log1p(ordering.longest / SHORTEST_S)
    place = math.ceil(most * share)
    if candidate.cautious and ordering.cost(replace(candidate, cautious=False)) is None:
        return max(place, most // 2)
    return place
