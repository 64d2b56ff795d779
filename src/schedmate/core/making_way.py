"""Runs that make way for waiting jobs: decided at a checkpoint, let go again in time.

A run is stopped once in an attempt at most, whatever becomes of the decision. Held, it waits for
the jobs that were named to start. If none has started after some minutes, it goes first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from heapq import nsmallest
from math import inf
from typing import TYPE_CHECKING

from schedmate.core.preemption import Contender, Incumbent, Preempted, choose, index_s, lost_s
from schedmate.core.reactions import act
from schedmate.core.successors import waits_for, waits_for_end
from schedmate.model import DecisionReason, JobState, array_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedmate.core.events import CheckpointSeen
    from schedmate.core.instructions import Instruction
    from schedmate.core.known_job import KnownJob, KnownJobs
    from schedmate.core.retry import DecisionLimits
    from schedmate.model import Job, JobId, ReasonCode

_HOUR_S, _DAY_S = 3600.0, 86400.0
_CLOCK_S = 60.0
_LIKELY = 0.5
_NEXT = 64
"""So many of those that would start next are compared with a run."""


class Pools:
    """Which partitions have nodes in common, as far as runs have shown: jobs of one compete with
    those of the other. Runs without nodes are all in one place."""

    def __init__(self) -> None:
        self._of: dict[str, str] = {}

    def of(self, partition: str) -> str:
        found = self._of.get(partition, partition)
        while (further := self._of.get(found, found)) != found:
            found = further
        return found

    def ran(self, partition: str, nodes: Sequence[str]) -> None:
        for node in nodes or ("",):
            mine, its = self.of(partition), self.of(f"on {node}")
            if mine != its:
                self._of[its] = mine


class MakingWay:
    def __init__(self, limits: DecisionLimits, jobs: KnownJobs) -> None:
        self._limits = limits.preemption
        self._late_s = limits.fairness.late_s
        self._known = jobs.by_id
        self._objection = jobs.objection
        self._pools = Pools()
        self._waiting: dict[JobId, float] = {}
        """What waits, and when it was seen to."""
        self._running: dict[JobId, tuple[Job, int]] = {}
        """What runs, and on how many GPUs."""
        self._most: defaultdict[str, int] = defaultdict(int)
        """GPUs that were in use at once, by pool."""
        self._for: dict[JobId, JobId] = {}
        """Of a named job: which run made way for it."""
        self._lost: defaultdict[tuple[str, int], float] = defaultdict(float)
        """GPU seconds, by user and day."""

    def clear(self) -> None:
        self._waiting.clear()
        self._running.clear()
        self._for.clear()
        self._lost.clear()

    def forget(self, job_id: JobId) -> None:
        self._waiting.pop(job_id, None)
        self._running.pop(job_id, None)

    def meet(self, known: KnownJob) -> None:
        """A job that may have made way before this engine was there."""
        job, made_way = known.job, known.made_way
        for at, gpu_s in made_way.losses:
            self._lost[job.user, int(at // _DAY_S)] += gpu_s
        if made_way.held is not None:
            self._for.update(dict.fromkeys(made_way.held.for_jobs, job.id))

    def seen(self, known: KnownJob, at: float) -> list[Instruction]:
        """Who is let go because of how this job is now."""
        job = known.job
        if job.state is JobState.PENDING:
            self._waiting[job.id] = at
        else:
            self._waiting.pop(job.id, None)
            self._pools.ran(_partition(job), job.nodes)
        if job.state is JobState.RUNNING:
            self._running[job.id] = job, max(1, job.request.gpus)
        else:
            self._running.pop(job.id, None)
        self._count_wait(known)
        found = [] if known.made_way.held is None else self._let_go(known, at)
        named = self._for.get(job.id) or self._for.get(array_of(job.id) or "")
        if named is not None and named in self._known and job.state is not JobState.PENDING:
            found += self._let_go(self._known[named], at)
        return found

    def due(self, known: KnownJob) -> float | None:
        """When a job that is held goes back first, None where none is."""
        held = known.made_way.held
        return None if held is None else held.at + self._limits.give_back_s

    def _count_wait(self, known: KnownJob) -> None:
        job, made_way = known.job, known.made_way
        held, since = made_way.held, made_way.stopped_at
        if held is not None and since is None and job.restarts == held.attempt + 1:
            since = held.at
            known.made_way = replace(made_way, stopped_at=since)
        if since is not None and job.start_time is not None and job.start_time >= since:
            waited = known.made_way.held_back_s(job.start_time)
            known.made_way = replace(known.made_way, stopped_at=None, waited_s=waited)

    def _let_go(self, known: KnownJob, at: float) -> list[Instruction]:
        job, held = known.job, known.made_way.held
        if held is None or job.restarts == held.attempt:
            return []  # it was not stopped yet, or will not be
        if job.restarts > held.attempt + 1 or job.state is not JobState.PENDING:
            self._close(known, held)
            return []
        if not job.held:
            return []  # it has queued itself again, and the hold may be still to come
        waiting = [one for one in held.for_jobs if not self._has_started(one, held.at)]
        gone_back = at < held.at - _CLOCK_S  # the clock was set: how long it waits is unknown
        if waiting and not gone_back and at < held.at + self._limits.give_back_s:
            return []
        in_vain = len(waiting) == len(held.for_jobs)
        known.goes_first = known.goes_first or in_vain
        self._close(known, held)
        known.job = replace(job, held=False)
        code: ReasonCode = "others_did_not_start" if in_vain else "others_started"
        return [act("release", job, DecisionReason(code=code))]

    def _close(self, known: KnownJob, held: Preempted) -> None:
        known.made_way = replace(known.made_way, held=None)
        for one in held.for_jobs:
            self._for.pop(one, None)

    def _has_started(self, job_id: JobId, since: float) -> bool:
        """Or waits no more for another reason."""
        found = self._known.get(job_id)
        if found is None or found.job.state is not JobState.PENDING:
            return True
        return found.job.tasks > 1 and any(
            array_of(one.job.id) == job_id and (one.job.start_time or 0.0) >= since
            for one in self._known.values()
        )

    def checkpointed(self, known: KnownJob, event: CheckpointSeen) -> list[Instruction]:
        job, limits = known.job, self._limits
        consent = limits.consent(job)
        lost = lost_s(event.at, event.saved_at, known.proof)
        if consent is None or lost is None or self._veto(known, event, lost) is not None:
            return []
        began = event.saved_at if job.start_time is None else job.start_time
        served = known.made_way.served_s + event.saved_at - began
        left_s = _left_s(known, served, event.at)
        if left_s < limits.ends_soon_s or _ends_soon(known, served, limits.ends_soon_s):
            return []
        run = self._incumbent(job, left_s, lost, event.at)
        named = choose(run, self._contenders(job, event.at), limits)
        if not named or self._has_dependants(job):
            return []
        self._lost[job.user, int(event.at // _DAY_S)] += run.gpus * lost
        held = Preempted(attempt=job.restarts, at=event.at, for_jobs=named)
        losses = (*known.made_way.losses, (event.at, run.gpus * lost))
        left = _shown_left_s(known, event.at)
        known.made_way = replace(
            known.made_way, held=held, losses=losses, served_s=served, left_s=left
        )
        known.requeued_from = job
        self._for.update(dict.fromkeys(named, job.id))
        those, needs = " and ".join(f"job {one}" for one in named), _needs(len(named))
        reason = DecisionReason(
            code="makes_way",
            step=event.step,
            lost_s=lost,
            served_s=served,
            left_s=left,
            waited_s=known.all_waits_s,
            detail=f"it has just saved, and {those} {needs} its GPUs for less: {consent}",
        )
        return [act("preempt", job, reason, for_jobs=named)]

    def _veto(self, known: KnownJob, event: CheckpointSeen, lost: float) -> str | None:
        """Why a run is not stopped, whoever waits; None where it may be."""
        job, made_way, limits = known.job, known.made_way, self._limits
        ran_s = event.at - (event.at if job.start_time is None else job.start_time)
        day = self._lost[job.user, int(event.at // _DAY_S)]
        gpu_s = lost * max(1, job.request.gpus)
        vetoes = {
            "it does not run": (job.state, job.restarts) != (JobState.RUNNING, event.attempt),
            "its scheduler would not queue it again": not job.can_requeue or bool(job.components),
            "nothing proves that it resumes": not known.proof.is_sure,
            "it has made way in this attempt": made_way.held is not None,
            "it has made way too often": len(made_way.losses) >= limits.at_most,
            "it shares its GPUs": bool(known.beside),
            "it goes first": known.goes_first or known.overtaken_enough,
            "it began a moment ago": ran_s < limits.after_s,
            "its owner has lost enough today": day + gpu_s > limits.lost_gpu_hours * _HOUR_S,
            "it is late": made_way.waited_s >= self._late_s,
        }
        found = next((why for why, applies in vetoes.items() if applies), None)
        return found or self._objection(known)

    def _has_dependants(self, job: Job) -> bool:
        return any(
            waits_for(one.job, job) or waits_for_end(one.job.dependency, one.job, job)
            for one in self._known.values()
            if one.job.dependency
        )

    def _incumbent(self, job: Job, left_s: float, lost: float, at: float) -> Incumbent:
        here = self._pools.of(_partition(job))
        others = [
            (one.start_time + limit - at if (limit := one.request.time_limit_s) else inf, gpus)
            for one, gpus in self._running.values()
            if one.id != job.id
            and one.start_time is not None
            and self._pools.of(_partition(one)) == here
        ]
        gpus = max(1, job.request.gpus)
        used = gpus + sum(gpus for _, gpus in others)
        most = self._most[here] = max(self._most[here], used)
        return Incumbent(
            gpus=gpus, left_s=left_s, lost_s=lost, free=most - used, pool=most, others=others
        )

    def _is_made_way_for(self, job_id: JobId, at: float) -> bool:
        """Whether another run is being stopped for it: two that save within a poll do not both make
        way for one job."""
        run = self._known.get(self._for.get(job_id, ""))
        held = None if run is None else run.made_way.held
        return held is not None and at < held.at + self._limits.give_back_s

    def _contenders(self, run: Job, at: float) -> Iterator[Contender]:
        """Those that would start next where it runs, the first first."""
        known, seen, pools = self._known, self._waiting, self._pools
        here = pools.of(_partition(run))
        able = [
            one
            for one in (known[each] for each in seen if each in known)
            if pools.of(_partition(one.job)) == here
            and _may_start(one.job, at)
            and not self._is_made_way_for(one.job.id, at)
        ]
        for one in nsmallest(_NEXT, able, key=lambda one: _turn(one.job, seen[one.job.id])):
            spread = None if one.prediction is None else one.prediction.duration_s
            yield Contender(
                job_id=one.job.id,
                gpus=max(1, one.job.request.gpus),
                left_s=index_s(spread, one.made_way.served_s, left_s=one.made_way.left_s),
                limit_s=one.job.request.time_limit_s or inf,
                fits=_fits(one.job, run),
            )


def _partition(job: Job) -> str:
    """A job that names several waits in the first of them."""
    return (job.request.partition or "").partition(",")[0]


def _turn(job: Job, seen_at: float) -> tuple[float, float]:
    """By which its scheduler orders what waits, ours counted in; age grows alike for all."""
    if job.priority is None:
        return job.nice, job.submit_time
    return (job.nice_an_hour or 0.0) * seen_at / _HOUR_S - job.priority, job.submit_time


def _may_start(job: Job, at: float) -> bool:
    """Whether it waits for nothing but its turn."""
    free = not job.held and not job.reason.startswith("Dependency")
    return job.state is JobState.PENDING and free and (job.eligible_time or 0.0) <= at


def _fits(job: Job, run: Job) -> bool:
    """Whether it could run where this run is, as soon as that is over."""
    asks, has = job.request, run.request
    kind = asks.gpu_type in (None, has.gpu_type)
    place = not (asks.features or asks.reservation or asks.required_nodes or job.components)
    needs = ((asks.cpus, has.cpus), (asks.memory_mb, has.memory_mb))
    enough = all(mine is None or its is None or mine <= its for mine, its in needs)
    spread = asks.gpus * max(1, has.nodes) <= has.gpus * max(1, asks.nodes)
    return kind and place and enough and spread


def _left_s(known: KnownJob, served_s: float, at: float) -> float:
    found = known.prediction
    spread = None if found is None else found.duration_s
    return index_s(spread, served_s, left_s=_shown_left_s(known, at))


def _ends_soon(known: KnownJob, served_s: float, soon_s: float) -> bool:
    """More likely than not by its prediction, for how long it has run."""
    found = known.prediction
    if found is None or found.duration_s is None or found.duration_s.too_wide:
        return False
    return known.ends_at is None and found.duration_s.ends_within(soon_s, served_s) > _LIKELY


def _shown_left_s(known: KnownJob, at: float) -> float | None:
    """By its log."""
    return None if known.ends_at is None else max(0.0, known.ends_at - at)


def _needs(jobs: int) -> str:
    return "needs" if jobs == 1 else "need"
