"""Gavel (OSDI'20): max-min fair shares of every type of GPU, given out in rounds.

At the start of a round (6 minutes, as in the paper) every active job has a fair share of the time
on each type of GPU, by its throughput there. The job furthest behind goes first: the time that was
due to it so far, this round included, over the time it got. (The authors' code counts anew whenever
jobs come or go, but not more often than every so often; on a busy cluster large jobs would starve.)
As there, a job counts half a round as received when it comes, jobs start and stop at the
boundaries only, and a job that is chosen again continues without a break. With one type this is a
fair round robin, solved without a solver; with several the shares are a linear program, and the
types are filled one after the other, the fastest first and with any job before it stays idle.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from schedmate.model import BadInput
from schedmate.policies.base import ClusterView, Policy
from schedmate.policies.highs import optimizer, sparse

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SLACK = 1.0 - 1e-7
"""The part of the fairest level that is required when the rest is dealt out: solvers round."""


def fair_times(gpus: Ints, capacity: int) -> Floats:
    """The share of time each job runs, where all GPUs are alike: as many GPU-seconds for each, but
    no job more than all the time. Max-min fair: no job could have more without another that has
    less giving it up."""
    if int(gpus.sum()) <= capacity:
        return np.ones(len(gpus))
    sizes = np.sort(gpus)
    below = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    levels = (capacity - below) / np.arange(len(sizes), 0, -1)
    level = levels[np.flatnonzero(levels < sizes)[0]]
    times: Floats = np.minimum(1.0, level / gpus)
    return times


def fair_times_by_kind(gpus: Ints, speeds: Floats, capacity: Ints) -> Floats:
    """The same for each type of GPU: jobs by types. What is made equal is the work done for each
    GPU asked for, over what a job would do with an equal part of every type; what that leaves is
    dealt out for the most work."""
    normal = speeds * gpus[:, np.newaxis] / (speeds @ capacity)[:, np.newaxis] * capacity.sum()
    level, _ = _solve(gpus, normal, capacity, level=None)
    return _solve(gpus, normal, capacity, level=level * _SLACK)[1]


def _solve(
    gpus: Ints, worth: Floats, capacity: Ints, *, level: float | None
) -> tuple[float, Floats]:
    """The highest level that every job can have; or, with that given, the most worth in all."""
    count, kinds = worth.shape
    objective = np.zeros(count * kinds + 1)
    objective[-1] = -1.0
    bounds = [(0.0, 1.0)] * (count * kinds) + [(0.0, None)]
    if level is not None:
        objective = np.append(-worth.ravel(), 0.0)
        bounds[-1] = (level, level)
    found = optimizer().linprog(
        objective,
        A_ub=_constraints(gpus, worth),
        b_ub=np.concatenate([np.zeros(count), np.ones(count), capacity]),
        bounds=bounds,
        method="highs",
    )
    times: Floats = np.clip(found.x[:-1].reshape(count, kinds), 0.0, 1.0)
    return float(found.x[-1]), times


def _constraints(gpus: Ints, worth: Floats) -> object:
    """Rows: no job below the level; none more than all the time; no type more than there is."""
    count, kinds = worth.shape
    variables = np.arange(count * kinds)
    jobs, kind = np.divmod(variables, kinds)
    rows = np.concatenate([jobs, np.arange(count), count + jobs, 2 * count + kind])
    columns = np.concatenate([variables, np.full(count, count * kinds), variables, variables])
    values = np.concatenate([-worth.ravel(), np.ones(count), np.ones(len(jobs)), gpus[jobs]])
    shape = (2 * count + kinds, count * kinds + 1)
    return sparse().coo_array((values, (rows, columns)), shape=shape).tocsr()


_DIGITS = 9
"""To which shares and times are compared: equal jobs must not be parted by a rounding."""


class Gavel(Policy):
    name = "gavel"
    kind = "asking"
    orders_by = "fair_share"
    preempts = True

    def __init__(self, *, round_s: float = 360.0) -> None:
        if round_s <= 0.0:
            raise BadInput("a round of gavel must take more than 0 s")
        self._round_s = round_s

    def begin(self, cluster: ClusterView) -> None:
        self._cluster = cluster
        self._gpus = np.asarray(cluster.jobs.gpus, dtype=np.int64)
        shape = (len(self._gpus), len(cluster.kinds()))
        self._due_s = np.zeros(shape)
        self._got_s = np.full(shape, self._round_s / 2)
        self._speeds = np.zeros(shape)
        self._active: dict[int, None] = {}
        self._kind_of: dict[int, int] = {}
        self._shares: tuple[Ints, Floats] = (np.zeros(0, dtype=np.int64), np.zeros((0, shape[1])))
        self._shared_for: tuple[list[int], list[int]] = ([], [])
        self._turned = 0.0
        self._next: float | None = None
        self._woken: float | None = None

    def arrived(self, job: int) -> None:
        self._active[job] = None
        kinds = range(self._speeds.shape[1])
        self._speeds[job] = [self._cluster.speed(job, kind) for kind in kinds]

    def ended(self, job: int) -> None:
        del self._active[job]
        del self._kind_of[job]

    evicted = ended

    def decide(self) -> None:
        if self._nothing_to_gain():
            return
        now = self._cluster.now
        if self._next is None:
            self._next = self._boundary(now)
        if now >= self._next or not self._kind_of:
            self._turn(now)
        if self._nothing_to_gain():
            self._next = None
        elif self._next != self._woken:
            self._woken = self._next
            self._cluster.wake_at(self._next)

    def _nothing_to_gain(self) -> bool:
        """Whether every job runs, on the type that it is fastest on."""
        if len(self._active) != len(self._kind_of):
            return False
        speeds = self._speeds
        return speeds.shape[1] == 1 or all(
            speeds[job, kind] == speeds[job].max() for job, kind in self._kind_of.items()
        )

    def _boundary(self, now: float) -> float:
        """When the round ends that began last, and would have been followed by others since."""
        rounds = math.ceil((now - self._turned) / self._round_s)
        return self._turned + rounds * self._round_s

    def _turn(self, now: float) -> None:
        self._settle(now - self._turned)
        active = np.fromiter(self._active, dtype=np.int64, count=len(self._active))
        capacity = np.asarray(self._cluster.kinds(), dtype=np.int64)
        shared_for = active.tolist(), capacity.tolist()
        if shared_for != self._shared_for:
            self._shared_for = shared_for
            self._shares = active, self._fair_times(active, capacity)
        self._give(self._chosen(active, self._shares[1], capacity))
        self._turned, self._next = now, now + self._round_s

    def _settle(self, elapsed: float) -> None:
        """Add what every job was due and got since the last turn."""
        jobs, times = self._shares
        self._due_s[jobs] += times * elapsed
        running = np.fromiter(self._kind_of, dtype=np.int64, count=len(self._kind_of))
        kinds = np.fromiter(self._kind_of.values(), dtype=np.int64, count=len(self._kind_of))
        self._got_s[running, kinds] += elapsed

    def _fair_times(self, active: Ints, capacity: Ints) -> Floats:
        gpus = self._gpus[active]
        if len(capacity) == 1:
            return fair_times(gpus, int(capacity[0]))[:, np.newaxis]
        return fair_times_by_kind(gpus, self._speeds[active], capacity)

    def _chosen(self, active: Ints, times: Floats, capacity: Ints) -> dict[int, int]:
        """Jobs and the types they are to run on: of each type in order of how far they are behind,
        then of their shares, then by submission, each that fits."""
        behind = np.round(
            (self._due_s[active] + times * self._round_s) / self._got_s[active], _DIGITS
        )
        shares = np.round(times, _DIGITS)
        chosen: dict[int, int] = {}
        for kind in np.argsort(-self._speeds[active].sum(axis=0), kind="stable").tolist():
            order = active[np.lexsort((active, -shares[:, kind], -behind[:, kind]))]
            free = order[[job not in chosen for job in order.tolist()]] if chosen else order
            chosen.update(dict.fromkeys(self._first_fit(free, int(capacity[kind])), kind))
        return chosen

    def _first_fit(self, jobs: Ints, left: int) -> list[int]:
        """Whole stretches at once: those that fit together, then on without those that do not."""
        chosen: list[int] = []
        while len(jobs):
            held = np.cumsum(self._gpus[jobs])
            count = int(np.searchsorted(held, left, side="right"))
            chosen += jobs[:count].tolist()
            left -= int(held[count - 1]) if count else 0
            jobs = jobs[count:]
            jobs = jobs[self._gpus[jobs] <= left]
        return chosen

    def _give(self, chosen: dict[int, int]) -> None:
        """Stop jobs that are not chosen, or chosen for another type; then start the large ones
        first, which are harder to place."""
        for job, kind in list(self._kind_of.items()):
            if chosen.get(job) != kind:
                self._cluster.stop(job)
                del self._kind_of[job]
        waiting = [(-int(self._gpus[job]), job) for job in chosen if job not in self._kind_of]
        for _, job in sorted(waiting):
            if self._cluster.start(job, kind=chosen[job]):
                self._kind_of[job] = chosen[job]
