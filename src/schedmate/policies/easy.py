"""EASY backfill (Lifka 1995): as they came, and who comes later may start first if the first in
line is not planned to start any later for it.

The first in line has the only reservation: the earliest time at which its GPUs are planned to be
free. Another may start if it is planned to be done by then, or fits beside what is reserved. Plans
are `Seen.planned`; a running job that outlived its plan is expected to end now.
"""

from __future__ import annotations

from heapq import heappop, heappush

from schedmate.policies.disciplines import PlannedEnds, ShortEnough, Standing, plan_s
from schedmate.policies.world import Fast, Source, World


class Easy:
    name = "easy"
    source: Source | None = "limit"
    fast = Fast("static", "easy")

    def begin(self, world: World) -> None:
        self._world = world
        self._ends = PlannedEnds()
        self._standing = Standing(world.jobs.place)
        self._waiting = ShortEnough(world.jobs, self._standing)
        self._line: list[int] = []
        self._waits: set[int] = set()

    def arrived(self, job: int) -> None:
        heappush(self._line, self._standing.of[job])
        self._waits.add(job)
        self._waiting.put(job)

    def ended(self, job: int) -> None:
        self._ends.remove(job)

    def evicted(self, job: int) -> None:
        self._ends.remove(job)

    def decide(self) -> None:
        head = self._head()
        while head is not None and self._start(head):
            head = self._head()
        if head is not None and self._world.free:
            self._backfill(head)

    def _head(self) -> int | None:
        line, job_at = self._line, self._standing.job_at
        while line and job_at[line[0]] not in self._waits:
            heappop(line)
        return job_at[line[0]] if line else None

    def _backfill(self, head: int) -> None:
        world = self._world
        wanted = world.jobs.gpus[head]
        by, beside = self._ends.reservation(wanted, world.free, world.now)
        does_not_fit = {wanted}
        while (job := self._first_harmless(by, beside, does_not_fit)) is not None:
            gpus = world.jobs.gpus[job]
            if not self._start(job):
                does_not_fit.add(gpus)
            elif world.now + plan_s(world.jobs.planned[job]) > by:
                beside -= gpus

    def _first_harmless(self, by: float, beside: int, does_not_fit: set[int]) -> int | None:
        now, waiting = self._world.now, self._waiting
        found = [
            waiting.first_of_all(gpus) if gpus <= beside else waiting.first(gpus, now, by)
            for gpus in waiting.sizes(self._world.free)
            if gpus not in does_not_fit
        ]
        standing = self._standing.of
        return min(
            (job for job in found if job is not None), key=standing.__getitem__, default=None
        )

    def _start(self, job: int) -> bool:
        world = self._world
        if not world.start(job):
            return False
        self._waits.remove(job)
        self._waiting.remove(job)
        end = world.now + plan_s(world.jobs.planned[job])
        self._ends.add(job, end, world.jobs.gpus[job])
        return True
