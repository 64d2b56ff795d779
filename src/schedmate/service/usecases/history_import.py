"""Past jobs into the history: what a scheduler still knows, or a table, each with its code.

Runs are kept first and get their code one after the other, so that an import that is interrupted
has lost nothing and the next one reads only what is missing.
"""

from __future__ import annotations

import math
import time
from collections import Counter, OrderedDict
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from schedmate import config
from schedmate.disk.database import storable
from schedmate.model import PastRun, SchedMateError
from schedmate.model.job import split_command_line
from schedmate.schedulers.base import KeepsHistory, Scheduler
from schedmate.service.usecases.code_reading import ReadCode, Unread, target_of
from schedmate.service.usecases.history_pages import Pages
from schedmate.service.visibility import viewer_of
from schedmate.service.wiring import open_scheduler, open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from schedmate.advisor import Target
    from schedmate.config import Settings
    from schedmate.model import History, Job, JobId
    from schedmate.service.usecases.reading_pool import ReadingTask
    from schedmate.store import Store

    OnProgress = Callable[[int, int], None]
    _Waiting = tuple[PastRun, Target | None]

DEFAULT_WORKERS = 2
DEFAULT_SPAN_S = 2 * 365 * 86_400.0
_FEWEST_RUNS = 20
_RECENT_S, _MOST_RECENT = 600.0, 200
"""So long after its end a controller has the script of a job; so many are asked for in a page."""
_MOST_READINGS = 2000
_KEEP_EVERY_S = 1.0


class PagedScheduler(Scheduler, KeepsHistory, Protocol):
    """One that remembers years of jobs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedHistory:
    """`code_read` counts runs whose code was read now, `code_known` those known before."""

    runs: int
    code_read: int = 0
    code_known: int = 0
    unread: dict[str, int] = field(default_factory=dict)
    """How many runs stay without their code, by the reason; most frequent first."""

    def plus(self, other: ImportedHistory) -> ImportedHistory:
        unread = Counter(self.unread)
        unread.update(other.unread)
        return ImportedHistory(
            runs=self.runs + other.runs,
            code_read=self.code_read + other.code_read,
            code_known=self.code_known + other.code_known,
            unread=dict(unread.most_common()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportSpan:
    """Runs that ended in it are imported, those that were imported before only `again`."""

    since: float | None = None
    until: float | None = None
    again: bool = False
    on_page: Callable[[float, int], None] | None = None
    """Called with the fraction of the time and the number of runs that are behind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeOptions:
    """How the code of imported runs is read; `read=False` leaves it out."""

    read: bool = True
    again: bool = True
    """Also of runs that are remembered without."""
    workers: int = DEFAULT_WORKERS
    on_progress: OnProgress | None = None


def import_scheduler(
    settings: Settings,
    name: str,
    code: CodeOptions | None = None,
    span: ImportSpan | None = None,
) -> ImportedHistory:
    """Remember the jobs of a scheduler that have ended; `span` where it keeps years of them."""
    own = config.changed(settings, [f"scheduler={name}"])
    scheduler, viewer = open_scheduler(own), viewer_of(own)
    options, chosen = code or CodeOptions(), span or ImportSpan()
    with closing(open_store(own)) as store:
        if isinstance(scheduler, KeepsHistory):
            user = None if viewer.operator else viewer.user
            return _import_pages(own, scheduler, store, chosen, options=options, user=user)
        until = math.inf if chosen.until is None else chosen.until
        ended = [
            job
            for job in scheduler.jobs()
            if job.state.ended and (job.end_time or 0.0) <= until and viewer.may_read(job.user)
        ]
        return _keep_ended(store, partial(_targets, scheduler), ended, options)


def _import_pages(
    settings: Settings,
    scheduler: PagedScheduler,
    store: Store,
    span: ImportSpan,
    *,
    options: CodeOptions,
    user: str | None,
) -> ImportedHistory:
    until = time.time() if span.until is None else span.until
    since = until - DEFAULT_SPAN_S if span.since is None else span.since
    pages = Pages(settings.state_dir / "imported.json", scheduler, store)
    total, readings = ImportedHistory(runs=0), Readings()
    for page in pages.read(since, until, user=user, again=span.again):
        lines = {(run.job.id, run.job.restarts): run.submit_line for run in page.runs}
        targets = partial(_paged_targets, scheduler, lines)
        jobs = [run.job for run in page.runs]
        total = total.plus(_keep_ended(store, targets, jobs, options, readings))
        if span.on_page is not None:
            span.on_page(page.fraction, total.runs)
    return total


def import_table(
    settings: Settings,
    runs: Iterable[PastRun],
    source: str,
    code: CodeOptions | None = None,
    started_by: Callable[[Job], Target | None] = target_of,
) -> ImportedHistory:
    """Remember rows of a table, apart from the jobs of the scheduler in use: ids may clash."""
    rows, options = list(runs), code or CodeOptions()
    with closing(open_store(settings, of=source_of_table(source))) as store:
        known = store.attempts_with_code()
        new = [run for run in rows if not _is_in(run.job, known)]
        store.keep_runs(new)
        _keep_corrected(store, [run for run in rows if _is_in(run.job, known)])
        waiting = [(run, started_by(run.job)) for run in new] if options.read else []
        read, unread = _read_codes(store, waiting, options)
    return ImportedHistory(
        runs=len(rows), code_read=read, code_known=len(rows) - len(new), unread=unread
    )


def source_of_table(name: str) -> str:
    """What the store calls a table."""
    return f"table:{storable(Path(name).name)}"


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


def catch_up(settings: Settings, until: float | None = None) -> None:
    """Remember what ended on the local scheduler while no daemon was there to see it.

    A prediction needs it; an error here must not stop a submission. What is predicted for a job of
    that time must not know its own end.
    """
    if settings.scheduler == "local":
        with suppress(SchedMateError, OSError):
            code, span = CodeOptions(workers=0, again=False), ImportSpan(until=until)
            import_scheduler(settings, "local", code, span)


def _keep_ended(
    store: Store,
    targets: Callable[[Sequence[PastRun]], Iterable[_Waiting]],
    ended: Sequence[Job],
    options: CodeOptions,
    readings: Readings | None = None,
) -> ImportedHistory:
    """Advice that was kept when a job was submitted holds its code; else that is read now."""
    ended = store.meet(ended)
    known, new = _parted(store, ended)
    with_code = [run for run in known if run.fingerprint is not None]
    remembered = [run for run in known if run.fingerprint is None]
    again = remembered if options.again else []
    advised = [run for run in map(partial(_as_advised, store), (*again, *new)) if run is not None]
    store.keep_runs([_with_profile(run) for run in advised])
    unread = [run for run in (*again, *new) if not _is_in(run.job, _attempts(advised))]
    store.keep_runs([run for run in new if not _is_in(run.job, _attempts(advised))])
    waiting: Iterable[_Waiting]
    waiting = targets(unread) if options.read else [(run, None) for run in unread]
    read, reasons = _read_codes(store, waiting, options, finish=_with_profile, readings=readings)
    return ImportedHistory(
        runs=len(ended),
        code_read=read + len(advised),
        code_known=len(with_code),
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
    from schedmate.service.records.run_record import read_ended

    if run.profile is not None:
        return run
    return replace(run, profile=read_ended(run.job, run.workload).profile)


def _targets(scheduler: Scheduler, runs: Sequence[PastRun]) -> Iterator[_Waiting]:
    for run in runs:
        text: str | None = None
        with suppress(SchedMateError, OSError):
            text = scheduler.script(run.job.id)
        yield run, target_of(run.job, text)


def _paged_targets(
    scheduler: PagedScheduler,
    lines: Mapping[tuple[JobId, int], str],
    runs: Sequence[PastRun],
) -> Iterator[_Waiting]:
    """By the scripts that accounting has, else by those of jobs that have only just ended."""
    scripts = scheduler.stored_scripts([run.job.id for run in runs])
    recent, asked = time.time() - _RECENT_S, 0
    for run in runs:
        job = run.job
        text = scripts.get(job.id)
        if text is None and (job.end_time or 0.0) > recent and asked < _MOST_RECENT:
            asked += 1
            with suppress(SchedMateError, OSError):
                text = scheduler.script(job.id)
        command = job.command or split_command_line(lines.get((job.id, job.restarts), ""))
        yield run, target_of(replace(job, command=command), text)


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
    readings: Readings | None = None,
) -> tuple[int, dict[str, int]]:
    """How many runs got their code, and how many did not for which reason.

    The code of the newest runs is read first: it is what the next jobs resemble.
    """
    from schedmate.service.usecases.reading_pool import ReadingTask

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
        for number, answer in _read_once(tasks, options.workers, readings):
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


class Readings:
    """The newest results of one import: a page after the other may have runs of the same code."""

    def __init__(self) -> None:
        self._known: OrderedDict[Target, ReadCode | Unread] = OrderedDict()

    def get(self, target: Target) -> ReadCode | Unread | None:
        return self._known.get(target)

    def keep(self, target: Target, answer: ReadCode | Unread) -> None:
        self._known[target] = answer
        if len(self._known) > _MOST_READINGS:
            self._known.popitem(last=False)


def _read_once(
    tasks: Sequence[ReadingTask], workers: int, readings: Readings | None
) -> Iterator[tuple[int, ReadCode | Unread]]:
    from schedmate.service.usecases.reading_pool import read_all

    readings, unread = readings or Readings(), []
    for number, task in enumerate(tasks):
        known = readings.get(task.target)
        if known is None:
            unread.append(number)
        else:
            yield number, known
    for place, answer in read_all([tasks[number] for number in unread], workers=workers):
        readings.keep(tasks[unread[place]].target, answer)
        yield unread[place], answer


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
