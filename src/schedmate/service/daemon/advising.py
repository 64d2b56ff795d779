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
    from collections.abc import Callable, Container, Sequence

    from schedmate.config import Settings
    from schedmate.model import Advice, Job, JobId
    from schedmate.schedulers.base import Scheduler
    from schedmate.store import Store

_AWAITED_S, _POLL_S = 20.0, 0.2
_log = logging.getLogger("schedmate.submit")


def advise_queued(
    settings: Settings, first: JobId, on_first: Callable[[Advice], None] | None = None
) -> None:
    """Until no job waits or runs without advice; `first` is read before the others.

    Where another process is at it, that one may leave out `first`, which may have ended meanwhile.
    """
    with closing(open_store(settings)) as store:
        scheduler = open_scheduler(settings)
        lock = settings.state_dir / "local" / "advising.lock"
        deadline = time.monotonic() + _AWAITED_S
        read: set[JobId] = set()

        def tell() -> bool:
            nonlocal on_first
            kept = store.advice(first)
            if kept is not None and on_first is not None:
                on_first(kept.advice)
                on_first = None
            return kept is not None

        while not is_held(settings.daemon_lock):
            with lock_if_free(lock) as is_mine:
                if is_mine:
                    found = _unadvised(scheduler, store, first, read)
                    catch_up(settings, min((job.submit_time for job in found), default=None))
                    _advise(settings, scheduler, store, found, tell)
                    read.update(job.id for job in found)
            if is_mine and not _unadvised(scheduler, store, first, read):
                break  # looked at without the lock: who saw it held relies on us
            if not is_mine:
                if tell() or time.monotonic() > deadline:
                    break
                time.sleep(_POLL_S)
        while not tell() and first not in read and time.monotonic() < deadline:
            time.sleep(_POLL_S)


def _advise(
    settings: Settings,
    scheduler: Scheduler,
    store: Store,
    jobs: Sequence[Job],
    on_read: Callable[[], object],
) -> None:
    reader = JobReader(scheduler, store, Advisor(store, store))
    for job in jobs:
        advice = None if (kept := reader.kept(job)) is None else kept.advice
        advice = advice or reader.read(job)
        reader.write_down()
        on_read()
        if settings.mode != "observe" and job.tasks == 1:
            decide(settings, scheduler, store, [job], advice)


def _unadvised(
    scheduler: Scheduler, store: Store, first: JobId, read: Container[JobId]
) -> Sequence[Job]:
    """Those that this process has not `read` in vain."""

    def is_first(job: Job) -> bool:
        return first in (job.id, array_of(job.id))

    found = [
        job
        for job in met_jobs(scheduler, store)
        if (not job.state.ended or is_first(job))
        and job.id not in read
        and store.advice(job.id) is None
    ]
    return sorted(found, key=lambda job: not is_first(job))
