"""A job into the queue with its advice, and what the engine decides about it at once."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedmate import config
from schedmate.advisor import Advised, Advisor, Target
from schedmate.core import Act, JobAdvised, JobSeen, Past, Started
from schedmate.disk.lock import is_held
from schedmate.model import JobId, SchedMateError, Submission
from schedmate.model.account import account_name
from schedmate.service.actions import Actions
from schedmate.service.met_jobs import met_jobs
from schedmate.service.records.event_log import Recorder
from schedmate.service.usecases.history_import import catch_up
from schedmate.service.wiring import (
    deciding_settings,
    engine_of,
    limits_of,
    open_scheduler,
    open_store,
)
from schedmate.store import KeptAdvice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.config import Settings
    from schedmate.model import Advice, Job
    from schedmate.schedulers.base import Scheduler
    from schedmate.store import Store

_log = logging.getLogger("schedmate.submit")


@dataclass(frozen=True, slots=True)
class Submitted:
    job_id: JobId
    advised: Advised | None


def submit(settings: Settings, submission: Submission) -> Submitted:
    """Advise, queue, and keep the advice under the id that the job got."""
    store = open_store(settings)
    try:
        catch_up(settings)
        advised = _advise(store, submission)
        scheduler = open_scheduler(settings)
        job_id = scheduler.submit(submission)
        jobs = meet_submitted(scheduler, store, job_id)
        if advised is not None:
            store.keep_advice(job_id, KeptAdvice(advised.advice, advised.fingerprint))
        if settings.mode != "observe":
            advice = None if advised is None else advised.advice
            decide(settings, scheduler, store, jobs, advice)
        return Submitted(job_id, advised)
    finally:
        store.close()


def meet_submitted(scheduler: Scheduler, store: Store, job_id: JobId) -> Sequence[Job]:
    """The new job, from here on the one that its number stands for; none where it is several, or
    the scheduler does not answer."""
    try:
        jobs = met_jobs(scheduler, store, [job_id])
    except SchedMateError as error:
        _log.warning("job %s has no place in the queue yet: %s", job_id, error)
        return ()
    return jobs if [job.id for job in jobs] == [job_id] else ()


def decide(
    settings: Settings,
    scheduler: Scheduler,
    store: Store,
    jobs: Sequence[Job],
    advice: Advice | None,
) -> None:
    """Where no daemon runs, what the engine decides about a new job is done at once.

    A running daemon decides itself: two engines on one job would contradict each other. An array
    waits for the daemon, and so does a lower limit: nothing else would give it back.
    """
    now = time.time()
    settings = config.changed(settings, ["time_limits.lower=false"])
    if not jobs or is_held(settings.daemon_lock):
        return
    (job,) = jobs
    try:
        engine = engine_of(settings, limits_of(settings, act_since=store.created_at()))
        recorder, actions = Recorder(store), Actions(scheduler, store, settings.mode)
        for event in (
            Started(now, deciding_settings(settings)),
            JobSeen(now, job, Past(advice=advice)),
            JobAdvised(now, job.id, advice),
        ):
            instructions = engine.handle(event)
            recorder.note(event, instructions)
            recorder.flush()
            for instruction in instructions:
                if isinstance(instruction, Act):
                    actions.see_through(instruction.action, now)
    except SchedMateError as error:
        _log.warning("job %s has no place in the queue yet: %s", job.id, error)


def _advise(store: Store, submission: Submission) -> Advised | None:
    try:
        target = Target.from_submission(submission, account_name())
        return Advisor(store, store).advise(target)
    except Exception:  # noqa: BLE001 - advice is never in the way of a submission
        _log.warning("no advice on this submission", exc_info=True)
        return None
