"""How many GPUs are planned to be free from when on."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable


class FreeProfile:
    """Steps in time; the last one lasts for ever."""

    def __init__(self, now: float, free: int, freed: Iterable[tuple[float, int]]) -> None:
        self._times = [now]
        self._free = [free]
        for time, gpus in freed:
            if time > self._times[-1]:
                self._times.append(time)
                self._free.append(self._free[-1])
            self._free[-1] += gpus

    def earliest(self, gpus: int, plan: float) -> float:
        """From when on so many GPUs are free for so long; never, if there are not as many."""
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
