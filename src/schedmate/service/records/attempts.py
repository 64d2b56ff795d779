"""How the attempts of a job went, from what was kept of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from schedmate.core import Attempt, Hung, MadeWay, NiceHistory, Past, Reached, hold_phase
from schedmate.model import array_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.model import Action, ActionRecord, Job, PastRun
    from schedmate.store import KeptProgress, Store

_UNDER_WAY = ("done", "intended")
_CLOCKS_S = 60.0
"""How far the scheduler's clock may be behind."""


def past_of(job: Job, store: Store) -> Past:
    """What an engine that was not there should know of a job."""
    array = array_of(job.id)
    of_array = [] if array is None else store.actions(job_id=array)  # its tasks were one job then
    records = [*of_array, *store.actions(job_id=job.id)]
    limits = [
        one.action
        for one in records
        if one.action.kind == "set_time_limit" and one.state in _UNDER_WAY
    ]
    raised = [one.reason.user_limit_s for one in limits if one.reason and _extends(one)]
    limits = [one for one in limits if not _extends(one)]
    ours = limits[-1] if limits else None
    asked = None if ours is None or ours.reason is None else ours.reason.user_limit_s
    return Past(
        attempts=attempts_before(job, store) if job.restarts else {},
        nice=NiceHistory.of(records, job.restarts),
        user_limit_s=asked,
        our_limit_s=None if asked is None or ours is None else ours.value,
        hold=hold_phase(records, held=job.held),
        left_for=_left_for(records, job.restarts),
        planned=any(one.action.kind == "set_time_min" for one in records),
        waited_s=_waited_s(records, job),
        retried=any(_made(one, job) for one in records),
        reverted=any(_reverted(one) for one in records),
        carried=frozenset(one.action.attempt for one in records if _carries_on(one)),
        spared=frozenset(one.action.attempt for one in records if _spares(one)),
        asked_limit_s=raised[0] if raised else None,
        made_way=MadeWay.of(records, job),
        parted=any(_parts(one) for one in records),
    )


def _waited_s(records: Sequence[ActionRecord], job: Job) -> float:
    """Its waits for runs that we queued again, where the scheduler counts from the requeue on."""
    ours = [
        one
        for one in records
        if one.action.kind in ("requeue", "preempt")
        and one.state in _UNDER_WAY
        and one.action.attempt < job.restarts
    ]
    last = ours[-1] if ours else None
    if last is None or last.action.reason is None or job.submit_time < last.at - _CLOCKS_S:
        return 0.0
    return last.action.reason.waited_s


def _made(record: ActionRecord, job: Job) -> bool:
    """Whether this is the action that made its present run."""
    action = record.action
    ours = action.kind == "requeue" and record.state in _UNDER_WAY
    return ours and action.attempt == job.restarts - 1


def _extends(action: Action) -> bool:
    return action.reason is not None and action.reason.code == "limit_extended"


def _carries_on(record: ActionRecord) -> bool:
    """Whether a run that was well was queued again before its limit."""
    reason = record.action.reason
    return reason is not None and reason.code == "carried_on" and record.state in _UNDER_WAY


def _parts(record: ActionRecord) -> bool:
    """Whether a run was queued again because it was slow beside another one."""
    reason, ours = record.action.reason, record.action.kind == "requeue"
    under_way = ours and record.state in _UNDER_WAY
    return under_way and reason is not None and reason.code == "slow_beside"


def _spares(record: ActionRecord) -> bool:
    """Whether a run that was well was queued again, for others or to go on."""
    made_way = record.action.kind == "preempt" and record.state in _UNDER_WAY
    return made_way or _carries_on(record) or _parts(record)


def _reverted(record: ActionRecord) -> bool:
    reason = record.action.reason
    return reason is not None and reason.code == "reverted" and record.state == "done"


def _left_for(records: Sequence[ActionRecord], attempt: int) -> str | None:
    """By the newest decision about this run."""
    failures = [one.action for one in records if one.action.kind in ("leave", "requeue")]
    last = next((one for one in reversed(failures) if one.attempt == attempt), None)
    return None if last is None or last.kind != "leave" else last.failure


def attempts_before(job: Job, store: Store) -> dict[int, Attempt]:
    """How the earlier attempts of a job went, as far as they were diagnosed."""
    kept = store.diagnoses(job.id)
    runs = {number: store.run(job.id, number) for number in kept if number < job.restarts}
    return {
        number: Attempt(
            diagnosis=kept[number],
            nodes=() if run is None else run.job.nodes,
            reached=Reached() if run is None else reached_by(run),
            hung=Hung() if run is None else None,  # it was diagnosed, and queued again as it ran
        )
        for number, run in runs.items()
    }


def reached_in(job: Job, store: Store) -> Reached:
    """How far this attempt came, or is where it still runs."""
    run = store.run(job.id, job.restarts)
    if run is not None:
        return reached_by(run)
    seen = store.progress(job.id, job.restarts)
    kept = store.advice(job.id)
    resumes = None if kept is None else kept.advice.workload.resumes
    reached = Reached() if seen is None else _so_far(seen)
    return replace(reached, resumes=None if resumes is None else resumes.value)


def reached_by(run: PastRun) -> Reached:
    resumes, profile = run.workload.resumes, run.profile
    counted = profile is not None and profile.unit == run.steps_unit and profile.curve
    return Reached(
        unit=run.steps_unit,
        began=profile.curve[0].done if profile is not None and counted else None,
        done=run.steps_done,
        saved=run.checkpoint_step,
        saves=run.checkpoint_step is not None,
        complete=run.complete,
        resumes=None if resumes is None else resumes.value,
    )


def _so_far(seen: KeptProgress) -> Reached:
    progress = seen.progress
    saved = None if progress.checkpoint is None else progress.checkpoint.step
    return Reached(
        unit=progress.unit,
        done=progress.current,
        saved=saved,
        saves=progress.checkpoint is not None,
        complete=progress.complete,
    )
