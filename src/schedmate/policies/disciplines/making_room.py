"""Who must stop so that who comes first can run.

All who are active stand in one order; each who fits into what is left by those before him is to
run. Those who run and are not chosen are stopped, then the chosen are started, in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

from schedmate.policies.world import World

Placed = tuple[float, int]
"""A key and a job: the order of all who are active."""


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

    def make(self, running: Sequence[Placed]) -> tuple[list[int], list[int]]:
        """Stop and start jobs; `running` is in order. Says who was stopped and who started."""
        if not self._anybody_gains(running):
            return [], []
        stop, start = self._choose(running)
        for key, job in stop:
            self._world.stop(job)
            self.put(job, key)
        return [job for _, job in stop], [job for key, job in start if self._start(job, key)]

    def _start(self, job: int, key: float) -> bool:
        if self._world.start(job):
            return True
        self.put(job, key)  # enough GPUs, but on scattered nodes
        return False

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
        left, next_running = self._world.gpus, 0
        heads = self._heads(left)
        while left and (heads or next_running < len(running)):
            size, head = min(heads.items(), key=_by_place) if heads else (0, None)
            if head is None or (next_running < len(running) and running[next_running] < head):
                placed = running[next_running]
                next_running += 1
                gpus = self._gpus[placed[1]]
                if gpus > left:
                    stop.append(placed)
                    continue
            else:
                start.append(head)
                del self._key[head[1]]
                gpus = size
            left -= gpus
            heads = self._heads(left)
        return [*stop, *running[next_running:]], start

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


def _by_place(item: tuple[int, Placed]) -> Placed:
    return item[1]
