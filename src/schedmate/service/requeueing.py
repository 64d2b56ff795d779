"""Queueing a job again by hand: now, and seen through for as long as a person would wait."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from schedmate.model import JobState, NotFound, SchedulerError

if TYPE_CHECKING:
    from schedmate.model import Job, JobId
    from schedmate.schedulers.base import Scheduler

_PATIENCE_S = 30.0
_POLL_S = 0.5


def requeue(scheduler: Scheduler, job_id: JobId) -> None:
    """A job whose run takes longer to stop is queued again all the same, only a little later."""
    run = _job(scheduler, job_id).restarts
    deadline = time.monotonic() + _PATIENCE_S
    while not _waits_again(scheduler, job_id, run) and time.monotonic() < deadline:
        time.sleep(_POLL_S)


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
