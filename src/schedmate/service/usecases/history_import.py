"""Past jobs into the history: what a scheduler still knows, or a table."""

from __future__ import annotations

import time
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate.advisor import Advisor, Target
from schedmate.model import PastRun, SchedMateError, Workload
from schedmate.service.visibility import viewer_of
from schedmate.service.wiring import open_scheduler, open_store

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schedmate.config import Settings
    from schedmate.model import Fingerprint, History, Job
    from schedmate.schedulers.base import Scheduler
    from schedmate.store import Store

_FEWEST_RUNS = 20


def import_scheduler(settings: Settings, name: str) -> int:
    """Remember the jobs of a scheduler that have ended; return how many there were."""
    own = settings.model_copy(update={"scheduler": name})
    scheduler, viewer = open_scheduler(own), viewer_of(own)
    ended = [job for job in scheduler.jobs() if job.state.ended and viewer.may_read(job.user)]
    with closing(open_store(own)) as store:
        for job in ended:
            if store.run(job.id, job.restarts) is None:
                store.keep_run(_past_run(job, scheduler, store))
    return len(ended)


def learn_from_history(settings: Settings) -> None:
    """So that the next prediction uses what was imported; only an operator sees all of it."""
    if not viewer_of(settings).operator:
        return
    with closing(open_store(settings)) as store:
        learn_from(store, at=time.time())


def learn_from(history: History, *, at: float) -> None:
    """Train the site model on it, unless it has too few runs."""
    from schedmate.advisor.predict.site_model import learn

    if len(history.recent_runs(limit=_FEWEST_RUNS)) == _FEWEST_RUNS:
        learn(history, at=at)


def catch_up(settings: Settings) -> None:
    """Remember what ended on the local scheduler while no daemon was there to see it.

    A prediction needs it; an error here must not stop a submission.
    """
    if settings.scheduler == "local":
        with suppress(SchedMateError, OSError):
            import_scheduler(settings, "local")


def import_table(settings: Settings, runs: Iterable[PastRun], source: str) -> int:
    """Remember rows of a table, apart from the jobs of the scheduler in use: ids may clash."""
    kept = list(runs)
    with closing(open_store(settings, of=f"table:{Path(source).name}")) as store:
        store.keep_runs(kept)
    return len(kept)


def _past_run(job: Job, scheduler: Scheduler, store: Store) -> PastRun:
    from schedmate.service.records.run_record import profile_of_ended

    fingerprint, workload = _read(job, scheduler, store)
    profile = profile_of_ended(job, workload)
    return PastRun(job=job, fingerprint=fingerprint, workload=workload, profile=profile)


def _read(job: Job, scheduler: Scheduler, store: Store) -> tuple[Fingerprint | None, Workload]:
    """What the job was, as far as its files are still there."""
    kept = store.advice(job.id)
    if kept is not None:
        return kept.fingerprint, kept.advice.workload
    try:
        advised = Advisor(store, store).advise(Target.from_job(job, scheduler.script(job.id)))
    except (SchedMateError, OSError):
        return None, Workload()
    return advised.fingerprint, advised.advice.workload
