"""The mate's mind: events in, instructions out. No clock, no I/O, no surprise.

The live loop and the simulator drive the same mind, so what a simulation claims is what runs
on a cluster. Telling it again what it knows asks for nothing new, and every action it wants
has a key under which it is carried out at most once: a restarted daemon simply tells a fresh
mind everything it sees.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from schedmate.core.events import (
    ActivitySeen,
    Event,
    JobAdvised,
    JobDiagnosed,
    JobSeen,
    ProgressSeen,
)
from schedmate.core.hangs import (
    HangWatch,
    Verdict,
    idle_for_s,
    is_suspect,
    known_without_measuring,
    looks_apart_s,
    too_many_at_once,
)
from schedmate.core.history import Attempt, Hung
from schedmate.core.instructions import (
    Act,
    Advise,
    Diagnose,
    Instruction,
    Measure,
    Remember,
    Track,
)
from schedmate.core.retry import Limits, RetryPlan, plan_retry
from schedmate.model import (
    SURE_ENOUGH,
    Action,
    Advice,
    Diagnosis,
    Job,
    JobId,
    JobState,
    Prediction,
    Progress,
)
from schedmate.policies import Candidate, Ordering

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(slots=True)
class KnownJob:
    """All that is known of one job; `attempts` by the restart count of the run."""

    job: Job
    advice: Advice | None = None
    progress: Progress | None = None
    attempts: dict[int, Attempt] = field(default_factory=dict)
    watch: HangWatch | None = None
    """Set while its silence is suspicious."""
    hung: Hung | None = None
    """Set from the moment it is taken for hung until it writes again or its run is over."""
    hung_attempt: int | None = None

    @property
    def prediction(self) -> Prediction | None:
        return None if self.advice is None else self.advice.prediction


class Mind:
    def __init__(self, ordering: Ordering, limits: Limits | None = None) -> None:
        self._ordering = ordering
        self._limits = limits or Limits()
        self._known: dict[JobId, KnownJob] = {}

    @property
    def known(self) -> Mapping[JobId, KnownJob]:
        return self._known

    def forget(self, job_id: JobId) -> None:
        """Meet this job as a new one when it is seen again."""
        self._known.pop(job_id, None)

    def handle(self, event: Event) -> list[Instruction]:
        match event:
            case JobSeen(job=job, past=past):
                return self._seen(job, past)
            case JobAdvised(job_id=job_id, advice=advice):
                return self._advised(job_id, advice)
            case ProgressSeen(at=at, job_id=job_id, progress=progress):
                return self._moved(at, job_id, progress)
            case ActivitySeen():
                return self._measured(event)
            case JobDiagnosed():
                return self._diagnosed(event)

    def _seen(self, job: Job, past: Mapping[int, Attempt]) -> list[Instruction]:
        known = self._known.get(job.id)
        if known is None:
            self._known[job.id] = KnownJob(job, attempts=dict(past))
            return [Advise(job), *self._changed(job)]
        before, known.job = known.job, job
        if (before.state, before.restarts) == (job.state, job.restarts):
            return []
        if before.restarts != job.restarts:
            known.progress, known.watch, known.hung = None, None, None
        return self._changed(job)

    def _changed(self, job: Job) -> list[Instruction]:
        if job.state is JobState.RUNNING:
            return [Track(job)]
        if job.state.failed:
            return [Remember(job), Diagnose(job)]
        if job.state.ended:
            return [Remember(job)]
        return []

    def _advised(self, job_id: JobId, advice: Advice) -> list[Instruction]:
        known = self._known.get(job_id)
        if known is None:
            return []
        known.advice = advice
        job = known.job
        if job.state is not JobState.PENDING:
            return []
        nice = self._ordering.nice(Candidate(job, advice.prediction))
        if nice == job.nice:
            return []
        return [
            Act(
                Action(
                    kind="set_nice",
                    job_id=job.id,
                    attempt=job.restarts,
                    value=nice,
                    why=f"{self._ordering.name}: {advice.prediction.explanation}",
                )
            )
        ]

    def _moved(self, at: float, job_id: JobId, progress: Progress) -> list[Instruction]:
        known = self._known.get(job_id)
        if known is None or known.job.state is not JobState.RUNNING:
            return []
        known.progress = progress
        after_s = self._limits.hang.after(known.job)
        apart_s = looks_apart_s(after_s)
        if not is_suspect(progress, after_s, ahead_s=apart_s + idle_for_s(after_s)):
            known.watch = known.hung = None
            return []
        # all suspects are due at the same moments, so that one question is for all of them
        tick = int(at // apart_s)
        if known.watch is None:
            known.watch = HangWatch(tick)
        watch = known.watch
        if watch.tick == tick or watch.left_alone or known.hung_attempt == known.job.restarts:
            return []
        watch.tick = tick
        return [Measure(known.job)]

    def _measured(self, seen: ActivitySeen) -> list[Instruction]:
        known = self._known.get(seen.job_id)
        if known is None or known.watch is None or known.progress is None:
            return []
        job = known.job
        if (job.state, job.restarts) != (JobState.RUNNING, seen.attempt):
            return []
        found = known.watch.note(seen.activity, seen.at)
        if not self._is_hung(known, known.watch, known.progress, found, seen.at):
            return []
        known.hung_attempt = job.restarts
        known.hung = Hung(ran_s=known.progress.elapsed_s, idle=found == "idle")
        return [Diagnose(job, hung=True)]

    def _is_hung(
        self, known: KnownJob, watch: HangWatch, progress: Progress, found: Verdict, at: float
    ) -> bool:
        after_s = self._limits.hang.after(known.job)
        if found == "active" or watch.left_alone or not is_suspect(progress, after_s):
            return False
        if found == "unknown" and not known_without_measuring(progress, after_s):
            return False
        long_enough = watch.idle_s(at) >= idle_for_s(after_s)
        return long_enough and not self._many_are_idle(at)

    def _many_are_idle(self, at: float) -> bool:
        """Whether jobs fell silent together, which is not the fault of one of them."""
        running = [one for one in self._known.values() if one.job.state is JobState.RUNNING]
        idle = sum(
            one.watch is not None
            and not one.watch.left_alone
            and one.watch.idle_s(at) >= idle_for_s(self._limits.hang.after(one.job))
            for one in running
        )
        return too_many_at_once(idle, len(running))

    def _diagnosed(self, told: JobDiagnosed) -> list[Instruction]:
        known = self._known.get(told.job_id)
        if known is None:
            return []
        attempt, job = told.attempt, known.job
        running = job.state is JobState.RUNNING
        before = known.attempts.get(attempt)
        nodes = job.nodes if attempt == job.restarts else _nodes_of(before)
        hung = known.hung if running and attempt == job.restarts else None
        known.attempts[attempt] = Attempt(
            diagnosis=told.diagnosis,
            nodes=nodes,
            reached=told.reached,
            hung=hung or (None if before is None or attempt == job.restarts else before.hung),
        )
        if attempt != job.restarts or not (running or job.state.failed):
            return []
        if running and known.hung is None:
            return []  # it has written something since
        if job.end_time is not None and job.end_time < self._limits.act_since:
            return []
        plan = plan_retry(
            known.attempts, attempt, limits=self._limits, choice=told.choice, job_id=job.id
        )
        action = _about_running(job, told.diagnosis, plan) if running else _requeue(job, plan)
        return [] if action is None else [Act(action)]


def _nodes_of(attempt: Attempt | None) -> tuple[str, ...]:
    return () if attempt is None else attempt.nodes


def _about_running(job: Job, diagnosis: Diagnosis, plan: RetryPlan) -> Action | None:
    """A run that seems to hang is queued again or only warned of: nothing that runs is ended."""
    if diagnosis.reason == "not_failed":
        return None
    if diagnosis.confidence < SURE_ENOUGH:
        return _warn(job, f"{diagnosis.reason}: that is a guess")
    return _requeue(job, plan) or _warn(job, plan.why)


def _warn(job: Job, why: str) -> Action:
    return Action(kind="warn", job_id=job.id, attempt=job.restarts, why=why)


def _requeue(job: Job, plan: RetryPlan) -> Action | None:
    if not plan.again:
        return None
    return Action(
        kind="requeue",
        job_id=job.id,
        attempt=job.restarts,
        why=plan.why,
        exclude_nodes=plan.exclude_nodes,
        delay_s=plan.delay_s,
    )
