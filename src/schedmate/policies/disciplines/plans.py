"""When those who run are planned to end, and what that leaves for a job that waits."""

from __future__ import annotations

import math
from bisect import bisect_left

UNLIMITED_S = 365 * 86400.0
"""What is planned for a job without a limit: a year, as Slurm's backfill does. So it is planned to
end after all others that run, and may overtake only beside what is reserved."""


def plan_s(planned: float) -> float:
    return planned if math.isfinite(planned) else UNLIMITED_S


class PlannedEnds:
    """Who outlived his plan is expected to end now, whenever one asks."""

    def __init__(self) -> None:
        self._ends: list[tuple[float, int, int]] = []
        self._of: dict[int, tuple[float, int, int]] = {}
        self._late = 0
        """So many at the front outlived their plans when last looked at."""
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
        """When how many GPUs are planned to come back, in order; those of the late now."""
        self._count_late(now)
        ahead = [(end, gpus) for end, _, gpus in self._ends[self._late :]]
        return [(now, self._late_gpus), *ahead] if self._late else ahead

    def _count_late(self, now: float) -> None:
        ends = self._ends
        while self._late < len(ends) and ends[self._late][0] <= now:
            self._late_gpus += ends[self._late][2]
            self._late += 1
