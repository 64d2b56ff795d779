"""Who uses how much of the site, over time and now, and what its failures are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from schedmate.model import JobState
from schedmate.service.views.run_window import DAY_S

if TYPE_CHECKING:
    from schedmate.service.views.job_view import JobView
    from schedmate.store import RunSummary

MOST_GROUPS: Final = 5
UNDIAGNOSED: Final = "not diagnosed"
OTHERS: Final = "others"
OF_OTHERS: Final = "of other users"


@dataclass(frozen=True, slots=True)
class Use:
    """A run that has ended or goes on: who, how much, from when to when."""

    user: str
    partition: str
    amount: int
    begin: float
    end: float


@dataclass(frozen=True, slots=True, kw_only=True)
class UseOverTime:
    """What was in use in each interval on average, one row a group, the largest first."""

    begin: float
    step_s: float
    rows: tuple[tuple[str, tuple[float, ...]], ...]
    counts_jobs: bool
    """No job asked for GPUs: running jobs are counted."""


@dataclass(slots=True, kw_only=True)
class Load:
    """Of one user or one partition, or of all, now."""

    name: str
    running: int = 0
    gpus_running: int = 0
    pending: int = 0
    gpus_pending: int = 0
    longest_wait_s: float = 0.0
    gpu_hours: float = 0.0
    """Of the runs in the window, those that go on included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailuresOverTime:
    begin: float
    step_s: float
    rows: tuple[tuple[str, tuple[int, ...]], ...]
    """Failures with this reason in each interval, the most frequent first."""
    ended: tuple[int, ...]
    """All runs that ended in each interval."""


def uses(runs: Iterable[RunSummary], views: Iterable[JobView], now: float) -> list[Use]:
    ended = [
        Use(run.user, run.partition, run.gpus, run.started_at, run.ended_at)
        for run in runs
        if run.started_at is not None
    ]
    running = [
        Use(job.user, job.request.partition or "", job.request.gpus, job.start_time, now)
        for job in (view.job for view in views)
        if job.state is JobState.RUNNING and job.start_time is not None
    ]
    return ended + running


def use_over_time(
    found: Sequence[Use], now: float, *, hours: float, bins: int, by: Callable[[Use], str]
) -> UseOverTime:
    counts_jobs = not any(use.amount for use in found)
    begin, step_s = now - hours * 3600, hours * 3600 / bins
    totals: dict[str, list[float]] = defaultdict(lambda: [0.0] * bins)
    changes: dict[str, list[float]] = defaultdict(lambda: [0.0] * (bins + 1))
    for use in found:
        name, amount = by(use), 1 if counts_jobs else use.amount
        left, right = max(0.0, (use.begin - begin) / step_s), min(bins, (use.end - begin) / step_s)
        if right <= left:
            continue
        row, first, last = totals[name], int(left), min(bins - 1, int(right))
        if first == last:
            row[first] += amount * (right - left)
            continue
        row[first] += amount * (first + 1 - left)
        row[last] += amount * (right - last)
        changes[name][first + 1] += amount
        changes[name][last] -= amount
    for name, change in changes.items():
        whole = accumulate(change[:bins])
        totals[name] = [part + full for part, full in zip(totals[name], whole, strict=True)]
    rows = _largest({name: row for name, row in totals.items() if any(row)})
    return UseOverTime(begin=begin, step_s=step_s, rows=rows, counts_jobs=counts_jobs)


def loads(
    views: Iterable[JobView],
    found: Iterable[Use],
    *,
    since: float,
    now: float,
    by: Callable[[str, str], str],
) -> list[Load]:
    """`by` names the group of a user and a partition."""
    groups: dict[str, Load] = {}
    for view in views:
        job = view.job
        load = _load(groups, by(job.user, job.request.partition or ""))
        if job.state is JobState.RUNNING:
            load.running += 1
            load.gpus_running += job.request.gpus
        elif job.state is JobState.PENDING:
            load.pending += job.tasks
            load.gpus_pending += job.tasks * job.request.gpus
            load.longest_wait_s = max(load.longest_wait_s, now - job.submit_time)
    for use in found:
        if use.end >= since:
            load = _load(groups, by(use.user, use.partition))
            load.gpu_hours += use.amount * (use.end - max(use.begin, since)) / 3600
    return sorted(
        groups.values(), key=lambda one: (-one.gpus_running, -one.running, -one.gpu_hours)
    )


def failures_over_time(
    runs: Iterable[RunSummary], now: float, *, days: float, bins: int
) -> FailuresOverTime:
    begin, step_s = now - days * DAY_S, days * DAY_S / bins
    rows: dict[str, list[int]] = defaultdict(lambda: [0] * bins)
    ended = [0] * bins
    for run in runs:
        place = int((run.ended_at - begin) // step_s)
        if not 0 <= place < bins:
            continue
        ended[place] += 1
        if run.state.failed:
            rows[run.reason or UNDIAGNOSED][place] += 1
    ordered = sorted(rows.items(), key=lambda item: -sum(item[1]))
    return FailuresOverTime(
        begin=begin,
        step_s=step_s,
        rows=tuple((name, tuple(row)) for name, row in ordered),
        ended=tuple(ended),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureKind:
    """All failures of one reason."""

    reason: str
    count: int
    users: int
    """How many had it."""
    gpu_hours: float
    """That the failed runs had used."""
    newest: float


def without_reasons_of_others(runs: Iterable[RunSummary], user: str) -> list[RunSummary]:
    """That a run failed is shown to all, what of only to its owner."""
    return [
        run if run.user == user or not run.state.failed else replace(run, reason=OF_OTHERS)
        for run in runs
    ]


def failure_kinds(runs: Iterable[RunSummary]) -> list[FailureKind]:
    by_reason: dict[str, list[RunSummary]] = defaultdict(list)
    for run in runs:
        if run.state.failed:
            by_reason[run.reason or UNDIAGNOSED].append(run)
    kinds = (
        FailureKind(
            reason=reason,
            count=len(failed),
            users=len({run.user for run in failed}),
            gpu_hours=sum(run.gpus * (run.run_time_s or 0.0) / 3600 for run in failed),
            newest=max(run.ended_at for run in failed),
        )
        for reason, failed in by_reason.items()
    )
    return sorted(kinds, key=lambda kind: -kind.count)


def _load(groups: dict[str, Load], name: str) -> Load:
    if name not in groups:
        groups[name] = Load(name=name)
    return groups[name]


def _largest(rows: dict[str, list[float]]) -> tuple[tuple[str, tuple[float, ...]], ...]:
    ordered = sorted(rows.items(), key=lambda item: -sum(item[1]))
    shown = [(name, tuple(row)) for name, row in ordered[:MOST_GROUPS]]
    rest = [row for _, row in ordered[MOST_GROUPS:]]
    if rest:
        shown.append((OTHERS, tuple(map(sum, zip(*rest, strict=True)))))
    return tuple(shown)
