"""The mate's mind: events in, instructions out. No clock, no I/O, no surprise.

The live loop and the simulator drive the same mind, so what a simulation claims is what runs
on a cluster. Telling it again what it knows asks for nothing new, and every action it wants
has a key under which it is carried out at most once: a restarted daemon simply tells a fresh
mind everything it sees.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from schedmate.core.events import Event, JobAdvised, JobDiagnosed, JobSeen, ProgressSeen
from schedmate.core.history import Attempt
from schedmate.core.instructions import Act, Advise, Diagnose, Instruction, Remember, Track
from schedmate.core.places import NOTHING_WRITTEN, Written, place
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
    hung_attempt: int | None = None
    written: Written = NOTHING_WRITTEN

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
            case JobSeen():
                return self._seen(event)
            case JobAdvised(job_id=job_id, advice=advice):
                return self._advised(job_id, advice)
            case ProgressSeen(job_id=job_id, progress=progress):
                return self._moved(job_id, progress)
            case JobDiagnosed():
                return self._diagnosed(event)

    def _seen(self, told: JobSeen) -> list[Instruction]:
        job = told.job
        known = self._known.get(job.id)
        if known is None:
            known = KnownJob(job, attempts=dict(told.past), written=told.written)
            self._known[job.id] = known
            return [*self._placed(known), Advise(job), *self._changed(job)]
        before, known.job = known.job, job
        if (before.state, before.restarts) == (job.state, job.restarts):
            return self._placed(known)
        if before.restarts != job.restarts:
            known.progress = None
        return [*self._placed(known), *self._changed(job)]

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
        return self._placed(known)

    def _placed(self, known: KnownJob) -> list[Instruction]:
        """Give a job that waits its place in the queue, as soon as it can have one."""
        action, known.written = place(
            self._ordering,
            Candidate(known.job, known.prediction),
            known.written,
            read=known.advice is not None,
        )
        if action is None:
            return []
        known.job = replace(known.job, nice=int(action.value or 0))
        return [Act(action)]

    def _moved(self, job_id: JobId, progress: Progress) -> list[Instruction]:
        known = self._known.get(job_id)
        if known is None or known.job.state is not JobState.RUNNING:
            return []
        known.progress = progress
        if progress.phase != "stalled" or known.hung_attempt == known.job.restarts:
            return []
        known.hung_attempt = known.job.restarts
        return [Diagnose(known.job, hung=True)]

    def _diagnosed(self, told: JobDiagnosed) -> list[Instruction]:
        known = self._known.get(told.job_id)
        if known is None:
            return []
        attempt, job = told.attempt, known.job
        nodes = job.nodes if attempt == job.restarts else _nodes_of(known.attempts.get(attempt))
        known.attempts[attempt] = Attempt(
            diagnosis=told.diagnosis, nodes=nodes, reached=told.reached
        )
        if attempt != job.restarts or not (job.state is JobState.RUNNING or job.state.failed):
            return []
        if job.end_time is not None and job.end_time < self._limits.act_since:
            return []
        plan = plan_retry(
            known.attempts, attempt, limits=self._limits, choice=told.choice, job_id=job.id
        )
        return [Act(_as_action(job, plan))] if _acts(job, told.diagnosis, plan) else []


def _nodes_of(attempt: Attempt | None) -> tuple[str, ...]:
    return () if attempt is None else attempt.nodes


def _acts(job: Job, diagnosis: Diagnosis, plan: RetryPlan) -> bool:
    """A run that has ended needs no action when it is not tried again; a hung one is stopped.

    What runs is left alone on a guess.
    """
    if job.state is JobState.RUNNING:
        return diagnosis.reason != "not_failed" and diagnosis.confidence >= SURE_ENOUGH
    return plan.again


def _as_action(job: Job, plan: RetryPlan) -> Action:
    return Action(
        kind="requeue" if plan.again else "cancel",
        job_id=job.id,
        attempt=job.restarts,
        why=plan.why,
        exclude_nodes=plan.exclude_nodes,
        delay_s=plan.delay_s,
    )
