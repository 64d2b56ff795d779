"""Runs that ended before their jobs were queued again, by whomever."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.model import PastRun, Workload
from schedmate.schedulers.base import ShowsAttempts

if TYPE_CHECKING:
    from schedmate.model import JobId
    from schedmate.schedulers.base import Scheduler
    from schedmate.store import Store


class EarlierRuns:
    """What happened on a node speaks for or against it, also where its jobs run elsewhere now."""

    def __init__(self, scheduler: Scheduler, store: Store) -> None:
        self._scheduler = scheduler if isinstance(scheduler, ShowsAttempts) else None
        self._store = store
        self._known: set[tuple[JobId, int, float]] = set()

    def remember(self) -> None:
        """Those that no daemon saw end; who ended a run to queue it again says nothing by it."""
        found = {
            (job.id, job.restarts, job.submit_time): job
            for job in ([] if self._scheduler is None else self._scheduler.earlier_attempts())
            if job.state.ended and job.started
        }
        for key, job in found.items():
            if key in self._known or self._store.run(job.id, job.restarts) is not None:
                continue
            kept = self._store.advice(job.id)
            workload = Workload() if kept is None else kept.advice.workload
            marks = None if kept is None else kept.fingerprint
            self._store.keep_run(PastRun(job=job, fingerprint=marks, workload=workload))
        self._known = set(found)
