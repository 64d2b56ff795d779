"""The tasks of an array as one row of the queue: how many wait, run and have ended."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from schedmate.model import JobState, Spread, array_of
from schedmate.service.views.queue_row import QueueRow, queue_row, waits_in_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from schedmate.model import Job, JobId
    from schedmate.service.views.job_view import JobView
    from schedmate.service.views.sentences import Written

_STANDS_FOR_ALL = (
    JobState.RUNNING,
    JobState.PENDING,
    *(state for state in JobState if state.failed),
    JobState.CANCELLED,
    JobState.COMPLETED,
)
_MOST_RUNNING = 64
"""Tasks whose progress is looked up for one row."""


@dataclass(frozen=True, slots=True)
class Fold:
    """A job by itself, or all listed tasks of an array."""

    job: Job
    """The job; of several tasks one that stands for them, under the id of their array."""
    tasks: tuple[Job, ...] = ()

    @property
    def told_by(self) -> tuple[Job, ...]:
        """Those of its tasks that its row needs to be known of: what runs, and one that failed."""
        running = [job for job in self.tasks if job.state is JobState.RUNNING][:_MOST_RUNNING]
        failed = [job for job in self.tasks if job.state.failed][:1]
        return (*running, *failed)


def fold_tasks(jobs: Sequence[Job]) -> list[Fold]:
    """In the given order, an array where its first task stands."""
    groups: dict[JobId, list[Job]] = {}
    for job in jobs:
        groups.setdefault(array_of(job.id) or job.id, []).append(job)
    return [
        Fold(those[0])
        if len(those) == those[0].tasks == 1
        else Fold(_standing_for(whole, those), tuple(those))
        for whole, those in groups.items()
    ]


def _standing_for(whole: JobId, jobs: Sequence[Job]) -> Job:
    states = {job.state for job in jobs}
    state = next(state for state in _STANDS_FOR_ALL if state in states)
    started = [job.start_time for job in jobs if job.start_time is not None]
    ended = [job.end_time for job in jobs if job.end_time is not None]
    return replace(
        next(job for job in jobs if job.state is state),
        id=whole,
        tasks=sum(job.tasks for job in jobs),
        restarts=0,
        start_time=min(started, default=None),
        end_time=max(ended, default=None) if state.ended else None,
        nodes=tuple(node for job in jobs if job.state is JobState.RUNNING for node in job.nodes),
        logs=(),
        held=all(job.held for job in jobs),
    )


def named_apart(views: Sequence[JobView]) -> list[JobView]:
    """With tasks of an array that run commands of their own named after what is their own."""
    tasks: dict[JobId, list[Job]] = {}
    for view in views:
        if (array := array_of(view.job.id)) is not None and view.job.tasks == 1:
            tasks.setdefault(array, []).append(view.job)
    names = {name: words for those in tasks.values() for name, words in _own_words(those)}
    return [
        replace(view, job=replace(view.job, name=names.get(view.job.id) or view.job.name))
        for view in views
    ]


def _own_words(jobs: Sequence[Job]) -> Iterator[tuple[JobId, str]]:
    """`lr=1e-4 seed=2` of a sweep; of other commands what follows their common beginning."""
    commands = [job.command for job in jobs]
    differ = [len(set(words)) > 1 for words in zip(*commands, strict=False)]
    is_sweep = len(set(map(len, commands))) == 1
    first = differ.index(True) if True in differ else len(differ)
    for job in jobs:
        own = [_with_its_option(job.command, at) for at, found in enumerate(differ) if found]
        yield job.id, " ".join(own if is_sweep else job.command[first:])


def _with_its_option(words: Sequence[str], at: int) -> str:
    option = words[at - 1] if at else ""
    return f"{option[2:]}={words[at]}" if option.startswith("--") else words[at]


def count_states(jobs: Iterable[Job]) -> Counter[JobState]:
    counts: Counter[JobState] = Counter()
    for job in jobs:
        counts[job.state] += job.tasks
    return counts


def in_words(counts: Counter[JobState]) -> str:
    return ", ".join(
        f"{counts[state]} {state.lower()}" for state in _STANDS_FOR_ALL if counts[state]
    )


def folded_row(
    fold: Fold, view: JobView, told: Sequence[JobView], now: float, written: Written
) -> QueueRow:
    """`view` is of the job that stands for all, `told` are those of `told_by`."""
    rows = [queue_row(view, now, written) for view in told]
    running = [row for row in rows if row.view.job.state is JobState.RUNNING]
    failed = next((row for row in rows if row.view.job.state.failed and row.note), None)
    warned = next((row for row in running if row.note_kind == "warning"), None)
    counts, tasks = count_states(fold.tasks), sum(job.tasks for job in fold.tasks)
    ended = sum(count for state, count in counts.items() if state.ended)
    note = f"{tasks} tasks: {in_words(counts)}"
    shown = warned or failed
    if shown is not None:
        note += f"; {shown.view.job.id}: {shown.note}"
    elif waits := waits_in_words(view, now, written):
        note += f"; {waits}"
    known = sum(row.fraction or 0.0 for row in running)
    own = queue_row(view, now, written)
    return replace(
        own,
        fraction=(ended + known) / tasks,
        left_s=_last_end([row.left_s for row in running])
        if ended + len(running) == tasks
        else None,
        note=note,
        note_kind="" if shown is None else shown.note_kind,
    )


def _last_end(left: Sequence[Spread | None]) -> Spread | None:
    known = [one for one in left if one is not None]
    if not known or len(known) < len(left):
        return None
    return Spread(*(max(getattr(one, name) for one in known) for name in ("p10", "p50", "p90")))
