"""Conservative backfill: as they came, and who comes later may start first if nobody who came
before is planned to start any later for it.

At every decision those who wait get, in order, the earliest time that is planned to be free for
them; who gets now is started. So a job that ends early lets all move up in their order. Nothing is
kept between decisions: with plans that come true a reservation stays what it was when first made,
else it may move either way (as in Slurm's backfill, which plans anew each cycle; Mu'alem and
Feitelson's keeps reservations and moves each up only into what all others leave).
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort

from schedmate.model import BadInput
from schedmate.policies.disciplines import (
    FreeProfile,
    PlannedEnds,
    ShortEnough,
    Standing,
    plan_s,
)
from schedmate.policies.world import Fast, Source, World

DEPTH = 100
"""Reservations for later that are made at a decision; compare Slurm's `bf_max_job_test`. Who stands
further back must wait, else a line of thousands would be planned anew at every event."""


class Conservative:
    name = "conservative"
    source: Source | None = "limit"

    def __init__(self, *, depth: int = DEPTH) -> None:
        if depth < 1:
            raise BadInput("the depth of conservative backfill is a number of jobs, at least 1")
        self._depth = depth
        self.fast = Fast("static", "conservative", settings=(("depth", depth),))

    def begin(self, world: World) -> None:
        self._world = world
        self._ends = PlannedEnds()
        self._line: list[int] = []
        self._standing = Standing(world.jobs.place)
        self._waiting = ShortEnough(world.jobs, self._standing)

    def arrived(self, job: int) -> None:
        insort(self._line, self._standing.of[job])
        self._waiting.put(job)

    def ended(self, job: int) -> None:
        self._ends.remove(job)

    def evicted(self, job: int) -> None:
        self._ends.remove(job)

    def decide(self) -> None:
        world = self._world
        if not self._line or not world.free:
            return
        profile = FreeProfile(world.now, world.free, self._ends.freed(world.now))
        started = []
        reserved = 0
        for standing in self._line:
            if reserved == self._depth or not self._anybody_could_start(profile):
                break
            if self._reserve(self._standing.job_at[standing], profile):
                started.append(standing)
            else:
                reserved += 1
        for standing in started:
            del self._line[bisect_left(self._line, standing)]

    def _anybody_could_start(self, profile: FreeProfile) -> bool:
        """A reservation for later matters only to somebody behind who could start now."""
        world, waiting = self._world, self._waiting
        return any(
            waiting.first(gpus, world.now, profile.until_short_of(gpus)) is not None
            for gpus in waiting.sizes(world.free)
        )

    def _reserve(self, job: int, profile: FreeProfile) -> bool:
        """Whether it could be started at once."""
        world = self._world
        gpus, plan = world.jobs.gpus[job], plan_s(world.jobs.planned[job])
        begin = profile.earliest(gpus, plan)
        if begin == math.inf:
            return False
        profile.reserve(gpus, begin, begin + plan)
        if begin > world.now or not world.start(job):
            return False
        self._waiting.remove(job)
        self._ends.add(job, begin + plan, gpus)
        return True
