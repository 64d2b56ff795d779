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
    """A waiting job as an ordering may see it.

    Where run times vary it is taken to need the longer ones: no lie about its work, nor one name
    for short and long, makes it shorter than it may be.
    """

    job: Job
    prediction: Prediction | None = None
    cautious: bool = False
    """It must not be read: without a prediction it is taken to run as long as it may."""

    @property
    def predicted_s(self) -> float | None:
        """The 90th percentile of the predicted run time."""
        spread = None if self.prediction is None else self.prediction.duration_s
        return None if spread is None else spread.p90

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
        """The cost from which on all jobs are equally last; 0 where all are equal."""

    def cost(self, candidate: Candidate) -> float | None:
        """How long it keeps the others waiting, in seconds; None where that is unknown."""


def nice_of(ordering: Ordering, candidate: Candidate, most: int, together: float = 0.0) -> int:
    """The place of a job in the queue as a nice number from 0 to `most`, whatever the scheduler.

    It grows with the logarithm of the cost: `most * ln(1 + cost/300) / ln(1 + longest/300)`,
    rounded up; `together` is what other work costs that belongs to it. A job of unknown cost stands
    in the middle, and not before it where it must not be read.
    """
    cost = ordering.cost(candidate)
    if not ordering.longest:
        return 0
    if cost is None:
        return most // 2
    bounded = min(max(0.0, cost + together), ordering.longest)
    share = math.log1p(bounded / SHORTEST_S) / math.log1p(ordering.longest / SHORTEST_S)
    place = math.ceil(most * share)
    if candidate.cautious and ordering.cost(replace(candidate, cautious=False)) is None:
        return max(place, most // 2)
    return place
