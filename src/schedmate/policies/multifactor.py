"""Slurm's multifactor priority with backfill, as most sites run it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedmate.model import BadInput
from schedmate.model.priority import FLOOR, nice_range
from schedmate.policies.base import ClusterView, Policy, SiteParameters, basic_priority
from schedmate.policies.disciplines import UNLIMITED_S, PlannedEnds
from schedmate.policies.priority_queue import FairShare, ScoredQueue
from schedmate.policies.slurm_parameters import SlurmParameters

_DAY_S = 86400.0


@dataclass(frozen=True, slots=True)
class Weights:
    """`PriorityWeightAge`, `-Fairshare` and `-JobSize`: those of the example in Slurm's manual of
    the plugin, as by default all are 0 and the order is that of submission."""

    age: float = 1000.0
    fair_share: float = 10_000.0
    size: float = 1000.0


class Multifactor(Policy):
    """`priority/multifactor` with `sched/backfill` that reserves for the first (EASY).

    At a site it goes by the same parameters as `slurm`, as far as it has them: weights of age, fair
    share and size, half-life, greatest age, period and whether small jobs are favoured. Defaults
    are Slurm's: half-life and `PriorityMaxAge` 7 days, `PriorityCalcPeriod` 5 minutes,
    larger jobs first. Fair share is the classic one (`NO_FAIR_TREE`), over users of equal shares.
    The priority is a whole number, the nice number subtracted, and never below 1; equal ones go by
    submission; at a site with `priority/basic` it goes by the place in the queue. It is calculated
    when a job comes or changes and anew at the first decision after a period, not while nothing can
    start.
    """

    name = "multifactor"
    orders_by = "priority"
    needs_limits = True
    lets_share = True

    def __init__(
        self,
        *,
        weights: Weights | None = None,
        half_life_s: float = 7 * _DAY_S,
        max_age_s: float = 7 * _DAY_S,
        period_s: float = 300.0,
        favor_small: bool = False,
        basic: bool = False,
    ) -> None:
        if min(half_life_s, max_age_s, period_s) <= 0.0:
            raise BadInput("half-life, greatest age and period of multifactor must be above 0")
        self._weights = weights or Weights()
        max_age_h = max_age_s / 3600.0
        self.nice_range = nice_range(int(self._weights.age), max_age_h)
        self.nice_an_hour = self._weights.age / max_age_h or None
        self._half_life_s = half_life_s
        self._max_age_s = max_age_s
        self._period_s = period_s
        self._favor_small = favor_small
        self._basic = basic
        self.goes_by = SlurmParameters(
            basic=basic,
            weight_age=self._weights.age,
            weight_fairshare=self._weights.fair_share,
            weight_job_size=self._weights.size,
            max_age_s=max_age_s,
            decay_half_life_s=half_life_s,
        ).priority_in_words()

    def at_site(self, site: SiteParameters) -> Policy:
        of = site.slurm
        if of is None:
            return self
        return Multifactor(
            weights=Weights(of.weight_age, of.weight_fairshare, of.weight_job_size),
            half_life_s=of.decay_half_life_s,
            max_age_s=of.max_age_s,
            period_s=of.calc_period_s,
            favor_small=of.favor_small,
            basic=of.basic,
        )

    def begin(self, cluster: ClusterView) -> None:
        jobs = cluster.jobs
        self._cluster = cluster
        self._user = np.asarray(jobs.user, dtype=np.int64)
        self._submit = np.asarray(jobs.submit, dtype=np.float64)
        self._planned = np.minimum(np.asarray(jobs.planned, dtype=np.float64), UNLIMITED_S)
        self._gpus = np.asarray(jobs.gpus, dtype=np.int64)
        self._whose: list[int] = self._user.tolist()
        self._asked: list[int] = self._gpus.tolist()
        self._size = self._size_parts(cluster.gpus)
        self._nice = np.asarray(jobs.nice, dtype=np.int64)
        self._parts: list[float] = self._size.tolist()
        self._share = FairShare(int(self._user.max(initial=0)) + 1, self._half_life_s)
        self._fair = self._share.factors(0.0)
        self._queue = ScoredQueue(jobs, self._planned)
        self._ends = PlannedEnds()
        self._fresh: list[int] = []
        self._calculated = self._woken = -np.inf
        self._shadow, self._spare, self._head_score, self._free = 0.0, 0, np.inf, -1

    def arrived(self, job: int) -> None:
        self._read(job)
        self._fresh.append(job)

    def changed(self, job: int) -> None:
        self._read(job)
        self._free = -1
        if job in self._queue:
            self._queue.remove(job)
            self._queue.add(job, self._score(job))
        elif job in self._ends:
            self._ends.replan(job, float(self._planned[job]))

    def priority(self, job: int) -> int:
        return math.ceil(self._score(job))

    def _read(self, job: int) -> None:
        jobs = self._cluster.jobs
        self._submit[job], self._nice[job] = jobs.submit[job], jobs.nice[job]
        self._planned[job] = min(jobs.planned[job], UNLIMITED_S)

    def ended(self, job: int) -> None:
        self._free = -1
        if job in self._ends:
            self._ends.remove(job)
            self._share.change(self._whose[job], -self._asked[job], self._cluster.now)

    evicted = ended

    def withdrawn(self, job: int) -> None:
        self._free = -1
        if job in self._queue:
            self._queue.remove(job)
        else:
            self._fresh.remove(job)

    def inherited(self, job: int) -> None:
        self._free = -1
        self._started(job)

    def decide(self) -> None:
        if self._fresh and self._start_if_alone():
            return
        now = self._cluster.now
        if now - self._calculated >= self._period_s:
            self._recalculate(now)
        if self._enqueue():
            self._free = -1
        if not len(self._queue) or self._cluster.free < self._queue.smallest:
            return
        if self._free != self._cluster.free or now >= self._shadow:
            self._start_heads()
        self._backfill()
        self._free = self._cluster.free
        self._wake_for_the_next_calculation()

    def _start_if_alone(self) -> bool:
        """A job that comes alone to an empty queue and fits starts, whatever its priority."""
        alone = len(self._fresh) == 1 and not len(self._queue)
        if alone and self._cluster.start(self._fresh[0]):
            self._started(self._fresh.pop())
            return True
        return False

    def _enqueue(self) -> bool:
        """New jobs join the queue; whether one of them goes before its head."""
        overtakes = False
        for job in self._fresh:
            score = self._score(job)
            self._queue.add(job, score)
            overtakes = overtakes or score > self._head_score
        self._fresh.clear()
        return overtakes

    def _start_heads(self) -> None:
        """Start the head as long as it fits, then reserve for the one that does not."""
        while len(self._queue):
            head = self._queue.first()
            if not self._start(head):
                self._head_score = self._queue.score(head)
                self._shadow, self._spare = self._ends.reservation(
                    self._asked[head], self._cluster.free, self._cluster.now
                )
                return
        self._head_score = -np.inf

    def _backfill(self) -> None:
        cluster, room = self._cluster, self._cluster.free
        window = self._shadow - cluster.now
        while room and len(self._queue):
            job = self._queue.first_behind(room, window, self._spare)
            if job is None:
                return
            if not self._start(job):  # fragmented: no job of that size fits
                room = self._asked[job] - 1
                continue
            room = min(room, cluster.free)
            if self._planned[job] > window:
                self._spare -= self._asked[job]

    def _start(self, job: int) -> bool:
        if not self._cluster.start(job):
            return False
        self._queue.remove(job)
        self._started(job)
        return True

    def _started(self, job: int) -> None:
        now = self._cluster.now
        self._ends.add(job, now, float(self._planned[job]), self._asked[job])
        self._share.change(self._whose[job], self._asked[job], now)

    def _recalculate(self, now: float) -> None:
        self._calculated = now
        self._fair = self._share.factors(now)
        self._queue.rescore(self._scores(self._queue.jobs, now))
        self._free = -1

    def _scores(self, jobs: NDArray[np.int64], now: float) -> NDArray[np.float64]:
        """Whole priorities, less a fraction for those submitted later."""
        if self._basic:
            return np.array([self._score(job) for job in jobs.tolist()], dtype=np.float64)
        age = np.clip((now - self._submit[jobs]) / self._max_age_s, 0.0, 1.0)
        fair = self._fair[self._user[jobs]]
        weights = self._weights
        priority = weights.age * age + weights.fair_share * fair + self._size[jobs]
        whole = np.maximum(np.floor(priority) - self._nice[jobs], FLOOR)
        scores: NDArray[np.float64] = whole - jobs / max(1, len(self._user))
        return scores

    def _score(self, job: int) -> float:
        """That of one job, now: the same numbers without the price of arrays."""
        jobs = self._cluster.jobs
        age = min(1.0, max(0.0, (self._cluster.now - jobs.submit[job]) / self._max_age_s))
        fair = self._weights.fair_share * float(self._fair[self._whose[job]])
        priority = self._weights.age * age + fair + self._parts[job]
        whole = max(math.floor(priority) - jobs.nice[job], FLOOR)
        if self._basic:
            whole = basic_priority(jobs.queue_key[job])
        return whole - job / max(1, len(self._whose))

    def _size_parts(self, gpus: int) -> NDArray[np.float64]:
        size = self._gpus / max(1, gpus)
        part: NDArray[np.float64] = self._weights.size * (1.0 - size if self._favor_small else size)
        return part

    def _wake_for_the_next_calculation(self) -> None:
        """Only where a waiting job would fit: a new order may let it start."""
        if len(self._queue) and self._cluster.free >= self._queue.smallest:
            wake = self._calculated + self._period_s
            if wake > self._woken:
                self._woken = wake
                self._cluster.wake_at(wake)
