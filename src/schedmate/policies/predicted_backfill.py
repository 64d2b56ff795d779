"""EASY as the literature has improved it: what a site could have had for fifteen years.

- `easy-sjbf`: of the jobs that may overtake, the shortest first (SJBF). Plans are users' limits.
- `easy-last-two`: EASY++ (Tsafrir, Etsion and Feitelson 2007). Plans are predictions, the mean of
  the user's last two runs, never above the limit, which alone ends a job; a user's first job is
  planned with its limit. A run that outlives its prediction gets more in the paper's steps.
- `easy-learnt`: the same with learnt run times, as Gaussier, Glesser, Reis and Trystram (2015) have
  them. Theirs is an online linear regression with an asymmetric loss; ours are boosted trees over
  the same features that a scheduler sees (`estimators/boosted.py`, QSSF's).
"""

from __future__ import annotations

import math
from heapq import heappop, heappush
from typing import ClassVar

from schedmate.policies.backfill import Easy
from schedmate.policies.base import ClusterView, Source
from schedmate.policies.disciplines import plan_s

_MINUTE_S, _HOUR_S = 60.0, 3600.0
CORRECTIONS_S = (
    *(minutes * _MINUTE_S for minutes in (1, 5, 15, 30)),
    *(hours * _HOUR_S for hours in (1, 2, 5, 10, 20, 50, 100)),
)
"""What a run gets that outlived its prediction, the first time, the second time and so on."""


class EasyShortest(Easy):
    """EASY with shortest job backfilled first."""

    name = "easy-sjbf"
    kernel = None

    def _first_harmless(self, by: float, beside: int, does_not_fit: set[int]) -> int | None:
        now, waiting = self._cluster.now, self._waiting
        key = self._cluster.jobs.queue_key
        found = [
            (plan, key[job], job)
            for gpus in waiting.sizes(self._cluster.free)
            if gpus not in does_not_fit
            for plan, job in [waiting.shortest(gpus)]
            if gpus <= beside or now + plan <= by
        ]
        return min(found)[2] if found else None


class EasyLastTwo(EasyShortest):
    """EASY++: plans are predictions, corrected upwards when a run outlives them."""

    name = "easy-last-two"
    kind = "asking"
    asks_for = frozenset({"duration"})
    source: ClassVar[Source | None] = "last_two"

    def begin(self, cluster: ClusterView) -> None:
        super().begin(cluster)
        self._corrected: dict[int, float] = {}
        """What is planned by now for a run that outlived its prediction."""
        self._times: dict[int, int] = {}
        self._began: dict[int, float] = {}
        self._due: list[tuple[float, int]] = []

    def _plan(self, job: int) -> float:
        """Never above the limit, which ends a job, and never for no time at all."""
        limit = plan_s(self._cluster.jobs.planned[job])
        expected = self._cluster.jobs.expected[job]
        if math.isnan(expected):
            return limit
        return min(limit, max(self._corrected.get(job, expected), 1.0))

    def decide(self) -> None:
        while self._due and self._due[0][0] <= self._cluster.now:
            due, job = heappop(self._due)
            if job in self._began and self._began[job] + self._plan(job) == due:
                self._correct(job)
        super().decide()

    def ended(self, job: int) -> None:
        super().ended(job)
        for kept in (self._began, self._corrected, self._times):
            kept.pop(job, None)

    def evicted(self, job: int) -> None:
        """Run again, it is planned as it was at first."""
        self.ended(job)

    def changed(self, job: int) -> None:
        super().changed(job)
        if job in self._began:
            self._watch(job)

    def _start(self, job: int) -> bool:
        if not super()._start(job):
            return False
        self._began[job] = self._cluster.now
        self._watch(job)
        return True

    def _watch(self, job: int) -> None:
        """Come back when its plan is over; at its limit it ends anyway."""
        plan = self._plan(job)
        if plan < plan_s(self._cluster.jobs.planned[job]):
            due = self._began[job] + plan
            heappush(self._due, (due, job))
            self._cluster.wake_at(due)

    def _correct(self, job: int) -> None:
        times = self._times.get(job, 0)
        self._times[job] = times + 1
        more = CORRECTIONS_S[min(times, len(CORRECTIONS_S) - 1)]
        self._corrected[job] = self._cluster.now - self._began[job] + more
        self._ends.replan(job, self._plan(job))
        self._watch(job)


class EasyLearnt(EasyLastTwo):
    """EASY++ with learnt run times."""

    name = "easy-learnt"
    source = "qssf"
