"""Advice on jobs that were queued without it, where no daemon of ours runs.

One process at a time reads the code of all of them: whoever submits starts one, and it takes on
what others submit meanwhile.
"""

from __future__ import annotations

import logging
import time
from contextlib import closing
from typing import TYPE_CHECKING

from schedmate.advisor import Advisor
from schedmate.disk.lock import is_held, lock_if_free
from schedmate.model import array_of
from schedmate.service.daemon.job_reading import JobReader
from schedmate.service.met_jobs import met_jobs
from schedmate.service.usecases.history_import import catch_up
from schedmate.service.usecases.submit import decide
from schedmate.service.wiring import open_scheduler, open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from schedmate.config import Settings
    from schedmate.model import Advice, Job, JobId
    from schedmate.schedulers.base import Scheduler
    from schedmate.store import Store

_AWAITED_S, _POLL_S = 20.0, 0.2
_log = logging.getLogger("schedmate.submit")


def advise_queued(
    settings: Settings, first: JobId, on_first: Callable[[Advice], None] | None = None
) -> None:
    """Until no job waits or runs without advice; `first` is read before the others."""
    with closing(open_store(settings)) as store:
        scheduler = open_scheduler(settings)
        lock = settings.state_dir / "local" / "advising.lock"
        while not is_held(settings.daemon_lock):
            with lock_if_free(lock) as is_mine:
                if not is_mine:
                    break
                catch_up(settings)
                _advise(settings, scheduler, store, first, on_first)
                on_first = None
            if not _unadvised(scheduler, store, first):
                return
        if on_first is not None:
            _await(store, first, on_first)


def _await(store: Store, job_id: JobId, on_advice: Callable[[Advice], None]) -> None:
    """Another process is at it."""
    deadline = time.monotonic() + _AWAITED_S
    while (kept := store.advice(job_id)) is None and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    if kept is not None:
        on_advice(kept.advice)


def _advise(
    settings: Settings,
    scheduler: Scheduler,
    store: Store,
    first: JobId,
    on_first: Callable[[Advice], None] | None,
) -> None:
    reader = JobReader(scheduler, store, Advisor(store, store))
    for job in _unadvised(scheduler, store, first):
        advice = None if (kept := reader.kept(job)) is None else kept.advice
        advice = advice or reader.read(job)
        reader.write_down()
        if on_first is not None:
            if advice is not None:
                on_first(advice)
            on_first = None
        if settings.mode != "observe" and job.tasks == 1:
            decide(settings, scheduler, store, [job], advice)


def _unadvised(scheduler: Scheduler, store: Store, first: JobId) -> Sequence[Job]:
    def is_first(job: Job) -> bool:
        return first in (job.id, array_of(job.id))

    found = [
        job
        for job in met_jobs(scheduler, store)
        if (not job.state.ended or is_first(job)) and store.advice(job.id) is None
    ]
    return sorted(found, key=lambda job: not is_first(job))
