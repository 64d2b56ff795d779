"""Undoing what was done to jobs and nodes, as far as it still can be.

Only what is still as SchedMate left it is undone: what a person has changed since is theirs. A job
whose place, limit or hold was undone is left alone from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from schedmate.core import JobReverted, MadeWay, hold_phase
from schedmate.model import (
    Action,
    ActionKind,
    DecisionReason,
    JobId,
    JobState,
    NotFound,
    PartlyKnown,
    SchedMateError,
    SchedulerUnreachable,
)
from schedmate.model.action import Reverted
from schedmate.schedulers.base import DrainsNodes, ExcludesNodes, PlansApart, SharesGpus
from schedmate.service.met_jobs import met_jobs
from schedmate.service.node_actions import drain_reason
from schedmate.service.records.event_log import leave_for_daemon

if TYPE_CHECKING:
    from schedmate.model import ActionRecord, Job
    from schedmate.model.action import RevertOutcome
    from schedmate.schedulers.base import Scheduler
    from schedmate.store import Store

_WHY = "undone by a person"


@dataclass(frozen=True, slots=True)
class _Step:
    """What would undo one action, and the action that is written down for it."""

    action: Action
    text: str
    do: Callable[[], None]


@dataclass(frozen=True, slots=True)
class _Obstacle:
    action: Action
    text: str


def revert(
    scheduler: Scheduler,
    store: Store,
    *,
    now: float,
    job_id: JobId | None = None,
    since: float = 0.0,
    dry_run: bool = False,
) -> list[Reverted]:
    """All that was done since then, of one job or of all jobs and nodes."""
    known = store.actions(job_id=job_id)
    if job_id is not None and not known and not _is_known(scheduler, store, job_id):
        raise NotFound(f"neither {scheduler.name} nor the history knows a job {job_id}")
    jobs = {job.id: job for job in _look(scheduler, store, _done(known, since))}
    # without what was done to other jobs that had a number of these
    records = _done(store.actions(job_id=job_id), since)
    by_job: dict[JobId, list[ActionRecord]] = {}
    for record in records:
        by_job.setdefault(record.action.job_id, []).append(record)
    drains = by_job.pop("", [])
    steps: list[_Step | _Obstacle] = []
    for one, done in by_job.items():
        job = jobs.get(one)
        if job is not None and not _is_reverted(done):
            steps += _of_job(scheduler, job, done)
    steps += _of_nodes(scheduler, drains)
    return [_carried_out(one, store, now, dry_run=dry_run) for one in steps]


def is_revertible(scheduler: Scheduler, job: Job, records: Iterable[ActionRecord]) -> bool:
    """Whether anything that was done to this job could be undone; nothing is asked for it."""
    done = [one for one in records if one.state == "done" and one.action.asks_the_scheduler]
    if not done or _is_reverted(done):
        return False
    return any(isinstance(step, _Step) for step in _of_job(scheduler, job, done))


def _done(records: Iterable[ActionRecord], since: float) -> list[ActionRecord]:
    return [
        one
        for one in records
        if one.state == "done" and one.at >= since and one.action.asks_the_scheduler
    ]


def _look(scheduler: Scheduler, store: Store, records: Iterable[ActionRecord]) -> Iterable[Job]:
    ids = sorted({one.action.job_id for one in records if one.action.job_id})
    try:
        return met_jobs(scheduler, store, ids) if ids else []
    except PartlyKnown as error:  # accounting is away: what waits or runs is known all the same
        return error.found


def _is_known(scheduler: Scheduler, store: Store, job_id: JobId) -> bool:
    return store.run(job_id) is not None or bool(scheduler.jobs([job_id]))


def _is_reverted(records: Iterable[ActionRecord]) -> bool:
    codes = [one.action.reason.code for one in records if one.action.reason is not None]
    return "reverted" in codes[-1:]


def _carried_out(step: _Step | _Obstacle, store: Store, now: float, *, dry_run: bool) -> Reverted:
    action, text = step.action, step.text
    outcome: RevertOutcome = "cannot"
    if isinstance(step, _Step) and dry_run:
        outcome = "would_undo"
    elif isinstance(step, _Step):
        if action.job_id:
            # before it is done: a daemon must not take it for an act of the job's owner
            leave_for_daemon(store, JobReverted(now, action.job_id))
        try:
            step.do()
        except SchedulerUnreachable:
            raise
        except SchedMateError as error:
            text = f"{text}: {error}"
        else:
            outcome = "undone"
            store.intend(action, at=now)
            store.settle(action, "done", at=now)
    return Reverted(
        job_id=action.job_id, node=action.node, kind=action.kind, outcome=outcome, text=text
    )


def _of_job(
    scheduler: Scheduler, job: Job, records: list[ActionRecord]
) -> Iterator[_Step | _Obstacle]:
    if job.state.ended:
        stops = [one.action for one in records if one.action.kind == "cancel"]
        if stops and job.state is JobState.CANCELLED:
            yield _Obstacle(stops[-1], "it was stopped: its run does not come back")
        return
    last = {one.action.kind: one.action for one in records}
    if "set_nice" in last:
        yield from _of_nice(scheduler, job, last["set_nice"])
    lowered = [
        one.action
        for one in records
        if one.action.reason is not None and one.action.reason.code == "limit_from_prediction"
    ]
    if lowered:
        yield from _of_limit(scheduler, job, lowered[-1])
    if "set_time_min" in last:
        yield from _of_plan(scheduler, job, last["set_time_min"])
    if "share" in last:
        yield from _of_parts(scheduler, job, last["share"])
    if hold_phase(records, held=job.held) == "ours":
        yield _Step(_undoing(job, "release"), "released", partial(scheduler.release, job.id))
    if job.held and MadeWay.of(records, job).held is not None:
        yield _Step(_undoing(job, "release"), "released", partial(scheduler.release, job.id))
    requeues = [one.action for one in records if one.action.kind in ("requeue", "preempt")]
    if requeues:
        yield from _of_requeues(scheduler, job, requeues)


def _of_nice(scheduler: Scheduler, job: Job, done: Action) -> Iterator[_Step | _Obstacle]:
    ours = int(done.value or 0)
    if job.state is not JobState.PENDING:
        yield _Obstacle(done, "it has started: its nice number has done what it could")
    elif job.nice != ours:
        yield _Obstacle(done, f"its nice number is {job.nice} now: changed since, left as it is")
    elif ours != (own := 0 if done.reason is None else done.reason.own_nice):
        action = _undoing(job, "set_nice", value=float(own), own_nice=own)
        kept = f", its owner's own {own} restored" if own else ""
        undo = partial(scheduler.set_nice, job.id, own)
        yield _Step(action, f"nice {ours} taken back{kept}", undo)


def _of_limit(scheduler: Scheduler, job: Job, done: Action) -> Iterator[_Step | _Obstacle]:
    asked = None if done.reason is None else done.reason.user_limit_s
    shown, ours = job.request.time_limit_s, done.value
    if shown is not None and ours is not None and abs(shown - ours) < 60:  # noqa: PLR2004
        action = _undoing(job, "set_time_limit", value=asked)
        undo = partial(scheduler.set_time_limit, job.id, asked)
        yield _Step(action, "its user's time limit restored", undo)


def _of_plan(scheduler: Scheduler, job: Job, done: Action) -> Iterator[_Step | _Obstacle]:
    if job.state is not JobState.PENDING or job.request.time_min_s != done.value:
        return
    if isinstance(scheduler, PlansApart):
        undo = partial(scheduler.set_time_min, job.id, None)
        yield _Step(_undoing(job, "set_time_min"), "TimeMin taken back", undo)


def _of_parts(scheduler: Scheduler, job: Job, done: Action) -> Iterator[_Step | _Obstacle]:
    asked = 0 if done.reason is None else done.reason.shards
    if not asked or job.request.shards != done.value or not isinstance(scheduler, SharesGpus):
        return
    if job.state is not JobState.PENDING:
        yield _Obstacle(done, "it has started: what it has of a GPU can be changed only before")
        return
    undo = partial(scheduler.set_shards, job.id, asked)
    action = _undoing(job, "share", value=float(asked))
    yield _Step(action, f"it asks for {asked} parts of a GPU again", undo)


def _of_requeues(
    scheduler: Scheduler, job: Job, requeues: list[Action]
) -> Iterator[_Step | _Obstacle]:
    waits = ", the new one takes place unless the job is cancelled"
    text = "it was queued again: its earlier run does not come back"
    yield _Obstacle(requeues[-1], text + (waits if job.state is JobState.PENDING else ""))
    ours = {node for one in requeues for node in one.exclude_nodes}
    shown = job.request.exclude_nodes
    if not ours & set(shown) or not isinstance(scheduler, ExcludesNodes):
        return
    words = f"excluded nodes {', '.join(sorted(ours & set(shown)))}"
    if job.state is not JobState.PENDING:
        yield _Obstacle(requeues[-1], f"{words}: they can be changed only while it waits")
        return
    rest = [node for node in shown if node not in ours]
    # the number of the run tells this record from others of the same job
    action = _undoing(job, "requeue", value=float(job.restarts))
    yield _Step(action, f"{words} taken back", partial(scheduler.set_excluded, job.id, rest))


def _of_nodes(scheduler: Scheduler, records: list[ActionRecord]) -> Iterator[_Step | _Obstacle]:
    newest = {one.action.node: one.action for one in records}
    for node, done in newest.items():
        reverted = done.reason is not None and done.reason.code == "reverted"
        if reverted or not isinstance(scheduler, DrainsNodes):
            continue
        reason = DecisionReason(code="reverted")
        action = Action(
            kind="drain", job_id="", attempt=0, why=_WHY, reason=reason, value=done.value, node=node
        )
        yield _Step(action, "resumed", partial(scheduler.resume, node, drain_reason(done)))


def _undoing(
    job: Job, kind: ActionKind, *, value: float | None = None, own_nice: int = 0
) -> Action:
    reason = DecisionReason(code="reverted", own_nice=own_nice)
    return Action(
        kind=kind, job_id=job.id, attempt=job.restarts, why=_WHY, reason=reason, value=value
    )
