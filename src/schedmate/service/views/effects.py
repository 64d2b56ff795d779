"""What came of SchedMate's actions: retries that succeeded, and waiting that moved between users.

Waiting is an estimate. A run that started before another one which was submitted earlier, in the
same partition, and which SchedMate had set back further, overtook it because of SchedMate. On
machines that are busy all the time the first has then gained what the second takes of them, and the
second lost what the first took: GPUs times run time over the GPUs in use at most. Other factors of
a scheduler's priority are not known for the past and count for nothing.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from schedmate.model import JobState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from schedmate.model import ActionRecord, Job, JobId, ReasonCode
    from schedmate.store import DoneAction, RunSummary, Store

EFFECT_DAYS = 7.0
_DAY_S, _HOUR_S = 86_400.0, 3600.0
_MOST_COMPARED = 4000
"""Runs of one partition, the newest ones: each is compared with each."""
_ROWS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """Of the last `days` days."""

    days: float = EFFECT_DAYS
    retries: int = 0
    """Runs that SchedMate queued again after they failed or hung."""
    retries_ended: int = 0
    retries_succeeded: int = 0
    """Of those that have ended: completed."""
    rerun_gpu_hours: float = 0.0
    """That the runs after a retry have used, those that still run included."""
    compared: int = 0
    """Ended runs whose waiting was compared."""
    overtaken: int = 0
    """Pairs of which one started before the other because of SchedMate's order."""
    gained_hours: float = 0.0
    """Estimate: by which runs waited less than in the order of submission."""
    lost_hours: float = 0.0
    """Estimate: by which others waited longer."""
    users_gained: int = 0
    """Users whose runs together waited less."""
    users_lost: int = 0
    carried_on: int = 0
    """Runs that were queued again before their limit, to go on from their last checkpoint."""
    doomed: int = 0
    """Runs of which was stated that they go on for nothing, ..."""
    doomed_stopped: int = 0
    """... those of them that SchedMate stopped, ..."""
    doomed_ended: int = 0
    """... and those that a person then cancelled."""
    saved_gpu_hours: float = 0.0
    """Estimate: what runs that were stopped or cancelled then would have taken, to their end by
    their own pace or to their limit."""
    saved_waiting_hours: float = 0.0
    """Estimate: by which the jobs that waited for these GPUs then waited less, where each gets its
    part of them."""

    @property
    def succeeded_share(self) -> float | None:
        return self.retries_succeeded / self.retries_ended if self.retries_ended else None


@dataclass(slots=True)
class _Moved:
    """Hours of waiting by user."""

    compared: int = 0
    overtaken: int = 0
    gained: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    lost: dict[str, float] = field(default_factory=lambda: defaultdict(float))


def effects_of(store: Store, now: float) -> Effects:
    since = now - EFFECT_DAYS * _DAY_S
    done = store.done_actions(since=since)
    runs = store.run_summaries(since=since)
    records = store.actions(since=since)
    carried = {_run_after(one) for one in records if _has_code(one, "carried_on") and one.done}
    retries = {(one.job_id, one.attempt + 1) for one in done if one.kind == "requeue"} - carried
    after = [run for run in runs if (run.job_id, run.attempt) in retries]
    moved = _moved(runs, _numbers(done))
    vain = _in_vain([one for one in records if _has_code(one, "doomed")], runs)
    net = [moved.gained[user] - moved.lost[user] for user in moved.gained]
    return Effects(
        retries=len(retries),
        retries_ended=len(after),
        retries_succeeded=sum(run.state is JobState.COMPLETED for run in after),
        rerun_gpu_hours=_gpu_hours(after) + _gpu_hours_so_far(store.listed_jobs(), retries, now),
        compared=moved.compared,
        overtaken=moved.overtaken,
        gained_hours=sum(moved.gained.values()),
        lost_hours=sum(moved.lost.values()),
        users_gained=sum(hours > 0 for hours in net),
        users_lost=sum(hours < 0 for hours in net),
        carried_on=len(carried),
        doomed=vain.stated,
        doomed_stopped=vain.stopped,
        doomed_ended=vain.ended,
        saved_gpu_hours=vain.gpu_hours,
        saved_waiting_hours=vain.waiting_hours,
    )


@dataclass(slots=True)
class _InVain:
    stated: int = 0
    stopped: int = 0
    ended: int = 0
    gpu_hours: float = 0.0
    waiting_hours: float = 0.0


def _in_vain(about: Iterable[ActionRecord], runs: Sequence[RunSummary]) -> _InVain:
    """Of runs that go on for nothing; one that a person cancelled saved what was left then."""
    ended = {
        (run.job_id, run.attempt): run.ended_at for run in runs if run.state is JobState.CANCELLED
    }
    found, stops = _InVain(), {}
    for record in about:
        key = record.action.job_id, record.action.attempt
        if record.action.failure == "repeated":
            continue  # which it may well survive
        if key not in stops or record.action.kind == "cancel":
            stops[key] = record
    found.stated = len(stops)
    for key, record in stops.items():
        reason, stopped = record.action.reason, record.action.kind == "cancel" and record.done
        found.stopped += stopped
        found.ended += not stopped and key in ended
        if reason is None or reason.left_s is None or not (stopped or key in ended):
            continue
        later_s = 0.0 if stopped else max(0.0, ended[key] - record.at)
        hours = reason.gpus * max(0.0, reason.left_s - later_s) / _HOUR_S
        found.gpu_hours += hours
        if reason.waiting_gpus:
            found.waiting_hours += hours * reason.waiting / max(reason.waiting_gpus, reason.gpus)
    return found


def _has_code(record: ActionRecord, code: ReasonCode) -> bool:
    return record.action.reason is not None and record.action.reason.code == code


def _run_after(record: ActionRecord) -> tuple[JobId, int]:
    return record.action.job_id, record.action.attempt + 1


def _gpu_hours(runs: Iterable[RunSummary]) -> float:
    return sum(run.gpus * (run.run_time_s or 0.0) for run in runs) / _HOUR_S


def _gpu_hours_so_far(listed: Iterable[Job], retries: set[tuple[JobId, int]], now: float) -> float:
    running = (
        job for job in listed if job.state is JobState.RUNNING and (job.id, job.restarts) in retries
    )
    return (
        sum(
            job.request.gpus * max(0.0, now - job.start_time)
            for job in running
            if job.start_time is not None
        )
        / _HOUR_S
    )


def _numbers(done: Iterable[DoneAction]) -> dict[JobId, float]:
    """The last nice number that each job was given for its first run."""
    return {
        one.job_id: one.value or 0.0 for one in done if one.kind == "set_nice" and one.attempt == 0
    }


def _moved(runs: Sequence[RunSummary], numbers: Mapping[JobId, float]) -> _Moved:
    """Retries are left out: a scheduler may count their wait from the retry on."""
    partitions: dict[str, list[RunSummary]] = defaultdict(list)
    for run in runs:
        if run.attempt == 0 and run.started_at is not None:
            partitions[run.partition].append(run)
    moved = _Moved()
    for found in partitions.values():
        if any(run.job_id in numbers for run in found):
            _add_moved(moved, found[-_MOST_COMPARED:], numbers)
    return moved


def _add_moved(moved: _Moved, runs: Sequence[RunSummary], numbers: Mapping[JobId, float]) -> None:
    import numpy as np  # noqa: PLC0415 - slow to import, and few ask for it

    submitted = np.array([run.submitted_at for run in runs])
    started = np.array([run.started_at or 0.0 for run in runs])
    back = np.array([numbers.get(run.job_id, 0.0) for run in runs])
    hours = np.array([max(1, run.gpus) * (run.run_time_s or 0.0) for run in runs]) / _HOUR_S
    hours /= _most_in_use(runs)
    gained, lost = np.zeros(len(runs)), np.zeros(len(runs))
    for begin in range(0, len(runs), _ROWS):
        some = slice(begin, begin + _ROWS)
        ahead = (
            (submitted[some, None] > submitted)
            & (started[some, None] < started)
            & (back[some, None] < back)
        )
        moved.overtaken += int(ahead.sum())
        gained[some] += ahead @ hours
        lost += hours[some] @ ahead
    moved.compared += len(runs)
    for run, more, less in zip(runs, gained, lost, strict=True):
        moved.gained[run.user] += float(more)
        moved.lost[run.user] += float(less)


def _most_in_use(runs: Sequence[RunSummary]) -> int:
    """GPUs at once; a run without any counts as one."""
    steps = sorted(
        step
        for run in runs
        for size in (max(1, run.gpus),)
        for step in ((run.started_at or 0.0, size), (run.ended_at, -size))
    )
    most = used = 0
    for _, change in steps:
        used += change
        most = max(most, used)
    return max(1, most)
