"""What came of an action, by what the scheduler shows of its job. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.model import JobState, NotFound
from schedmate.model.job import awaited_in
from schedmate.service.node_actions import ActionOutcome

if TYPE_CHECKING:
    from schedmate.model import Action, Job

_GIVE_BACK = (
    *("limit_too_short", "limit_unattended", "hold_unattended"),
    *("others_started", "others_did_not_start"),
)
_MINUTE_S = 60.0
"""Schedulers count limits in whole minutes."""


def outcome_of(action: Action, job: Job, *, asked: bool) -> ActionOutcome | None:
    """What the scheduler shows of an action, None while it has not come to an end.

    `asked`: the scheduler took all of it since this daemon began.
    """
    if action.kind in ("requeue", "preempt"):
        return outcome_of_requeue(action, job, asked=asked)
    if is_reached(action, job):
        return ActionOutcome("done")
    if asked and action.kind == "release" and gives_back(action):
        return ActionOutcome("intended", "the job is still held")
    if asked and action.kind != "cancel":
        return _too_late(action, job) or ActionOutcome("failed", _shortfall(action, job))
    return _too_late(action, job)


def gives_back(action: Action) -> bool:
    """Whether it takes back what was done to a job: that is never left undone."""
    return action.reason is not None and action.reason.code in _GIVE_BACK


def refused(action: Action, error: Exception) -> ActionOutcome:
    """What follows where the scheduler does not want it: a job of ours does not stay held."""
    again = action.kind == "release" and gives_back(action) and not isinstance(error, NotFound)
    return ActionOutcome("intended" if again else "failed", str(error))


def is_reached(action: Action, job: Job) -> bool:
    match action.kind:
        case "set_nice":
            return job.nice == action.value
        case "set_time_limit" | "set_time_min":
            asked, lower = job.request.time_limit_s, job.request.time_min_s
            return _same_limit(asked if action.kind == "set_time_limit" else lower, action.value)
        case "set_dependency":
            return not any(one.state == "failed" for one in awaited_in(job.dependency))
        case "share":
            return job.request.shards == action.value
        case "hold" | "release":
            return job.held is (action.kind == "hold")
        case _:
            return job.state is JobState.CANCELLED and job.restarts == action.attempt


def _shortfall(action: Action, job: Job) -> str:
    """What a scheduler did that was asked, raised no objection and changed nothing."""
    if action.kind == "set_nice":
        return f"priority was set by hand: nice stays {job.nice}"
    if action.kind in ("hold", "release"):
        return f"the job is {'still held' if job.held else 'not held'}"
    if action.kind == "set_dependency":
        return f"its dependency stays {job.dependency}"
    if action.kind == "share":
        return f"it asks for {job.request.shards} parts of a GPU all the same"
    if action.kind == "set_time_min":
        return f"TimeMin stays {job.request.time_min_s} s"
    return f"the limit stays {job.request.time_limit_s} s"


def outcome_of_requeue(action: Action, job: Job, *, asked: bool) -> ActionOutcome | None:
    if job.restarts <= action.attempt:
        return None if asked else _too_late(action, job)
    waits = job.state is JobState.PENDING and job.restarts == action.attempt + 1
    if waits and not asked:
        return None
    missing = [node for node in action.exclude_nodes if node not in job.request.exclude_nodes]
    if waits and action.kind == "preempt" and not job.held:
        return ActionOutcome("done", "it was released since")
    if missing:
        words = f"it was queued again, but not kept from {', '.join(missing)}"
        return ActionOutcome("failed", words)
    return ActionOutcome("done")


def _same_limit(shown: float | None, wanted: float | None) -> bool:
    if shown is None or wanted is None:
        return shown is wanted
    return abs(shown - wanted) < _MINUTE_S


def _too_late(action: Action, job: Job) -> ActionOutcome | None:
    """Why the action must not be carried out any more, None while it still may."""
    if job.restarts != action.attempt:
        return ActionOutcome("failed", f"too late: attempt {action.attempt} is over")
    if action.kind == "share" and job.state is not JobState.PENDING:
        return ActionOutcome("failed", "too late: it has started")
    if job.state.ended and not (action.kind == "requeue" and job.state.failed):
        return ActionOutcome("failed", f"too late: the job has ended, {job.state}")
    return None
