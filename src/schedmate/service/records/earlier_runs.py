"""Runs that ended before their jobs were queued again, by whomever."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from schedmate.model import JobState, PastRun, SchedMateError, Workload
from schedmate.schedulers.base import ShowsAttempts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.model import Job, JobId
    from schedmate.schedulers.base import Scheduler
    from schedmate.store import Store

_log = logging.getLogger("schedmate.nodes")


class EarlierRuns:
    """What happened on a node speaks for or against it, also where its jobs run elsewhere now."""

    def __init__(self, scheduler: Scheduler, store: Store) -> None:
        self._scheduler = scheduler
        self._store = store
        self._known: set[tuple[JobId, int, float]] = set()

    def remember(self, restarted: Sequence[tuple[Job, Job]] = ()) -> None:
        """Those that no daemon saw end; who ended a run to queue it again says nothing by it.

        `restarted` are jobs that were seen to run, and then to wait again: where the scheduler
        remembers no run, one whose node is down was lost with it.
        """
        found = {(job.id, job.restarts, job.submit_time): job for job in self._remembered()}
        for key, job in found.items():
            if key not in self._known:
                self._keep(job)
        self._known = set(found)
        told = {(job.id, job.restarts) for job in found.values()}
        unknown = [pair for pair in restarted if (pair[0].id, pair[0].restarts) not in told]
        for job in self._lost(unknown) if unknown else ():
            self._keep(job)

    def _remembered(self) -> list[Job]:
        if not isinstance(self._scheduler, ShowsAttempts):
            return []
        return [
            job for job in self._scheduler.earlier_attempts() if job.state.ended and job.started
        ]

    def _lost(self, restarted: Sequence[tuple[Job, Job]]) -> list[Job]:
        try:
            down = {one.name for one in self._scheduler.nodes() if one.condition == "down"}
        except SchedMateError as error:
            _log.warning("how the nodes are is not known: %s", error)
            return []
        return [
            replace(before, state=JobState.NODE_FAIL, end_time=now.submit_time)
            for before, now in restarted
            if down.intersection(before.nodes) and now.submit_time >= (before.start_time or 0.0)
        ]

    def _keep(self, job: Job) -> None:
        if self._store.run(job.id, job.restarts) is not None:
            return
        kept = self._store.advice(job.id)
        workload = Workload() if kept is None else kept.advice.workload
        marks = None if kept is None else kept.fingerprint
        self._store.keep_run(PastRun(job=job, fingerprint=marks, workload=workload))
