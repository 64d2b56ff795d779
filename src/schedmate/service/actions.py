"""Carries out what the mind wants, at most once, within what the site allows.

An action is written down before it is done and settled after. What was left in between by a
crash is looked up at the scheduler before anything is repeated.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from schedmate.model import (
    Action,
    ActionKind,
    Job,
    JobState,
    Mode,
    NotFound,
    SchedulerError,
    SchedulerUnreachable,
)
from schedmate.service.account import Account, account_at

if TYPE_CHECKING:
    from schedmate.schedulers.base import Scheduler
    from schedmate.store import Store

_ALLOWED: dict[Mode, frozenset[ActionKind]] = {
    "observe": frozenset(),
    "assist": frozenset({"set_nice", "set_time_limit"}),
    "act": frozenset({"set_nice", "set_time_limit", "requeue", "cancel"}),
}
_log = logging.getLogger("schedmate.actions")


class Actions:
    def __init__(self, scheduler: Scheduler, store: Store, mode: Mode) -> None:
        self._scheduler = scheduler
        self._store = store
        self._allowed = _ALLOWED[mode]
        self._account: Account | None = None

    def carry_out(self, action: Action, now: float) -> None:
        """Do it unless it was done, begun or seen before; only write it down if not allowed."""
        if action.kind not in self._allowed or not self._may(action):
            self._store.intend(action, at=now, state="observed")
        elif self._store.intend(action, at=now):
            self._do(action, now)

    def _may(self, action: Action) -> bool:
        """Whether this account can do it; one that cannot order all jobs orders none."""
        if self._account is None:
            self._account = account_at(self._scheduler)
        if self._account.orders or action.kind == "set_nice":
            return self._account.orders
        owners = [job.user for job in self._scheduler.jobs([action.job_id])]
        return any(self._account.may(action.kind, owner) for owner in owners)

    def finish_interrupted(self, now: float) -> None:
        """Finish what was intended but not settled: after a crash, or an unreachable scheduler."""
        for record in self._store.actions(state="intended"):
            action = record.action
            found = self._scheduler.jobs([action.job_id])
            if not found:
                self._store.settle(action, "failed", at=now, note="the job is gone")
            elif _took_effect(action, found[0]):
                self._store.settle(action, "done", at=now, note="found done after a restart")
            elif (why := _too_late(action, found[0])) is not None:
                self._store.settle(action, "failed", at=now, note=why)
            else:
                self._do(action, now)

    def _do(self, action: Action, now: float) -> None:
        try:
            self._ask_scheduler(action)
        except SchedulerUnreachable as error:
            _log.warning("%s waits: %s", action.key, error)
        except (SchedulerError, NotFound) as error:
            self._store.settle(action, "failed", at=now, note=str(error))
        else:
            _log.info("%s: %s", action.key, action.why)
            self._store.settle(action, "done", at=now)

    def _ask_scheduler(self, action: Action) -> None:
        match action.kind:
            case "set_nice":
                self._scheduler.set_nice(action.job_id, int(action.value or 0))
            case "set_time_limit":
                self._scheduler.set_time_limit(action.job_id, action.value)
            case "requeue":
                self._scheduler.requeue(
                    action.job_id,
                    run=action.attempt,
                    exclude_nodes=action.exclude_nodes,
                    delay_s=action.delay_s,
                )
            case "cancel":
                self._scheduler.cancel(action.job_id)


def _took_effect(action: Action, job: Job) -> bool:
    """Whether the scheduler shows that the action was carried out before the crash."""
    if action.kind == "requeue":
        return job.restarts > action.attempt
    if action.kind == "cancel":
        return job.state is JobState.CANCELLED and job.restarts == action.attempt
    return False  # setting a value twice is the same as setting it once


def _too_late(action: Action, job: Job) -> str | None:
    """Why the action must not be carried out any more, None while it still may."""
    if job.restarts != action.attempt:
        return f"too late: attempt {action.attempt} is over"
    if job.state.ended and not (action.kind == "requeue" and job.state.failed):
        return f"too late: the job has ended, {job.state}"
    return None
