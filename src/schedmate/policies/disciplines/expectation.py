"""How long a job is taken to run, also where nobody says."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappush, heappushpop

UNKNOWN_S = 3600.0
"""Stands for a job of which nothing is said before anything was said of any other."""


class Expectation:
    """A job nobody speaks of stands where the median of those spoken of before it stands: behind
    the short half, before the long half."""

    def __init__(self, expected: Sequence[float]) -> None:
        self._expected = expected
        self._stand_in: dict[int, float] = {}
        self._told: set[int] = set()
        self._median = RunningMedian()

    def submitted(self, job: int) -> float:
        """To be told once of each job, in order; a job that comes again changes nothing."""
        expected = self._expected[job]
        if expected == expected:  # noqa: PLR0124 - false for nan alone, and there are millions
            if job not in self._told:
                self._told.add(job)
                self._median.add(expected)
            return expected
        return self._stand_in.setdefault(job, self._median.value)

    def stand_in(self, job: int) -> float:
        """What is taken for a job of which nobody said anything when it came."""
        return self._stand_in[job]


class RunningMedian:
    """The lower one of the two in the middle, so that it is always a value that was said."""

    def __init__(self) -> None:
        self._low: list[float] = []  # negated: its largest is first
        self._high: list[float] = []

    @property
    def value(self) -> float:
        return -self._low[0] if self._low else UNKNOWN_S

    def add(self, seconds: float) -> None:
        if len(self._low) > len(self._high):
            heappush(self._high, -heappushpop(self._low, -seconds))
        else:
            heappush(self._low, -heappushpop(self._high, seconds))
