"""What a person does about jobs: choose them, hold, release and queue them again, correct them.

What begins with `would` states what the same call would do, and refuses what it would refuse.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedmate.core import JobDiagnosed, hold_phase
from schedmate.model import Action, DecisionReason, JobState, NotFound, SchedulerError
from schedmate.model.job import is_among
from schedmate.schedulers.base import ListsTasks, MovesToTop
from schedmate.service.records.attempts import reached_in
from schedmate.service.records.event_log import leave_for_daemon

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.model import Diagnosis, Job, JobId
    from schedmate.schedulers.base import Scheduler
    from schedmate.store import KeptCorrection, Store

_PATIENCE_S = 30.0
_POLL_S = 0.5


def requeue(scheduler: Scheduler, job_id: JobId) -> None:
    """Queue it again now, and wait as long as a person would until that is done.

    A job whose run takes longer to stop is queued again a little later. Of an array, all tasks that
    do not wait.
    """
    found = _jobs(scheduler, job_id)
    begun = [job for job in found if job.state is not JobState.PENDING] if found[1:] else found
    deadline = time.monotonic() + _PATIENCE_S
    for job in begun:
        while not _waits_again(scheduler, job.id, job.restarts) and time.monotonic() < deadline:
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


def would_hold(scheduler: Scheduler, job_id: JobId) -> str:
    _waiting(scheduler, job_id)
    return f"job {job_id} would be held"


def would_release(scheduler: Scheduler, store: Store, job_id: JobId) -> str:
    _held(scheduler, store, job_id)
    return f"job {job_id} would be released"


def move_to_top(scheduler: Scheduler, job_id: JobId) -> None:
    """Before all other waiting jobs of its user."""
    if not isinstance(scheduler, MovesToTop):
        raise SchedulerError(
            f"on {scheduler.name} its own command does that: scontrol top {job_id}"
        )
    scheduler.move_to_top(job_id)


def would_move_to_top(scheduler: Scheduler, job_id: JobId) -> str:
    _waiting(scheduler, job_id)
    return f"job {job_id} would go before the others"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobChoice:
    """Unfinished jobs, as scancel chooses them: all of what is stated has to fit."""

    ids: Sequence[JobId] = ()
    users: Sequence[str] = ()
    states: str = ""
    names: Sequence[str] = ()

    @property
    def is_by_id(self) -> bool:
        return not (self.users or self.states or self.names)


def choose_jobs(scheduler: Scheduler, choice: JobChoice) -> list[JobId]:
    """Ids that were named alone stay as they are, whatever has become of those jobs."""
    if choice.is_by_id:
        return list(choice.ids)
    ids: list[JobId] = []
    for job in scheduler.jobs(choice.ids or None):
        fits = (
            not job.state.ended
            and (not choice.users or job.user in choice.users)
            and (not choice.names or job.name in choice.names)
            and is_among(job.state, choice.states)
        )
        if fits:
            ids += [job.id] if job.tasks == 1 else _waiting_tasks(scheduler, job)
    return ids


def _waiting_tasks(scheduler: Scheduler, job: Job) -> list[JobId]:
    """The array's number stands for the tasks that run as well."""
    if not isinstance(scheduler, ListsTasks):
        raise SchedulerError(f"{job.id} is an array; name its tasks, or use scancel")
    return scheduler.waiting_tasks(job.id)


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
    return _jobs(scheduler, job_id)[0]


def _jobs(scheduler: Scheduler, job_id: JobId) -> list[Job]:
    """Several for an array."""
    found = scheduler.jobs([job_id])
    if not found:
        raise NotFound(f"{scheduler.name} does not know job {job_id}")
    return found


def _waiting(scheduler: Scheduler, job_id: JobId) -> None:
    states = [job.state for job in _jobs(scheduler, job_id)]
    if JobState.PENDING not in states:
        raise SchedulerError(f"job {job_id} does not wait any more: {states[0]}")


def release(scheduler: Scheduler, store: Store, job_id: JobId) -> None:
    """Let a held job start; one that SchedMate held is not held again."""
    job = _held(scheduler, store, job_id)
    if hold_phase(store.actions(job_id=job_id), held=True) != "ours":
        scheduler.release(job_id)
        return
    reason = DecisionReason(code="by_a_person")
    action = Action(
        kind="release", job_id=job_id, attempt=job.restarts, why="released by hand", reason=reason
    )
    scheduler.release(job_id)
    store.intend(action, at=time.time())
    store.settle(action, "done", at=time.time())


def _held(scheduler: Scheduler, store: Store, job_id: JobId) -> Job:
    held = [job for job in store.meet(_jobs(scheduler, job_id)) if job.held]
    if not held:
        raise SchedulerError(f"job {job_id} is not held")
    return held[0]


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
