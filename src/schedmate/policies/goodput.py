"""How fast a job would go with more or fewer GPUs, and which jobs get how many of which type.

Goodput is throughput times statistical efficiency: progress, which is what `ClusterView.pace`
measures. A job of a trace keeps its batch size, so its efficiency is the same on any number of
GPUs. The allocation is Sia's integer program: with several types of GPU it is solved with HiGHS;
where all are alike it is a knapsack in which each job puts at most one thing, solved exactly in one
pass.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from schedmate.policies.base import PaceModel
from schedmate.policies.highs import optimizer, quietly, sparse

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Goodputs:
    """A second of work takes `a / GPUs + b`: what is divided and what is not (Pollux' step time
    with nothing overlapped). Before two numbers of GPUs were tried `b` is 0: perfect scaling, as
    Pollux and Sia assume of what they have not tried. Until then predicted paces count, where
    given."""

    def __init__(self, asked: list[int], paces: PaceModel | None = None) -> None:
        self._asked = asked
        self._paces = paces
        self._seen: dict[int, dict[int, float]] = {}
        self._fit: dict[int, tuple[float, float]] = {}

    def observe(self, job: int, gpus: int, pace: float) -> bool:
        """Whether that is new."""
        seen = self._seen.setdefault(job, {})
        if seen.get(gpus) == pace:
            return False
        seen[gpus] = pace
        self._fit[job] = _fit(seen)
        return True

    def predicted(self, job: int) -> bool:
        """Whether its paces are predicted."""
        return self._paces is not None and not math.isnan(self._paces(job, self._asked[job]))

    def of(self, job: int, counts: Ints) -> Floats:
        """With each of these numbers of GPUs."""
        tried_one = len(self._seen.get(job, ())) <= 1
        if tried_one and self._paces is not None and self.predicted(job):
            return np.array([self._paces(job, gpus) for gpus in counts.tolist()])
        shared, fixed = self._fit.get(job, (float(self._asked[job]), 0.0))
        goodputs: Floats = 1.0 / (shared / counts + fixed)
        return goodputs

    def forget(self, job: int) -> None:
        self._seen.pop(job, None)
        self._fit.pop(job, None)


def _fit(seen: dict[int, float]) -> tuple[float, float]:
    """Least squares of both parts, neither below zero."""
    part = 1.0 / np.array(list(seen), dtype=np.float64)
    time = 1.0 / np.array(list(seen.values()))
    through_zero = float(part @ time / (part @ part))
    spread = part - part.mean()
    if not spread.any():
        return through_zero, 0.0
    shared = float(spread @ time / (spread @ spread))
    fixed = float(time.mean() - shared * part.mean())
    if shared <= 0.0:
        return 0.0, float(time.mean())
    return (shared, fixed) if fixed > 0.0 else (through_zero, 0.0)


_OLDER = 1e-3
"""Of equal jobs the older ones go first, and the solver has no ties to break."""
_PARTS = 10_000
"""Gains are whole numbers of these parts: exact for the solver, and finer than Sia's hundredths."""


@dataclass(frozen=True, slots=True, eq=False)
class Offers:
    """A row an offer, in order of jobs: a job may have so many GPUs of a type, which is worth that
    to it. A job's smallest offer is worth 1. Jobs are numbered from the oldest."""

    job: Ints
    gpus: Ints
    kind: Ints
    worth: Floats

    def gains(self, power: float, nothing: float) -> Floats:
        """Over giving the job nothing, which costs `nothing`."""
        count = int(self.job.max()) + 1
        older = _OLDER * (count - self.job) / count
        gains: Floats = np.round((nothing + older - self.worth**power) * _PARTS)
        return gains


def allocate(offers: Offers, capacity: Ints, *, power: float, nothing: float) -> list[int]:
    """The offers taken: at most one for each job, no type more than there is, such that the sum of
    `worth ** power` over jobs is least (`power` is below 0: the lower, the fairer); a job that
    gets nothing counts as `nothing`."""
    if not len(offers.job):
        return []
    gains = offers.gains(power, nothing)
    if len(capacity) == 1:
        return fill_one_kind(offers, gains, int(capacity[0]))
    return fill_kinds(offers, gains, capacity)


def fill_one_kind(offers: Offers, gains: Floats, capacity: int) -> list[int]:
    """`best[g]` is the most that the jobs so far gain with `g` GPUs."""
    begins = np.searchsorted(offers.job, np.arange(int(offers.job.max()) + 2)).tolist()
    best = np.zeros(capacity + 1)
    taken: list[NDArray[np.int16]] = []
    for first, end in pairwise(begins):
        with_it, which = best.copy(), np.full(capacity + 1, -1, dtype=np.int16)
        for row in range(first, end):
            gpus = int(offers.gpus[row])
            if gpus <= capacity:
                more = best[: capacity + 1 - gpus] + gains[row]
                better = np.flatnonzero(more > with_it[gpus:])
                with_it[better + gpus] = more[better]
                which[better + gpus] = row - first
        best = with_it
        taken.append(which)
    return _trace_back(offers.gpus, begins, taken, capacity)


def _trace_back(
    gpus: Ints, begins: list[int], taken: list[NDArray[np.int16]], left: int
) -> list[int]:
    rows = []
    for number in reversed(range(len(taken))):
        offer = int(taken[number][left])
        if offer >= 0:
            rows.append(begins[number] + offer)
            left -= int(gpus[rows[-1]])
    return rows[::-1]


def fill_kinds(offers: Offers, gains: Floats, capacity: Ints) -> list[int]:
    scipy = optimizer()
    jobs = int(offers.job.max()) + 1
    matrix = _constraints(offers, jobs, len(capacity))
    limits = np.concatenate([np.ones(jobs), capacity])
    with quietly():
        found = scipy.milp(
            -gains,
            integrality=np.ones(len(gains)),
            bounds=scipy.Bounds(0, (gains > 0.0).astype(np.float64)),
            constraints=scipy.LinearConstraint(matrix, ub=limits),
        )
    taken: list[int] = np.flatnonzero(np.round(found.x)).tolist()
    return taken


def _constraints(offers: Offers, jobs: int, kinds: int) -> object:
    """Rows: one offer for each job at most; of each type no more than there is."""
    count = len(offers.job)
    rows = np.concatenate([offers.job, jobs + offers.kind])
    columns = np.concatenate([np.arange(count), np.arange(count)])
    values = np.concatenate([np.ones(count), offers.gpus.astype(np.float64)])
    return sparse().coo_array((values, (rows, columns)), shape=(jobs + kinds, count)).tocsr()
