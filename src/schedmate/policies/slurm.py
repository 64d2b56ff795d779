"""Slurm as it is: multifactor priority, the main scheduler and the backfill scheduler.

Read in Slurm 22.05's source. The main scheduler starts jobs in order of priority and stops, in each
partition, at the first that does not fit. It runs when a job has ended, at most once in
`batch_sched_delay` after submissions and updates, and every `sched_interval`. A job that is
submitted while none of higher priority waits is tried at once. The backfill scheduler runs every
`bf_interval` while anything changes. It plans the waiting jobs in order, each with a reservation at
the earliest time that limits allow, and starts those whose time is now.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Collection
from itertools import accumulate

from schedmate.model.priority import nice_range
from schedmate.policies.base import ClusterView, Policy, SiteParameters
from schedmate.policies.disciplines import plan_s
from schedmate.policies.slurm_backfill import BackfillPlan, NodePlan, PoolPlan
from schedmate.policies.slurm_parameters import SlurmParameters
from schedmate.policies.slurm_priority import SlurmPriority

_Rank = tuple[int, float, int]
"""The priority, negative, the time of submission and the job."""


class Slurm(Policy):
    """`priority/multifactor` (or `priority/basic`) with `sched/backfill`, by the parameters of a
    site."""

    name = "slurm"
    orders_by = "priority"
    needs_limits = True

    def __init__(self, parameters: SlurmParameters | None = None) -> None:
        self._parameters = parameters or SlurmParameters()
        age, max_age_h = self._parameters.weight_age, self._parameters.max_age_s / 3600.0
        self.nice_range = nice_range(int(age), max_age_h)
        self.nice_an_hour = age / max_age_h or None
        self.goes_by = str(self._parameters)

    def at_site(self, site: SiteParameters) -> Policy:
        return Slurm(site.slurm) if site.slurm else self

    def begin(self, cluster: ClusterView) -> None:
        self._cluster = cluster
        self._nodes = cluster.node_gpus()
        self._priorities = SlurmPriority(
            self._parameters, cluster.jobs, self._nodes or [cluster.gpus]
        )
        self._waiting: dict[int, _Rank] = {}
        self._order: list[_Rank] = []
        self._began: dict[int, float] = {}
        self._fresh: list[int] = []
        self._wanted_at = math.inf
        """When the main scheduler runs because of submissions or updates."""
        self._freed = False
        self._changed = False
        """Whether anything has happened since the last backfill."""
        self._main_at = self._backfill_at = self._calculated = -math.inf
        self._woken = math.inf

    def arrived(self, job: int) -> None:
        self._queue(job)
        self._fresh.append(job)
        self._want_main()

    def changed(self, job: int) -> None:
        self._changed = True
        if job in self._waiting:
            self._leave(job)
            self._queue(job)
            self._want_main()

    def priority(self, job: int) -> int:
        return self._priorities.of(job, self._cluster.now)

    def ended(self, job: int) -> None:
        del self._began[job]
        self._priorities.holds(job, -self._cluster.jobs.gpus[job], self._cluster.now)
        self._freed = self._changed = True

    evicted = ended

    def decide(self) -> None:
        now, parameters = self._cluster.now, self._parameters
        if now - self._calculated >= parameters.calc_period_s:
            self._calculate(now)
        self._try_at_submission()
        full = now - self._main_at >= parameters.sched_interval_s
        if self._freed or full or now >= self._wanted_at:
            self._run_main(now, full=full)
        if self._changed and now - self._backfill_at >= parameters.bf_interval_s:
            self._run_backfill(now)
        self._wake(now)

    def _calculate(self, now: float) -> None:
        self._calculated = now
        self._priorities.recalculate(now)
        waiting, submit = list(self._waiting), self._cluster.jobs.submit
        priorities = self._priorities.of_all(waiting, now)
        self._order = sorted(
            (-priority, submit[job], job) for job, priority in zip(waiting, priorities, strict=True)
        )
        self._waiting = {rank[2]: rank for rank in self._order}
        self._changed = True

    def _want_main(self) -> None:
        self._changed = True
        earliest = max(self._cluster.now, self._main_at + self._parameters.batch_sched_delay_s)
        self._wanted_at = min(self._wanted_at, earliest)

    def _try_at_submission(self) -> None:
        """As sbatch does where no job of higher priority waits."""
        for job in self._fresh:
            if job in self._waiting and self._order[0][2] == job:
                self._start(job)
        self._fresh.clear()

    def _run_main(self, now: float, *, full: bool) -> None:
        self._main_at, self._wanted_at, self._freed = now, math.inf, False
        groups, blocked = self._cluster.jobs.group, set[int]()
        depth = len(self._waiting) if full else self._parameters.default_queue_depth
        for _, _, job in self._order[:depth]:
            if not self._cluster.free:
                return
            if groups[job] not in blocked and not self._start(job):
                blocked.add(groups[job])

    def _run_backfill(self, now: float) -> None:
        self._backfill_at, self._changed = now, False
        if not self._cluster.free or not self._waiting:
            return
        plan = self._plan(now)
        tested, started = Counter[int](), 0
        parameters, jobs = self._parameters, self._cluster.jobs
        tried = [job for _, _, job in self._order[: parameters.bf_max_job_test]]
        smallest = [*accumulate((jobs.gpus[job] for job in reversed(tried)), min)][::-1]
        for place, job in enumerate(tried):
            if smallest[place] > self._cluster.free:  # from here on none can start now
                return
            user = jobs.user[job]
            tested[user] += 1
            if 0 < parameters.bf_max_job_user < tested[user]:
                continue
            started += self._backfill(job, plan, now)
            if 0 < parameters.bf_max_job_start <= started:
                return

    def _backfill(self, job: int, plan: BackfillPlan, now: float) -> bool:
        """Start it, or reserve for it; whether it was started."""
        parameters, jobs = self._parameters, self._cluster.jobs
        gpus, limit = jobs.gpus[job], plan_s(jobs.planned[job])
        start, nodes = plan.earliest(gpus, limit)
        if start <= now and self._start(job, plan.closed(limit)):
            plan.started(gpus, self._cluster.place_of(job), now + limit)
            return True
        if start <= now + parameters.bf_window_s:
            step = parameters.bf_resolution_s
            begin = start // step * step
            plan.reserve(gpus, nodes, begin, max(begin + step, (start + limit) // step * step))
        return False

    def _plan(self, now: float) -> BackfillPlan:
        jobs, over_s = self._cluster.jobs, self._parameters.over_time_limit_s
        ends = {job: began + plan_s(jobs.planned[job]) for job, began in self._began.items()}
        late = {job: max(end, now + over_s) for job, end in ends.items()}
        if self._nodes:
            running = [(end, self._cluster.place_of(job)) for job, end in late.items()]
            return NodePlan(now, self._cluster.node_gpus(), running)
        held = [(end, jobs.gpus[job]) for job, end in late.items()]
        return PoolPlan(now, self._cluster.free, held)

    def _start(self, job: int, closed: Collection[int] = ()) -> bool:
        if not self._cluster.start(job, excluded=closed):
            return False
        now = self._cluster.now
        self._leave(job)
        self._began[job] = now
        self._priorities.holds(job, self._cluster.jobs.gpus[job], now)
        self._changed = True
        return True

    def _queue(self, job: int) -> None:
        """At its place by priority, then by submission."""
        priority = self._priorities.of(job, self._cluster.now)
        rank = self._waiting[job] = (-priority, self._cluster.jobs.submit[job], job)
        insort(self._order, rank)

    def _leave(self, job: int) -> None:
        del self._order[bisect_left(self._order, self._waiting.pop(job))]

    def _wake(self, now: float) -> None:
        """At the next moment at which a scheduler has something to do."""
        if not self._waiting:
            return
        parameters = self._parameters
        due = [self._wanted_at, self._calculated + parameters.calc_period_s]
        if self._changed:
            due.append(self._backfill_at + parameters.bf_interval_s)
            due.append(self._main_at + parameters.sched_interval_s)
        at = min(time for time in due if time > now)
        if not now < self._woken <= at:
            self._woken = at
            self._cluster.wake_at(at)
