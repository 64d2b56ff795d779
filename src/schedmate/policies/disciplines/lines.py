"""Lines to wait in: by a key that does not change, then by submission."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Protocol

from schedmate.policies.world import World


class Line(Protocol):
    def put(self, job: int, key: float) -> None: ...

    def start_who_may(self) -> None: ...


class StrictLine:
    """Nobody overtakes the first in line."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._heap: list[tuple[float, int]] = []

    def put(self, job: int, key: float) -> None:
        heappush(self._heap, (key, job))

    def start_who_may(self) -> None:
        heap, start = self._heap, self._world.start
        while heap and start(heap[0][1]):
            heappop(heap)


class FirstFitLine:
    """Whoever fits may overtake those who do not: one heap for each number of GPUs."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._heaps: dict[int, list[tuple[float, int]]] = {}

    def put(self, job: int, key: float) -> None:
        heappush(self._heaps.setdefault(self._world.jobs.gpus[job], []), (key, job))

    def start_who_may(self) -> None:
        world = self._world
        free = world.free
        if not free:
            return
        fitting = [(heap[0], gpus) for gpus, heap in self._heaps.items() if heap and gpus <= free]
        while fitting:
            first = min(fitting)
            (_, job), gpus = first
            if world.start(job):
                heap = self._heaps[gpus]
                heappop(heap)
                fitting = [
                    ((heap[0], gpus) if one is first else one)
                    for one in fitting
                    if one[1] <= world.free and (one is not first or heap)
                ]
            else:  # enough GPUs, but on scattered nodes: nobody of that size fits
                fitting.remove(first)
