"""What backfill plans with: when running jobs are planned to end, and which waiting jobs fit.

For each number of GPUs a tree of the shortest plans, so that a long queue is never walked through.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence

import numpy as np

from schedmate.policies.base import JobColumns


class QueueRanks:
    """Each job's rank by queue key, equal keys by submission. Where keys are submit times a job's
    rank is its own number."""

    def __init__(self, queue_key: Sequence[float]) -> None:
        order = np.argsort(np.asarray(queue_key, dtype=np.float64), kind="stable")
        ranks = np.empty_like(order)
        ranks[order] = np.arange(len(order))
        self.job_at: list[int] = order.tolist()
        self.of: list[int] = ranks.tolist()


UNLIMITED_S = 365 * 86400.0
"""What is planned for a job without a limit: a year, as Slurm's backfill does. So it is planned to
end after all other running jobs, and may overtake only beside the reservation."""


def plan_s(planned: float) -> float:
    return planned if math.isfinite(planned) else UNLIMITED_S


class PlannedEnds:
    """A job that outlived its plan is expected to end now, at any time of asking."""

    def __init__(self) -> None:
        self._ends: list[tuple[float, int, int]] = []
        self._of: dict[int, tuple[float, int, int]] = {}
        self._late = 0
        """How many at the front had outlived their plans at the last look."""
        self._late_gpus = 0

    def add(self, job: int, end: float, gpus: int) -> None:
        entry = self._of[job] = (end, job, gpus)
        place = bisect_left(self._ends, entry)
        self._ends.insert(place, entry)
        if place < self._late:
            self._late += 1
            self._late_gpus += gpus

    def remove(self, job: int) -> None:
        entry = self._of.pop(job)
        place = bisect_left(self._ends, entry)
        del self._ends[place]
        if place < self._late:
            self._late -= 1
            self._late_gpus -= entry[2]

    def reservation(self, gpus: int, free: int, now: float) -> tuple[float, int]:
        """The earliest time at which so many GPUs are planned to be free, and how many more."""
        self._count_late(now)
        room, when = free + self._late_gpus, now
        for end, _, freed in self._ends[self._late :] if room < gpus else ():
            if room >= gpus and end > when:
                break
            room, when = room + freed, end
        return (when, room - gpus) if room >= gpus else (math.inf, 0)

    def freed(self, now: float) -> list[tuple[float, int]]:
        """Times and GPUs planned to be freed, in order; those of overdue jobs now."""
        self._count_late(now)
        ahead = [(end, gpus) for end, _, gpus in self._ends[self._late :]]
        return [(now, self._late_gpus), *ahead] if self._late else ahead

    def _count_late(self, now: float) -> None:
        ends = self._ends
        while self._late < len(ends) and ends[self._late][0] <= now:
            self._late_gpus += ends[self._late][2]
            self._late += 1


class FreeProfile:
    """How many GPUs are planned to be free: steps in time; the last one lasts for ever."""

    def __init__(self, now: float, free: int, freed: Iterable[tuple[float, int]]) -> None:
        self._times = [now]
        self._free = [free]
        for time, gpus in freed:
            if time > self._times[-1]:
                self._times.append(time)
                self._free.append(self._free[-1])
            self._free[-1] += gpus

    def earliest(self, gpus: int, plan: float) -> float:
        """The earliest time from which so many GPUs are free for so long; infinite if none."""
        times, free = self._times, self._free
        began: float | None = None
        for step, time in enumerate(times):
            if began is not None and time >= began + plan:
                return began
            if free[step] < gpus:
                began = None
            elif began is None:
                began = time
        return math.inf if began is None else began

    def reserve(self, gpus: int, begin: float, end: float) -> None:
        """Take GPUs out of the plan; the time between is known to have as many."""
        first, last = self._cut(begin), self._cut(end)
        for step in range(first, last):
            self._free[step] -= gpus

    def until_short_of(self, gpus: int) -> float:
        """The first time at which so many are not free."""
        for time, free in zip(self._times, self._free, strict=True):
            if free < gpus:
                return time
        return math.inf

    def _cut(self, time: float) -> int:
        place = bisect_left(self._times, time)
        if place == len(self._times) or self._times[place] != time:
            self._times.insert(place, time)
            self._free.insert(place, self._free[place - 1])
        return place


class WaitingByPlan:
    def __init__(self, jobs: JobColumns, ranks: QueueRanks) -> None:
        self._gpus = jobs.gpus
        self._planned = jobs.planned
        members: dict[int, list[int]] = {}
        self._place = [0] * len(jobs.gpus)
        for job in ranks.job_at:
            same = members.setdefault(jobs.gpus[job], [])
            self._place[job] = len(same)
            same.append(job)
        self._members = members
        self._trees = {gpus: _ShortestTree(len(same)) for gpus, same in members.items()}

    def put(self, job: int) -> None:
        self._trees[self._gpus[job]].set(self._place[job], plan_s(self._planned[job]))

    def remove(self, job: int) -> None:
        self._trees[self._gpus[job]].set(self._place[job], math.inf)

    def sizes(self, most: int) -> Iterable[int]:
        """Numbers of GPUs, up to `most`, that some waiting job requests."""
        return [
            gpus for gpus, tree in self._trees.items() if gpus <= most and tree.shortest < math.inf
        ]

    def first(self, gpus: int, now: float, by: float) -> int | None:
        """The first of that size that, started now, would be done by then."""
        place = self._trees[gpus].first(now, by)
        return None if place is None else self._members[gpus][place]

    def first_of_all(self, gpus: int) -> int | None:
        return self.first(gpus, 0.0, 1e300)


class _ShortestTree:
    """A binary tree in a list: the root at 1, a plan for each waiting job at the leaves."""

    def __init__(self, count: int) -> None:
        self._leaves = 1 << max(0, count - 1).bit_length()
        self._least = [math.inf] * (2 * self._leaves)

    @property
    def shortest(self) -> float:
        return self._least[1]

    def set(self, place: int, plan: float) -> None:
        least = self._least
        node = place + self._leaves
        least[node] = plan
        while node > 1:
            node >>= 1
            shorter = min(least[2 * node], least[2 * node + 1])
            if least[node] == shorter:
                return
            least[node] = shorter

    def first(self, now: float, by: float) -> int | None:
        least = self._least
        if now + least[1] > by:
            return None
        node = 1
        while node < self._leaves:
            node *= 2
            if now + least[node] > by:
                node += 1
        return node - self._leaves
