"""Carries out what the decision engine wants, at most once, within what the site allows.

An action is written down before it is done, and settled when the scheduler shows what it was for:
what a scheduler was asked is not yet what it did. What takes longer than one call (a run that has
to be stopped first), and what a crash has left in between, the next looks go on with.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from schedmate.model import (
    Action,
    ActionKind,
    ActionState,
    Job,
    JobId,
    JobState,
    Mode,
    NotFound,
    PartlyKnown,
    SchedulerError,
    SchedulerUnreachable,
    array_of,
)
from schedmate.schedulers.base import (
    DrainsNodes,
    OrdersInBulk,
    PlansApart,
    RenewsDependencies,
    SharesGpus,
)
from schedmate.service.account import Account, account_at
from schedmate.service.action_outcomes import (
    gives_back,
    is_reached,
    outcome_of,
    outcome_of_requeue,
    refused,
)
from schedmate.service.hourly import ACTIONS_AN_HOUR, HourlyBound
from schedmate.service.met_jobs import met_jobs
from schedmate.service.node_actions import ActionOutcome, NodeActions, settle
from schedmate.service.preempting import Preemptions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from schedmate.schedulers.base import Scheduler
    from schedmate.store import Store

_ORDERS: frozenset[ActionKind] = frozenset({"set_nice", "set_time_limit", "set_time_min"})
_ALLOWED: dict[Mode, frozenset[ActionKind]] = {
    "observe": frozenset(),
    "assist": _ORDERS,
    "act": _ORDERS
    | {"requeue", "preempt", "share", "set_dependency", "cancel", "hold", "release", "drain"},
}
_log = logging.getLogger("schedmate.actions")


class Actions:
    def __init__(
        self,
        scheduler: Scheduler,
        store: Store,
        mode: Mode,
        *,
        an_hour: int = ACTIONS_AN_HOUR,
        paused: Callable[[], bool] = lambda: False,
    ) -> None:
        self._paused = paused
        self._scheduler = scheduler
        self._store = store
        self._mode = mode
        self._allowed = _ALLOWED[mode]
        self._hour = HourlyBound(store, an_hour)
        self._nodes = NodeActions(scheduler, store)
        self._preemptions = Preemptions(scheduler, store)
        self._bulk = scheduler if isinstance(scheduler, OrdersInBulk) else None
        self._asked: set[str] = set()
        self._objections: dict[str, str] = {}
        """What the scheduler answered to some that were asked for with others."""
        self._account: Account | None = None
        self._open: list[Action] = []
        """Held here, they are not read again in the next poll."""
        self._unwritten: list[tuple[Action, float, ActionState]] = []
        """Nice numbers that are asked for with others: written down together before that."""

    def carry_out(self, action: Action, now: float) -> None:
        """Do it unless it was done, begun or seen before; only write it down if not allowed.

        What came of it is found out by `finish_interrupted`, for all actions at once.
        """
        if not action.asks_the_scheduler:
            if self._store.intend(action, at=now, state="noted") and action.kind == "warn":
                _log.warning("job %s: %s", action.job_id, action.why, extra=action.about)
        elif action.kind == "set_nice" and self._refused_a_number(action):
            self._store.intend(action, at=now, state="noted")
        elif not self._is_allowed(action) or (may := self._may(action)) is False:
            self._write_with_others(action, now, "observed")
        elif self.waits_for_others(action):
            self._write_with_others(action, now, "intended")
        elif (self._store.intend(action, at=now) or self._failed_to_give_back(action)) and may:
            if action.kind == "set_nice" and self._paused():
                return  # the queue is put in order afterwards
            if self._hour.take(action, now):
                self._do(action, now)
            else:
                later = action.kind == "requeue"  # which waits for the next hour
                state: ActionState = "intended" if later else "failed"
                settle(self._store, action, ActionOutcome(state, self._hour.words), now)

    def obstacle(self, action: Action) -> str | None:
        """Why it would only be recorded, None where it would be carried out."""
        if not action.asks_the_scheduler:
            return ": there is nothing to do"
        if not self._is_allowed(action):
            return f" in mode {self._mode}"
        return ": this account may not do it" if self._may(action) is False else None

    def waits_for_others(self, action: Action) -> bool:
        """Whether it is asked for together with all of its kind, at the end of a look."""
        return action.kind == "set_nice" and self._bulk is not None

    def _write_with_others(self, action: Action, now: float, state: ActionState) -> None:
        if self.waits_for_others(action):
            self._unwritten.append((action, now, state))
        else:
            self._store.intend(action, at=now, state=state)

    def _write_down(self) -> None:
        """One transaction for all: each by itself would wait for the disk."""
        unwritten, self._unwritten = self._unwritten, []
        if unwritten:
            with self._store.together():
                for action, at, state in unwritten:
                    self._store.intend(action, at=at, state=state)

    def _is_allowed(self, action: Action) -> bool:
        """What we took from a job is given back in every mode, and during a pause."""
        if gives_back(action) and (action.kind == "release" or self._lowered(action)):
            return True
        return action.kind in self._allowed and (action.kind == "set_nice" or not self._paused())

    def _refused_a_number(self, action: Action) -> bool:
        """A number that did not take is noted once and not tried again in the same attempt."""
        records = self._store.actions(job_id=action.job_id, state="failed")
        about = [one.action for one in records if one.action.kind == "set_nice"]
        return any(one.attempt == action.attempt for one in about)

    def _lowered(self, back: Action) -> bool:
        ids = [one for one in (back.job_id, array_of(back.job_id)) if one is not None]
        records = [record for one in ids for record in self._store.actions(job_id=one)]
        return any(one.state in ("done", "intended") for one in records if _lowers(one.action))

    def _failed_to_give_back(self, action: Action) -> bool:
        """A run must not end by a limit of ours: what was refused once is asked for again."""
        records = self._store.actions(job_id=action.job_id, state="failed")
        return gives_back(action) and any(one.action.key == action.key for one in records)

    def forget(self, job_id: JobId) -> None:
        """Its number may be another job's next."""
        for key in [key for key in self._asked if key.startswith(f"{job_id}:")]:
            self._asked.discard(key)
            self._objections.pop(key, None)

    def withdraw_number(self, job_id: JobId, now: float) -> None:
        """A person has undone the job's place: a number that waits must not come after that."""
        self._write_down()
        for record in self._store.actions(job_id=job_id, state="intended"):
            if record.action.kind == "set_nice":
                outcome = ActionOutcome("noted", "undone by a person")
                settle(self._store, record.action, outcome, now)

    def note(self, action: Action, now: float) -> None:
        """Write down a decision that another one has replaced before it was carried out."""
        self._write_with_others(action, now, "noted")

    def see_through(self, action: Action, now: float) -> None:
        """Carry out one action and settle it, leaving all others to the daemon."""
        self.carry_out(action, now)
        self._write_down()
        self._order_in_bulk([one for one in self._intended() if one.key == action.key])
        if action.key in self._asked:
            self._settle_what_can_be([action], now)

    def _may(self, action: Action) -> bool | None:
        """Whether this account can do it, None while that cannot be asked.

        One that cannot order all jobs orders none.
        """
        try:
            if self._account is None:
                self._account = account_at(self._scheduler)
            if action.kind == "drain":
                return self._account.drains and isinstance(self._scheduler, DrainsNodes)
            if self._account.orders or action.kind == "set_nice":
                return self._account.orders
            owners = [job.user for job in self._scheduler.jobs([action.job_id])]
        except SchedulerUnreachable as error:
            _log.warning("%s waits: %s", action.key, error, extra=action.about)
            return None
        return any(self._account.may(action.kind, owner) for owner in owners)

    def finish_interrupted(self, now: float) -> None:
        """Settle what has been reached, and go on with what was intended but is not there yet."""
        self._write_down()
        intended = self._open = self._intended()
        self._nodes.settle([one for one in intended if one.kind == "drain"], now)
        intended = [one for one in intended if one.kind != "drain"]
        self._order_in_bulk(intended)
        begun = [
            one for one in intended if one.key in self._asked or not self.waits_for_others(one)
        ]
        still_open = self._settle_what_can_be(begun, now)
        again = [action for action, job in still_open if self._go_on(action, job, now)]
        self._settle_what_can_be(again, now)

    def _order_in_bulk(self, intended: Sequence[Action]) -> None:
        """As many as the scheduler takes now; of one job the newest number."""
        if self._bulk is None or self._paused():
            return
        newest = {one.job_id: one for one in intended if one.kind == "set_nice"}
        open_ones = {one.job_id: one for one in newest.values() if one.key not in self._asked}
        if not open_ones or not self._may(next(iter(open_ones.values()))):
            return
        try:
            asked = self._bulk.set_nices(
                {job_id: int(one.value or 0) for job_id, one in open_ones.items()}
            )
        except SchedulerUnreachable as error:
            _log.warning("%d nice numbers wait: %s", len(open_ones), error)
            return
        for one in intended:
            if one.kind == "set_nice" and one.job_id in asked:
                self._asked.add(one.key)
                self._objections[one.key] = asked[one.job_id]

    def _intended(self) -> list[Action]:
        return [record.action for record in self._store.actions(state="intended")]

    def _go_on(self, action: Action, job: Job, now: float) -> bool:
        if (
            self.waits_for_others(action)
            or action.key in self._asked
            or (self._paused() and not gives_back(action))
            or (may := self._may(action)) is None
        ):
            return False
        begun = job.restarts > action.attempt or job.held
        begun = begun or (action.kind == "preempt" and self._preemptions.is_begun(action))
        if may and not begun and not self._hour.take(action, now):
            return False
        if not may:
            settle(self._store, action, ActionOutcome("observed"), now)
        elif action.kind == "hold":
            # it may have been held and released by a person since: never hold twice
            outcome = ActionOutcome("failed", "interrupted; the job is not held")
            settle(self._store, action, outcome, now)
            return False
        return may and self._do(action, now)

    def _settle_what_can_be(
        self, actions: Sequence[Action], now: float
    ) -> list[tuple[Action, Job]]:
        """With one question about all of them; return those that stay open, with their jobs."""
        if not actions:
            return []
        jobs, missing = self._look(sorted({action.job_id for action in actions}))
        last = {(action.job_id, action.kind): action for action in actions}
        still_open, settled = [], []
        for action in actions:
            job, newer = jobs.get(action.job_id), last[action.job_id, action.kind]
            asked = action.key in self._asked
            outcome = missing if job is None else outcome_of(action, job, asked=asked)
            if job is not None and newer is not action and asked and is_reached(newer, job):
                outcome = ActionOutcome("done", "replaced at once")
            if outcome is not None:
                self._asked.discard(action.key)
                objection = self._objections.pop(action.key, "")
                note = objection if objection and outcome.state == "failed" else outcome.note
                settled.append((action, ActionOutcome(outcome.state, note)))
            elif job is not None:
                still_open.append((action, job))
        if settled:
            with self._store.together():
                for action, came in settled:
                    settle(self._store, action, came, now)
        return still_open

    def _look(self, ids: Sequence[JobId]) -> tuple[dict[JobId, Job], ActionOutcome | None]:
        """The jobs, and what follows for those that are not among them."""
        try:
            found = met_jobs(self._scheduler, self._store, ids)
        except PartlyKnown as error:
            return {job.id: job for job in error.found}, None
        return {job.id: job for job in found}, ActionOutcome("failed", "the job is gone")

    def _do(self, action: Action, now: float) -> bool:
        """Whether the scheduler was asked for all of it."""
        if action.kind == "drain":
            self._nodes.drain(action, now)
            return False
        try:
            finished = self._ask_scheduler(action, now)
        except SchedulerUnreachable as error:
            _log.warning("%s waits: %s", action.key, error, extra=action.about)
            return False
        except (SchedulerError, NotFound) as error:
            outcome = self._in_spite_of(action) or refused(action, error)
            settle(self._store, action, outcome, now)
            return False
        if finished:
            self._asked.add(action.key)
        return finished

    def _in_spite_of(self, action: Action) -> ActionOutcome | None:
        """What became of a requeue that was refused: the run may have been stopped, queued again
        and started since the last look."""
        if action.kind not in ("requeue", "preempt"):
            return None
        jobs, _ = self._look([action.job_id])
        job = jobs.get(action.job_id)
        if job is None or job.restarts != action.attempt + 1 or job.state is JobState.PENDING:
            return None
        return outcome_of_requeue(action, job, asked=True)

    def _refuse_another_run(self, action: Action) -> None:
        in_vain = action.reason is not None and action.reason.code == "doomed"
        if in_vain and not is_in_attempt(self._scheduler, action.job_id, action.attempt):
            raise SchedulerError("too late: it has been queued again, or is over")

    def _ask_scheduler(self, action: Action, now: float) -> bool:
        scheduler, job_id = self._scheduler, action.job_id
        match action.kind:
            case "preempt":
                return self._preemptions.go_on(action, now)
            case "requeue":
                return scheduler.requeue(
                    job_id,
                    run=action.attempt,
                    exclude_nodes=action.exclude_nodes,
                    delay_s=action.delay_s,
                )
            case "set_nice":
                scheduler.set_nice(job_id, int(action.value or 0))
            case "set_time_limit":
                scheduler.set_time_limit(job_id, action.value)
            case "cancel" | "hold" | "release":
                self._refuse_another_run(action)
                plain = {
                    "cancel": scheduler.cancel,
                    "hold": scheduler.hold,
                    "release": scheduler.release,
                }
                plain[action.kind](job_id)
            case _:
                _ask_in_particular(scheduler, action)
        return True


def is_in_attempt(scheduler: Scheduler, job_id: JobId, attempt: int) -> bool:
    """Whether the run that is meant goes on: its owner may have queued the job again just now."""
    found = scheduler.jobs([job_id])
    return any((one.state, one.restarts) == (JobState.RUNNING, attempt) for one in found)


def _ask_in_particular(scheduler: Scheduler, action: Action) -> None:
    """For what not every scheduler can do."""
    if action.kind == "set_time_min" and isinstance(scheduler, PlansApart):
        scheduler.set_time_min(action.job_id, action.value)
    elif action.kind == "set_dependency" and isinstance(scheduler, RenewsDependencies):
        scheduler.set_dependency(action.job_id, action.dependency)
    elif action.kind == "share" and isinstance(scheduler, SharesGpus):
        scheduler.set_shards(action.job_id, int(action.value or 0))


def _lowers(action: Action) -> bool:
    return action.reason is not None and action.reason.code == "limit_from_prediction"
