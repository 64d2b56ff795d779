"""Tiresias (NSDI'19), discretised two-dimensional LAS: who has had little service goes first.

Two queues: a job begins in the first and moves to the second once it has held GPUs for `threshold`
GPU-seconds, at that very moment. Within a queue the order is that of `Seen.place`: of submission,
unless somebody holds a job back. (The paper orders a queue by when jobs were first started, and the
authors' simulator lets those who run go before those who wait; by submission nobody is overtaken
for ever by others of his queue.) No run times are asked for. With `promote_knob` a job of the
second queue that has waited that many times as long as it was served goes back to the first and
begins anew; off by default.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from heapq import heappop, heappush

from schedmate.policies.disciplines import MakingRoom, Placed, Standing
from schedmate.policies.world import Fast, Source, World

THRESHOLD_GPU_S = 3250.0
"""As in the authors' simulator for two queues."""
_FIRST, _SECOND = 0, 1


class Tiresias:
    name = "tiresias"
    source: Source | None = None

    def __init__(
        self, *, threshold: float = THRESHOLD_GPU_S, promote_knob: float | None = None
    ) -> None:
        self._threshold = threshold
        self._promote_knob = promote_knob
        settings = (("threshold", threshold),)
        self.fast = Fast("las", settings=settings) if promote_knob is None else None

    def begin(self, world: World) -> None:
        self._world = world
        self._room = MakingRoom(world)
        self._running: list[Placed] = []
        self._standing = Standing(world.jobs.place)
        self._queue: dict[int, int] = {}
        self._quota_from: dict[int, float] = {}
        """How much it had been served when it last entered the first queue."""
        self._due: dict[int, float] = {}
        """When a job changes its queue if it goes on as it does: runs, or waits."""
        self._changes: list[tuple[float, int]] = []

    def arrived(self, job: int) -> None:
        self._queue.setdefault(job, _FIRST)
        self._room.put(job, self._key_of(job))

    def ended(self, job: int) -> None:
        self._leave(job)

    def evicted(self, job: int) -> None:
        self._leave(job)

    def decide(self) -> None:
        self._change_queues()
        if not self._room.waiting:
            return
        stopped, started = self._room.make(self._running)
        for job in stopped:
            self._leave(job)
            self._plan_promotion(job)
        for job in started:
            insort(self._running, (self._key_of(job), job))
            self._plan_demotion(job)

    def _key_of(self, job: int) -> int:
        standing = self._standing
        return self._queue[job] * len(standing.of) + standing.of[job]

    def _leave(self, job: int) -> None:
        del self._running[bisect_left(self._running, (self._key_of(job), job))]
        self._due.pop(job, None)

    def _change_queues(self) -> None:
        changes = self._changes
        while changes and changes[0][0] <= self._world.now:
            due, job = heappop(changes)
            if self._due.get(job) != due:
                continue  # it was stopped or started meanwhile
            del self._due[job]
            if self._queue[job] == _FIRST:
                self._leave(job)
                self._queue[job] = _SECOND
                insort(self._running, (self._key_of(job), job))
            else:
                self._queue[job] = _FIRST
                self._quota_from[job] = self._world.served(job)
                self._room.put(job, self._key_of(job))

    def _plan_demotion(self, job: int) -> None:
        self._due.pop(job, None)
        if self._queue[job] == _SECOND:
            return
        world = self._world
        served = world.served(job) - self._quota_from.get(job, 0.0)
        self._plan_change(job, world.now + (self._threshold / world.jobs.gpus[job] - served))

    def _plan_promotion(self, job: int) -> None:
        if self._promote_knob is None or self._queue[job] == _FIRST:
            return
        world = self._world
        served = world.served(job) - self._quota_from.get(job, 0.0)
        self._plan_change(job, world.now + self._promote_knob * served)

    def _plan_change(self, job: int, due: float) -> None:
        """Due now, or before by a rounding: it is changed when next decided, whatever happens."""
        self._due[job] = due
        heappush(self._changes, (due, job))
        self._world.wake_at(due)
