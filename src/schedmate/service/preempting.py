"""Stops a run so that others go first: the signal that it asked for, then queued again and held.

Each step is written down before it is taken, and what comes next is read from store and scheduler,
so that a daemon that dies at any of them is followed by one that goes on, and does nothing twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.model import JobState, SchedulerError
from schedmate.schedulers.base import WarnsRuns

if TYPE_CHECKING:
    from schedmate.model import Action, ActionRecord
    from schedmate.schedulers.base import Scheduler
    from schedmate.store import Store

_WARNED = "it got the signal that it asked for before its end"
_LONGEST_GRACE_S = 300.0
_STALE_S = 120.0
"""A run that was not stopped by then has gone on too far since its checkpoint."""


class Preemptions:
    def __init__(self, scheduler: Scheduler, store: Store) -> None:
        self._scheduler = scheduler
        self._store = store

    def go_on(self, action: Action, now: float) -> bool:
        """Whether the scheduler was asked for all of it; SchedulerError where it is too late."""
        if self._runs(action) and not self._has_saved(action, now):
            return False
        held = not self._is_let_go(action)
        return self._scheduler.requeue(action.job_id, run=action.attempt, held=held)

    def is_begun(self, action: Action) -> bool:
        record = self._record(action)
        return record is not None and record.note == _WARNED

    def _runs(self, action: Action) -> bool:
        """Whether the run that is meant goes on; the job may have queued itself again."""
        found = self._scheduler.jobs([action.job_id, *action.for_jobs])
        job = next((one for one in found if one.id == action.job_id), None)
        if job is None or job.restarts > action.attempt:
            return False
        if job.state is not JobState.RUNNING:
            raise SchedulerError(f"too late: it has ended, {job.state}")
        if not any(one.state is JobState.PENDING for one in found if one is not job):
            raise SchedulerError("the jobs that it was to make way for wait no more")
        return True

    def _has_saved(self, action: Action, now: float) -> bool:
        """Whether the run has had the time it asked for; warn it where it has not been yet."""
        record = self._record(action)
        asked_s = self._asked_s(action)
        begun = now if record is None else record.at
        if record is not None and record.note == _WARNED:
            return now - begun >= asked_s
        if now - begun > _STALE_S:
            raise SchedulerError("too late: it has gone on since its checkpoint")
        if not asked_s or not isinstance(self._scheduler, WarnsRuns):
            return True
        self._store.settle(action, "intended", at=now, note=_WARNED)
        self._scheduler.warn(action.job_id)
        return False

    def _asked_s(self, action: Action) -> float:
        if not isinstance(self._scheduler, WarnsRuns):
            return 0.0
        return min(_LONGEST_GRACE_S, self._scheduler.warning_s(action.job_id) or 0.0)

    def _is_let_go(self, action: Action) -> bool:
        """The others may have started while its run was still being stopped."""
        return any(
            one.action.kind == "release" and one.action.attempt == action.attempt + 1
            for one in self._store.actions(job_id=action.job_id)
        )

    def _record(self, action: Action) -> ActionRecord | None:
        records = self._store.actions(job_id=action.job_id)
        return next((one for one in records if one.action.key == action.key), None)
