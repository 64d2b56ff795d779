"""Backfill: in order of submission, where a later job may start first if it delays no reservation.

Plans are `JobColumns.planned`, the users' limits; a running job that outlived its plan is expected
to end now. What the literature has made of EASY since, predictions instead of limits and short jobs
first, is in `predicted_backfill`.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from heapq import heappop, heappush
from typing import ClassVar

from schedmate.model import BadInput
from schedmate.policies.base import ClusterView, KernelSpec, Policy, Source
from schedmate.policies.disciplines import (
    FreeProfile,
    PlannedEnds,
    WaitingByPlan,
    plan_s,
)


class _Backfill(Policy):
    """Jobs wait in order with their plans, and run with planned ends."""

    needs_limits = True
    lets_share = True
    source: ClassVar[Source | None] = "limit"

    def begin(self, cluster: ClusterView) -> None:
        self._cluster = cluster
        self._ends = PlannedEnds()
        self._waiting = WaitingByPlan(cluster.jobs)
        self._queue: list[tuple[float, int]] = []

    def changed(self, job: int) -> None:
        if job in self._waiting:
            self._withdraw(self._waiting.remove(job))
            self.arrived(job)
        elif job in self._ends:
            self._ends.replan(job, self._plan(job))

    def _plan(self, job: int) -> float:
        """Seconds that are planned for a job."""
        return plan_s(self._cluster.jobs.planned[job])

    def _withdraw(self, place: tuple[float, int]) -> None:
        """Take it out of the queue, where stale places are not skipped anyway."""

    def withdrawn(self, job: int) -> None:
        self._withdraw(self._waiting.remove(job))

    def inherited(self, job: int) -> None:
        cluster = self._cluster
        self._ends.add(job, cluster.now, self._plan(job), cluster.jobs.gpus[job])

    def ended(self, job: int) -> None:
        if job in self._ends:
            self._ends.remove(job)

    evicted = ended


class Easy(_Backfill):
    """EASY (Lifka 1995): only jobs that do not delay the head of the queue may overtake it.

    The head has the only reservation: the earliest time at which its GPUs are planned to be free.
    Another job may start if it is planned to be done by then, or fits beside what is reserved.
    """

    name = "easy"
    kernel: KernelSpec | None = KernelSpec("static", "easy")

    def arrived(self, job: int) -> None:
        heappush(self._queue, self._waiting.put(job, self._plan(job)))

    def decide(self) -> None:
        head = self._head()
        while head is not None and self._start(head):
            head = self._head()
        if head is not None and self._cluster.free:
            self._backfill(head)

    def _head(self) -> int | None:
        queue, place = self._queue, self._waiting.place
        while queue and place(queue[0][1]) != queue[0]:
            heappop(queue)
        return queue[0][1] if queue else None

    def _backfill(self, head: int) -> None:
        cluster = self._cluster
        wanted = cluster.jobs.gpus[head]
        by, beside = self._ends.reservation(wanted, cluster.free, cluster.now)
        does_not_fit = {wanted}
        while (job := self._first_harmless(by, beside, does_not_fit)) is not None:
            gpus = cluster.jobs.gpus[job]
            if not self._start(job):
                does_not_fit.add(gpus)
            elif cluster.now + self._plan(job) > by:
                beside -= gpus

    def _first_harmless(self, by: float, beside: int, does_not_fit: set[int]) -> int | None:
        now, waiting = self._cluster.now, self._waiting
        found = [
            waiting.first_of_all(gpus) if gpus <= beside else waiting.first(gpus, now, by)
            for gpus in waiting.sizes(self._cluster.free)
            if gpus not in does_not_fit
        ]
        key = self._cluster.jobs.queue_key
        waiting_ones = (job for job in found if job is not None)
        return min(waiting_ones, key=lambda job: (key[job], job), default=None)

    def _start(self, job: int) -> bool:
        cluster = self._cluster
        if not cluster.start(job):
            return False
        self._waiting.remove(job)
        self._ends.add(job, cluster.now, self._plan(job), cluster.jobs.gpus[job])
        return True


DEPTH = 100
"""Reservations for later that are made at a decision; compare Slurm's `bf_max_job_test`. Jobs
further back must wait, else a queue of thousands would be planned anew at every event."""


class Conservative(_Backfill):
    """Only jobs that delay no job before them may overtake.

    At every decision the waiting jobs get, in order, the earliest time that is planned to be free
    for them; a job whose time is now is started. So a job that ends early lets all move up in their
    order. Nothing is kept between decisions: with plans that come true a reservation stays what it
    was when first made, else it may move either way (as in Slurm's backfill, which plans anew each
    cycle; Mu'alem and Feitelson's keeps reservations and moves each up only into what all others
    leave).
    """

    name = "conservative"

    def __init__(self, *, depth: int = DEPTH) -> None:
        if depth < 1:
            raise BadInput("the depth of conservative backfill is a number of jobs, at least 1")
        self._depth = depth

    def arrived(self, job: int) -> None:
        insort(self._queue, self._waiting.put(job, self._plan(job)))

    def _withdraw(self, place: tuple[float, int]) -> None:
        del self._queue[bisect_left(self._queue, place)]

    def decide(self) -> None:
        cluster = self._cluster
        if not self._queue or not cluster.free:
            return
        profile = FreeProfile(cluster.now, cluster.free, self._ends.freed(cluster.now))
        started = []
        reserved = 0
        for place in self._queue:
            if reserved == self._depth or not self._any_could_start(profile):
                break
            if self._reserve(place[1], profile):
                started.append(place)
            else:
                reserved += 1
        for place in started:
            del self._queue[bisect_left(self._queue, place)]

    def _any_could_start(self, profile: FreeProfile) -> bool:
        """A reservation for later matters only to a job behind it that could start now."""
        cluster, waiting = self._cluster, self._waiting
        return any(
            waiting.first(gpus, cluster.now, profile.until_short_of(gpus)) is not None
            for gpus in waiting.sizes(cluster.free)
        )

    def _reserve(self, job: int, profile: FreeProfile) -> bool:
        """Whether it could be started at once."""
        cluster = self._cluster
        gpus, plan = cluster.jobs.gpus[job], self._plan(job)
        begin = profile.earliest(gpus, plan)
        if begin == math.inf:
            return False
        profile.reserve(gpus, begin, begin + plan)
        if begin > cluster.now or not cluster.start(job):
            return False
        self._waiting.remove(job)
        self._ends.add(job, begin, plan, gpus)
        return True
