"""Jobs that go through stages as they are served: each stage has its own place in the order.

A job enters its next stage at the very moment at which it has held GPUs for so many seconds: that
moment is planned when it is started, and never for now, so no rounding of what it was served for
can repeat it.
Least attained service is one of these, and so is the Gittins index of what is foretold of a job.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass
from heapq import heappop, heappush
from math import inf, nextafter
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from schedmate.policies.disciplines.making_room import MakingRoom, Placed
from schedmate.policies.world import Fast, Seen, Source, World

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Stages:
    """A row a job. It enters stage `i + 1` when it was served for `bounds[i]` seconds, and stands
    at `keys[i]` while it is in stage `i`."""

    bounds: Matrix
    keys: Matrix


class Staged:
    """Who stands lower stops who stands higher; see `MakingRoom`."""

    name: ClassVar[str]
    source: ClassVar[Source | None] = None
    fast: Fast | None = Fast("staged")

    def stages(self, jobs: Seen) -> Stages:
        raise NotImplementedError

    def begin(self, world: World) -> None:
        self._world = world
        self._room = MakingRoom(world)
        stages = self.stages(world.jobs)
        self._bounds, self._keys = stages.bounds.tolist(), stages.keys.tolist()
        self._stage = [0] * len(self._keys)
        self._running: list[Placed] = []
        self._due: dict[int, float] = {}
        self._changes: list[tuple[float, int]] = []

    def arrived(self, job: int) -> None:
        self._room.put(job, self._key_of(job))

    def ended(self, job: int) -> None:
        self._leave(job)

    def evicted(self, job: int) -> None:
        self._leave(job)

    def decide(self) -> None:
        self._enter_next_stages()
        if not self._room.waiting:
            return
        stopped, started = self._room.make(self._running)
        for job in stopped:
            self._leave(job)
            self._stopped(job)
        for job in started:
            self._due.pop(job, None)
            self._plan_next_stage(job)
            insort(self._running, (self._key_of(job), job))

    def _key_of(self, job: int) -> float:
        key: float = self._keys[job][self._stage[job]]
        return key

    def _leave(self, job: int) -> None:
        del self._running[bisect_left(self._running, (self._key_of(job), job))]
        self._due.pop(job, None)

    def _stopped(self, job: int) -> None:
        """For those who think of something to do when a job is stopped."""

    def _enter_next_stages(self) -> None:
        changes = self._changes
        while changes and changes[0][0] <= self._world.now:
            due, job = heappop(changes)
            if self._due.get(job) == due:
                self._leave(job)
                self._stage[job] += 1
                self._plan_next_stage(job)
                insort(self._running, (self._key_of(job), job))

    def _plan_next_stage(self, job: int) -> None:
        bounds, stage = self._bounds[job], self._stage[job]
        if stage < len(bounds):
            now = self._world.now
            due = max(now + (bounds[stage] - self._world.served(job)), nextafter(now, inf))
            self._due[job] = due
            heappush(self._changes, (due, job))
            self._world.wake_at(due)
