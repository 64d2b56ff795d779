"""What backfill plans with: when running jobs are planned to end, and which waiting jobs fit.

Waiting jobs stand in short blocks that know their shortest plan, so that a long queue is never
walked through job by job.
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
        self._began: dict[int, float] = {}
        self._of: dict[int, tuple[float, int, int]] = {}
        self._late = 0
        """How many at the front had outlived their plans at the last look."""
        self._late_gpus = 0

    def add(self, job: int, began: float, plan: float, gpus: int) -> None:
        self._began[job] = began
        entry = self._of[job] = (began + plan, job, gpus)
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

    def replan(self, job: int, plan: float) -> None:
        """A running job has another limit."""
        gpus = self._of[job][2]
        self.remove(job)
        self.add(job, self._began[job], plan, gpus)

    def __contains__(self, job: int) -> bool:
        return job in self._of

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
    """Waiting jobs of each number of GPUs, in the order of their queue keys."""

    def __init__(self, jobs: JobColumns) -> None:
        self._jobs = jobs
        self._of_size: dict[int, _Blocks] = {}
        self._key: dict[int, tuple[float, int]] = {}

    def put(self, job: int, plan: float) -> tuple[float, int]:
        """Its place in the queue, which stays the same until it is put again."""
        jobs = self._jobs
        key = self._key[job] = (jobs.queue_key[job], job)
        gpus = jobs.gpus[job]
        if gpus not in self._of_size:
            self._of_size[gpus] = _Blocks()
        self._of_size[gpus].add(key, plan)
        return key

    def remove(self, job: int) -> tuple[float, int]:
        key = self._key.pop(job)
        self._of_size[self._jobs.gpus[job]].remove(key)
        return key

    def __contains__(self, job: int) -> bool:
        return job in self._key

    def place(self, job: int) -> tuple[float, int] | None:
        return self._key.get(job)

    def sizes(self, most: int) -> Iterable[int]:
        """Numbers of GPUs, up to `most`, that some waiting job requests."""
        return [gpus for gpus, blocks in self._of_size.items() if gpus <= most and len(blocks)]

    def first(self, gpus: int, now: float, by: float) -> int | None:
        """The first of that size that, started now, would be done by then."""
        return self._of_size[gpus].first(now, by)

    def first_of_all(self, gpus: int) -> int | None:
        return self.first(gpus, 0.0, 1e300)

    def shortest(self, gpus: int) -> tuple[float, int]:
        """The shortest plan of that size, and the first job that has it."""
        return self._of_size[gpus].shortest()


_BLOCK = 64
"""Jobs in a block before it is divided; scanning one is faster than any tree of that size."""


class _Blocks:
    """Keys in order, in blocks; each with its plans beside it and the shortest of them."""

    def __init__(self) -> None:
        self._keys: list[list[tuple[float, int]]] = []
        self._plans: list[list[float]] = []
        self._last: list[tuple[float, int]] = []
        self._shortest: list[float] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, key: tuple[float, int], plan: float) -> None:
        self._count += 1
        if not self._keys:
            self._keys, self._plans = [[key]], [[plan]]
            self._last, self._shortest = [key], [plan]
            return
        block = min(bisect_left(self._last, key), len(self._last) - 1)
        keys, plans = self._keys[block], self._plans[block]
        place = bisect_left(keys, key)
        keys.insert(place, key)
        plans.insert(place, plan)
        if len(keys) > _BLOCK:
            self._divide(block)
        else:
            self._last[block] = keys[-1]
            self._shortest[block] = min(self._shortest[block], plan)

    def remove(self, key: tuple[float, int]) -> None:
        self._count -= 1
        block = bisect_left(self._last, key)
        keys, plans = self._keys[block], self._plans[block]
        place = bisect_left(keys, key)
        del keys[place], plans[place]
        if keys:
            self._last[block], self._shortest[block] = keys[-1], min(plans)
        else:
            for column in (self._keys, self._plans, self._last, self._shortest):
                del column[block]

    def first(self, now: float, by: float) -> int | None:
        for block, shortest in enumerate(self._shortest):
            if now + shortest <= by:
                plans = self._plans[block]
                place = next(place for place, plan in enumerate(plans) if now + plan <= by)
                return self._keys[block][place][1]
        return None

    def shortest(self) -> tuple[float, int]:
        plan = min(self._shortest)
        block = self._shortest.index(plan)
        return plan, self._keys[block][self._plans[block].index(plan)][1]

    def _divide(self, block: int) -> None:
        half = len(self._keys[block]) // 2
        self._keys[block : block + 1] = self._keys[block][:half], self._keys[block][half:]
        self._plans[block : block + 1] = self._plans[block][:half], self._plans[block][half:]
        self._last[block : block + 1] = (keys[-1] for keys in self._keys[block : block + 2])
        self._shortest[block : block + 1] = (min(plans) for plans in self._plans[block : block + 2])
