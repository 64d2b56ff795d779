"""What a person does about one job: queue it again, release it, or correct its diagnosis.

What begins with `would` states what the same call would do, and refuses what it would refuse.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from schedmate.core import JobDiagnosed, hold_phase
from schedmate.model import Action, DecisionReason, JobState, NotFound, SchedulerError
from schedmate.service.records.attempts import reached_in
from schedmate.service.records.event_log import leave_for_daemon

if TYPE_CHECKING:
    from schedmate.model import Diagnosis, Job, JobId
    from schedmate.schedulers.base import Scheduler
    from schedmate.store import KeptCorrection, Store

_PATIENCE_S = 30.0
_POLL_S = 0.5


def requeue(scheduler: Scheduler, job_id: JobId) -> None:
    """Queue it again now, and wait as long as a person would until that is done.

    A job whose run takes longer to stop is queued again a little later.
    """
    run = _job(scheduler, job_id).restarts
    deadline = time.monotonic() + _PATIENCE_S
    while not _waits_again(scheduler, job_id, run) and time.monotonic() < deadline:
        time.sleep(_POLL_S)


def would_requeue(scheduler: Scheduler, job_id: JobId) -> str:
    job = _job(scheduler, job_id)
    if job.state is JobState.PENDING:
        raise SchedulerError(f"job {job_id} is waiting already")
    end = "stopped and queued" if job.state is JobState.RUNNING else "queued"
    return f"job {job_id} ({job.state}, run {job.restarts + 1}) would be {end} again"


def would_cancel(scheduler: Scheduler, job_id: JobId) -> str:
    job = _job(scheduler, job_id)
    if job.state.ended:
        return f"job {job_id} has ended ({job.state}): nothing would be done"
    return f"job {job_id} ({job.state}) would be cancelled"


def would_release(scheduler: Scheduler, store: Store, job_id: JobId) -> str:
    _held_by_us(scheduler, store, job_id)
    return f"job {job_id} would be released"


def _waits_again(scheduler: Scheduler, job_id: JobId, run: int) -> bool:
    """A job that has started again between two looks, or just now, has waited too."""
    try:
        return scheduler.requeue(job_id, run=run)
    except SchedulerError:
        job = _job(scheduler, job_id)
        if job.restarts > run and job.state is not JobState.PENDING:
            return True
        raise


def _job(scheduler: Scheduler, job_id: JobId) -> Job:
    found = scheduler.jobs([job_id])
    if not found:
        raise NotFound(f"{scheduler.name} does not know job {job_id}")
    return found[0]


def release(scheduler: Scheduler, store: Store, job_id: JobId) -> None:
    """Let a job start that SchedMate holds; it is not held again."""
    job = _held_by_us(scheduler, store, job_id)
    reason = DecisionReason(code="by_a_person")
    action = Action(
        kind="release", job_id=job_id, attempt=job.restarts, why="released by hand", reason=reason
    )
    scheduler.release(job_id)
    store.intend(action, at=time.time())
    store.settle(action, "done", at=time.time())


def _held_by_us(scheduler: Scheduler, store: Store, job_id: JobId) -> Job:
    (job,) = store.meet([_job(scheduler, job_id)])
    if not job.held:
        raise SchedulerError(f"job {job_id} is not held")
    if hold_phase(store.actions(job_id=job_id), held=True) != "ours":
        raise SchedulerError(
            f"job {job_id} was not held by SchedMate; release it as it was held"
            f"{f', with scontrol release {job_id}' if scheduler.name == 'slurm' else ''}"
        )
    return job


def record_correction(
    store: Store, job: Job, diagnosis: Diagnosis, correction: KeptCorrection | None = None
) -> None:
    """Store the corrected diagnosis, and leave it to the decision engine as an event.

    Without `correction` it is the diagnosis from before, which is put back.
    """
    event = JobDiagnosed(
        time.time(),
        job.id,
        job.restarts,
        diagnosis,
        reached=reached_in(job, store),
        by="person",
    )
    with store.together():
        store.keep_diagnosis(job.id, job.restarts, diagnosis, correction=correction)
        leave_for_daemon(store, event)
