"""Who must stop so that who comes first can run.

All who are active stand in one order; each who fits into what is left by those before him is to
run. Those who run and are not chosen are stopped, then the chosen are started, in order.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from math import inf

from schedmate.policies.world import World

Placed = tuple[float, int]
"""A key and a job: the order of all who are active."""
_LAST: Placed = (inf, 0)
_FEW = 8


class MakingRoom:
    def __init__(self, world: World) -> None:
        self._world = world
        self._gpus = world.jobs.gpus
        self._heaps: dict[int, list[Placed]] = {}
        self._key: dict[int, float] = {}

    @property
    def waiting(self) -> int:
        return len(self._key)

    def put(self, job: int, key: float) -> None:
        """Let it wait, or wait elsewhere if it does already."""
        self._key[job] = key
        heappush(self._heaps.setdefault(self._gpus[job], []), (key, job))

    def put_anew(self, key_of: Callable[[int], float]) -> None:
        """Let everybody who waits stand where that says."""
        for job in list(self._key):
            self.put(job, key_of(job))

    def make(self, running: Sequence[Placed]) -> tuple[list[int], list[int]]:
        """Stop and start jobs; `running` is in order. Says who was stopped and who started."""
        stop: list[Placed] = []
        if self._all_fit():
            start = sorted((key, job) for job, key in self._key.items())
            self._key.clear()
        elif self._anybody_gains(running):
            stop, start = self._choose(running)
        else:
            return [], []
        for key, job in stop:
            self._world.stop(job)
            self.put(job, key)
        return [job for _, job in stop], [job for key, job in start if self._start(job, key)]

    def _start(self, job: int, key: float) -> bool:
        if self._world.start(job):
            return True
        self.put(job, key)  # enough GPUs, but on scattered nodes
        return False

    def _all_fit(self) -> bool:
        """Whether nobody need be stopped, nor anybody wait: looked at where few wait."""
        few = len(self._key) <= _FEW
        return few and sum(self._gpus[job] for job in self._key) <= self._world.free

    def _anybody_gains(self, running: Sequence[Placed]) -> bool:
        """Whether a job that waits fits into what those leave who run and stand before it."""
        for gpus, head in self._heads(self._world.gpus).items():
            room = self._world.free
            for placed in reversed(running):
                if room >= gpus or placed < head:
                    break
                room += self._gpus[placed[1]]
            if room >= gpus:
                return True
        return False

    def _choose(self, running: Sequence[Placed]) -> tuple[list[Placed], list[Placed]]:
        stop: list[Placed] = []
        start: list[Placed] = []
        next_running, left = self._before_all_who_wait(running)
        heads = self._heads(left)
        largest, first = max(heads, default=0), min(heads.values(), default=_LAST)
        while left and (heads or next_running < len(running)):
            if next_running < len(running) and running[next_running] < first:
                placed = running[next_running]
                next_running += 1
                gpus = self._gpus[placed[1]]
                if gpus > left:
                    stop.append(placed)
                    continue
            else:
                start.append(first)
                del self._key[first[1]]
                gpus, largest = self._gpus[first[1]], left
            left -= gpus
            if left < largest:
                heads = self._heads(left)
                largest, first = max(heads, default=0), min(heads.values(), default=_LAST)
        return [*stop, *running[next_running:]], start

    def _before_all_who_wait(self, running: Sequence[Placed]) -> tuple[int, int]:
        """How many of those who run stand before anybody who waits and could fit, and what they
        leave: they go on, as they fit together already."""
        count, left = 0, self._world.gpus
        while heads := self._heads(left):
            end = bisect_left(running, min(heads.values()), count)
            left -= sum([self._gpus[job] for _, job in running[count:end]])
            if end == count or left >= max(heads):
                return end, left
            count = end
        return count, left

    def _heads(self, most: int) -> dict[int, Placed]:
        """The first of each size that is not too large."""
        found: dict[int, Placed] = {}
        for gpus, heap in self._heaps.items():
            if gpus > most:
                continue
            while heap and self._key.get(heap[0][1]) != heap[0][0]:
                heappop(heap)
            if heap:
                found[gpus] = heap[0]
        return found
