"""Past jobs into the history: what a scheduler still knows, or a table, each with its code.

Runs are kept first and get their code one after the other, so that an import that is interrupted
has lost nothing and the next one reads only what is missing.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate import config
from schedmate.model import PastRun, SchedMateError
from schedmate.model.job import split_command_line
from schedmate.schedulers.base import RemembersSubmissions
from schedmate.service.usecases.code_reading import ReadCode, Unread, target_of
from schedmate.service.visibility import viewer_of
from schedmate.service.wiring import open_scheduler, open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from schedmate.advisor import Target
    from schedmate.config import Settings
    from schedmate.model import History, Job, JobId
    from schedmate.schedulers.base import Scheduler
    from schedmate.store import Store

    OnProgress = Callable[[int, int], None]
    _Waiting = tuple[PastRun, Target | None]

DEFAULT_WORKERS = 2
_FEWEST_RUNS = 20
_KEEP_EVERY_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedHistory:
    """`code_read` counts runs whose code was read now, `code_known` those known before."""

    runs: int
    code_read: int = 0
    code_known: int = 0
    unread: dict[str, int] = field(default_factory=dict)
    """How many runs stay without their code, by the reason; most frequent first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeOptions:
    """How the code of imported runs is read; `read=False` leaves it out."""

    read: bool = True
    again: bool = True
    """Also of runs that are remembered without."""
    workers: int = DEFAULT_WORKERS
    on_progress: OnProgress | None = None


def import_scheduler(
    settings: Settings, name: str, code: CodeOptions | None = None
) -> ImportedHistory:
    """Remember the jobs of a scheduler that have ended."""
    own = config.changed(settings, [f"scheduler={name}"])
    scheduler, viewer = open_scheduler(own), viewer_of(own)
    ended = [job for job in scheduler.jobs() if job.state.ended and viewer.may_read(job.user)]
    with closing(open_store(own)) as store:
        return _keep_ended(store, scheduler, ended, code or CodeOptions())


def import_table(
    settings: Settings, runs: Iterable[PastRun], source: str, code: CodeOptions | None = None
) -> ImportedHistory:
    """Remember rows of a table, apart from the jobs of the scheduler in use: ids may clash."""
    rows, options = list(runs), code or CodeOptions()
    with closing(open_store(settings, of=source_of_table(source))) as store:
        known = store.attempts_with_code()
        new = [run for run in rows if not _is_in(run.job, known)]
        store.keep_runs(new)
        _keep_corrected(store, [run for run in rows if _is_in(run.job, known)])
        waiting = [(run, target_of(run.job)) for run in new] if options.read else []
        read, unread = _read_codes(store, waiting, options)
    return ImportedHistory(
        runs=len(rows), code_read=read, code_known=len(rows) - len(new), unread=unread
    )


def source_of_table(name: str) -> str:
    """What the store calls a table."""
    return f"table:{Path(name).name}"


def learn_from_history(settings: Settings) -> None:
    """So that the next prediction uses what was imported; only an operator sees all of it."""
    if not viewer_of(settings).operator:
        return
    with closing(open_store(settings)) as store:
        learn_from(store, at=time.time())


def learn_from(history: History, *, at: float) -> None:
    """Train the site model on it, unless it has too few runs."""
    from schedmate.advisor.predict.site_model import learn

    if len(history.recent_runs(limit=_FEWEST_RUNS)) == _FEWEST_RUNS:
        learn(history, at=at)


def catch_up(settings: Settings) -> None:
    """Remember what ended on the local scheduler while no daemon was there to see it.

    A prediction needs it; an error here must not stop a submission.
    """
    if settings.scheduler == "local":
        with suppress(SchedMateError, OSError):
            import_scheduler(settings, "local", CodeOptions(workers=0, again=False))


def _keep_ended(
    store: Store, scheduler: Scheduler, ended: Sequence[Job], options: CodeOptions
) -> ImportedHistory:
    """Advice that was kept when a job was submitted holds its code; else that is read now."""
    with_code = store.attempts_with_code()
    remembered, new = _parted(store, [job for job in ended if not _is_in(job, with_code)])
    again = remembered if options.again else []
    advised = [run for run in map(partial(_as_advised, store), (*again, *new)) if run is not None]
    store.keep_runs([_with_profile(run) for run in advised])
    unread = [run for run in (*again, *new) if not _is_in(run.job, _attempts(advised))]
    store.keep_runs([run for run in new if not _is_in(run.job, _attempts(advised))])
    waiting: Iterable[_Waiting]
    waiting = _targets(scheduler, unread) if options.read else [(run, None) for run in unread]
    read, reasons = _read_codes(store, waiting, options, finish=_with_profile)
    return ImportedHistory(
        runs=len(ended),
        code_read=read + len(advised),
        code_known=sum(_is_in(job, with_code) for job in ended),
        unread=reasons,
    )


def _parted(store: Store, jobs: Sequence[Job]) -> tuple[list[PastRun], list[PastRun]]:
    """Their runs that are remembered, and those that are new."""
    kept = [(job, store.run(job.id, job.restarts)) for job in jobs]
    remembered = [run for _, run in kept if run is not None]
    return remembered, [PastRun(job=job) for job, run in kept if run is None]


def _attempts(runs: Iterable[PastRun]) -> set[tuple[JobId, int]]:
    return {(run.job.id, run.job.restarts) for run in runs}


def _is_in(job: Job, attempts: Collection[tuple[JobId, int]]) -> bool:
    return (job.id, job.restarts) in attempts


def _as_advised(store: Store, run: PastRun) -> PastRun | None:
    kept = store.advice(run.job.id)
    if kept is None or kept.fingerprint is None:
        return None
    return replace(run, fingerprint=kept.fingerprint, workload=kept.advice.workload)


def _with_profile(run: PastRun) -> PastRun:
    from schedmate.service.records.run_record import profile_of_ended

    if run.profile is not None:
        return run
    return replace(run, profile=profile_of_ended(run.job, run.workload))


def _targets(scheduler: Scheduler, runs: Sequence[PastRun]) -> Iterator[_Waiting]:
    lines: Mapping[JobId, str] = {}
    if isinstance(scheduler, RemembersSubmissions):
        lines = scheduler.submit_lines([run.job.id for run in runs if not run.job.command])
    for run in runs:
        text: str | None = None
        with suppress(SchedMateError, OSError):
            text = scheduler.script(run.job.id)
        command = run.job.command or split_command_line(lines.get(run.job.id, ""))
        yield run, target_of(replace(run.job, command=command), text)


def _keep_corrected(store: Store, runs: Sequence[PastRun]) -> None:
    """A row that has changed since the last import; what was read of its code stays."""
    kept = [(run, store.run(run.job.id, run.job.restarts)) for run in runs]
    store.keep_runs(
        [replace(old, job=run.job) for run, old in kept if old is not None and old.job != run.job]
    )


def _read_codes(
    store: Store,
    waiting: Iterable[_Waiting],
    options: CodeOptions,
    finish: Callable[[PastRun], PastRun] = lambda run: run,
) -> tuple[int, dict[str, int]]:
    """How many runs got their code, and how many did not for which reason.

    The code of the newest runs is read first: it is what the next jobs resemble.
    """
    from schedmate.service.usecases.reading_pool import ReadingTask, read_all

    keeper = _Keeper(store, finish)
    runs_of: dict[Target, list[PastRun]] = {}
    try:
        for run, target in waiting:
            if target is None or run.job.start_time is None:
                keeper.add(run, run)
            else:
                runs_of.setdefault(target, []).append(run)
        groups = sorted(runs_of.items(), key=lambda group: -max(map(_started, group[1])))
        tasks = [ReadingTask(target, min(map(_started, runs))) for target, runs in groups]
        total, done, reasons = sum(len(runs) for _, runs in groups), 0, Counter[str]()
        for number, answer in read_all(tasks, workers=options.workers):
            for run in groups[number][1]:
                found = _unless_changed(answer, run)
                if isinstance(found, Unread):
                    reasons[found.value] += 1
                    keeper.add(run, run)
                else:
                    read = replace(run, fingerprint=found.fingerprint, workload=found.workload)
                    keeper.add(run, read)
                done += 1
            if options.on_progress is not None:
                options.on_progress(done, total)
    finally:  # also of what an interrupted import has read
        keeper.flush()
    return total - reasons.total(), dict(reasons.most_common())


def _started(run: PastRun) -> float:
    return run.job.start_time or run.job.submit_time


def _unless_changed(answer: ReadCode | Unread, run: PastRun) -> ReadCode | Unread:
    if isinstance(answer, ReadCode) and not answer.ran_at(_started(run)):
        return Unread.CHANGED
    return answer


class _Keeper:
    """Stores runs that have changed, many in one transaction and none much later than read."""

    def __init__(self, store: Store, finish: Callable[[PastRun], PastRun]) -> None:
        self._store = store
        self._finish = finish
        self._unkept: list[PastRun] = []
        self._kept_at = time.monotonic()

    def add(self, before: PastRun, now: PastRun) -> None:
        finished = self._finish(now)
        if finished != before:
            self._unkept.append(finished)
        if time.monotonic() - self._kept_at > _KEEP_EVERY_S:
            self.flush()

    def flush(self) -> None:
        unkept, self._unkept = self._unkept, []
        self._store.keep_runs(unkept)
        self._kept_at = time.monotonic()
