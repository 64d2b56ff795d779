"""`schedmate history`"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from schedmate.cli._common import console, duration, echo, json_option, print_json, verb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from schedmate.config import Settings
    from schedmate.model import PastRun
    from schedmate.service.usecases.history_import import ImportedHistory
    from schedmate.simulator.traces.base import Trace


@click.group(
    epilog="\b\nExamples:\n  schedmate history import local\n  schedmate history import trace.csv"
    "\n  schedmate history list -u alice --json\n  schedmate history show 12"
)
def command() -> None:
    """Past jobs: what predictions are made from. Each verb has --json."""


@verb(
    name="import",
    examples="""
schedmate history import local
schedmate history import slurm
schedmate history import slurm --since 2024-01-01
schedmate history import trace.csv.gz --json
schedmate history import trace.csv --no-code
""",
)
@click.argument("source")
@click.option("--no-code", is_flag=True, help="Do not read the code of the runs.")
@click.option(
    "--workers",
    default=2,
    show_default=True,
    type=click.IntRange(min=1, max=64),
    help="How many processes read code.",
)
@click.option("--since", metavar="DATE", help="slurm: what ended then or later; default: 730d.")
@click.option("--until", metavar="DATE", help="slurm: what ended before; default: now.")
@click.option("--again", is_flag=True, help="slurm: also what an earlier import has read.")
@json_option
def import_verb(
    source: str,
    no_code: bool,
    workers: int,
    *,
    since: str | None,
    until: str | None,
    again: bool,
    as_json: bool,
) -> None:
    """Remember past jobs from SOURCE.

    SOURCE is a scheduler (local, slurm: its jobs that have ended, as far as it or its accounting
    still knows them) or a table of jobs (CSV or Parquet with job_id, user, submit_time,
    duration, gpus). A DATE is 2024-12-31, 2024-12-31T12:00 or a number of days ago, 90d. An
    import from slurm that was stopped goes on where it was.
    Code that is still where a run had it, unchanged since, is read with its owner's rights, so
    that the next job of the same code is recognised. Importing the same again reads only the code
    that is missing.
    """
    from schedmate import config
    from schedmate.service.usecases.history_import import (
        CodeOptions,
        ImportSpan,
        import_scheduler,
        import_table,
        learn_from_history,
    )
    from schedmate.simulator.traces.finished import to_past_run

    if source != "slurm" and (since or until or again):
        raise click.UsageError("--since, --until and --again are for the import from slurm")
    settings = config.load()
    with _bar() as (on_progress, on_page):
        code = CodeOptions(read=not no_code, workers=workers, on_progress=on_progress)
        if source in ("local", "slurm"):
            span = ImportSpan(
                since=time_of("--since", since),
                until=time_of("--until", until),
                again=again,
                on_page=on_page,
            )
            imported = import_scheduler(settings, source, code, span)
        else:
            runs = map(to_past_run, read_table(source).jobs)
            imported = import_table(settings, runs, source, code)
    if imported.runs > imported.code_known:  # else there is nothing new in it
        learn_from_history(settings)
    if as_json:
        counted = {name: getattr(imported, name) for name in _COUNTED}
        print_json({"schema": "schedmate.imported/1", "source": source, **counted})
    else:
        echo(_summary(imported, source), err=True)


def time_of(flag: str, text: str | None) -> float | None:
    import time
    from datetime import datetime

    if text is None:
        return None
    days = text.removesuffix("d")
    if days != text and days.isdecimal():
        return time.time() - 86_400 * int(days[:6])
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        raise click.UsageError(
            f"{flag} wants a date like 2024-12-31, or 90d, not {text!r}"
        ) from None


_COUNTED = ("runs", "code_read", "code_known", "unread")


def _summary(imported: ImportedHistory, source: str) -> str:
    parts = [f"{imported.runs} runs are remembered from {source}"]
    if imported.code_read:
        parts.append(f"code read for {imported.code_read}")
    if imported.code_known:
        parts.append(f"code known before for {imported.code_known}")
    return "; ".join([*parts, *unread_words(imported)])


def unread_words(imported: ImportedHistory) -> list[str]:
    """Of how many runs the code could not be read, and why."""
    if not imported.unread:
        return []
    reasons = ", ".join(f"{count} {why}" for why, count in imported.unread.items())
    return [f"no code for {sum(imported.unread.values())} ({reasons})"]


@contextmanager
def _bar() -> Iterator[tuple[Callable[[int, int], None], Callable[[float, int], None]]]:
    """How much of the code, and of the time in accounting, has been read, for people who watch."""
    from rich.progress import Progress, TextColumn, TimeRemainingColumn

    talk = console(stderr=True)
    counted = TextColumn("{task.fields[counted]}")
    columns = (*Progress.get_default_columns()[:2], counted, TimeRemainingColumn())
    with Progress(*columns, console=talk, transient=True, disable=not talk.is_terminal) as bar:
        pages = bar.add_task("reading accounting", total=1.0, visible=False, counted="")
        code = bar.add_task("reading code", total=None, visible=False, counted="")

        def on_progress(done: int, total: int) -> None:
            shown = f"{done}/{total}"
            bar.update(code, completed=done, total=total, visible=True, counted=shown)

        def on_page(fraction: float, runs: int) -> None:
            bar.update(pages, completed=fraction, visible=True, counted=f"{runs} runs")

        yield on_progress, on_page


def read_table(source: str) -> Trace:
    """Its usable rows; says how many are of no use."""
    from pathlib import Path

    from schedmate.simulator import read_trace

    trace = read_trace(Path(source))
    if trace.bad_rows:
        echo(
            f"{len(trace.bad_rows)} rows are left out, the first one {trace.bad_rows[0]}", err=True
        )
    for why, count in trace.left_out.items():
        echo(f"{count} rows are left out: they {why}", err=True)
    return trace


@verb(
    name="list",
    examples="""
schedmate history list
schedmate history list -u alice --limit 5 --json
""",
)
@click.option("-u", "--user", help="Only runs of this user.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(min=1))
@json_option
def list_verb(user: str | None, limit: int, as_json: bool) -> None:
    """The newest runs first."""
    from schedmate import config
    from schedmate.cli._site import asked
    from schedmate.model.wire import to_json
    from schedmate.service.visibility import viewer_of
    from schedmate.service.wiring import open_store

    settings = config.load()
    sees = viewer_of(settings)
    runs = asked(
        settings,
        lambda client: client.history(user=user or "", limit=limit),
        lambda: [sees.run(run) for run in open_store(settings).recent_runs(user=user, limit=limit)],
    )
    if as_json:
        print_json({"schema": "schedmate.history/1", "runs": [to_json(run) for run in runs]})
    elif not runs:
        echo("nothing is remembered yet", err=True)
    else:
        _show_runs(list(runs))


def _show_runs(runs: list[PastRun]) -> None:
    from schedmate.cli._console import cell
    from schedmate.cli._table import Column, fitted_table

    columns = (
        *(Column("JOBID"), Column("USER", cut=10), Column("NAME", cut=16), Column("STATE")),
        *(Column("RAN", number=True), Column("GPUS", number=True, spared=1)),
    )
    rows = []
    for run in runs:
        job = run.job
        shown = (job.id, job.user, job.name, job.state.value)
        rows.append((*map(cell, shown), duration(job.run_time_s), str(job.request.gpus)))
    screen = console()
    screen.print(fitted_table(columns, rows, screen.width))


@verb(
    name="show",
    examples="""
schedmate history show 12
schedmate history show 101 --from trace.csv --json
""",
)
@click.argument("job_id", metavar="ID")
@click.option("--from", "source", metavar="SOURCE", help="The scheduler or table that has it.")
@json_option
def show_verb(job_id: str, source: str | None, as_json: bool) -> None:
    """One remembered run: what it was, how long it took, how it ended.

    Where an id occurs more than once, the job of the scheduler in use is shown, else the newest.
    """
    from schedmate.model.wire import to_json

    run, others = _run_of(job_id, source)
    if others:
        also = " and ".join(others)
        echo(f"job {job_id} is also in {also}; --from {others[0]} shows that one", err=True)
    if as_json:
        print_json({"schema": "schedmate.run/1", **to_json(run)})
        return
    job = run.job
    echo(f"job {job.id}  {job.name}  {job.state}  ran {duration(job.run_time_s)}")
    for name, found in to_json(run.workload).items():
        if found is not None:
            echo(f"  {name:<22} {found['value']}")


def _run_of(job_id: str, source: str | None) -> tuple[PastRun, list[str]]:
    """The run, and the other sources that have a job of this id."""
    from schedmate import config

    settings = config.load()
    if source is None and settings.server:
        from schedmate.cli._site import asked

        return asked(
            settings,
            lambda client: (client.past_run(job_id), []),
            lambda: _run_here(settings, job_id, source),
        )
    return _run_here(settings, job_id, source)


def _run_here(settings: Settings, job_id: str, source: str | None) -> tuple[PastRun, list[str]]:
    from contextlib import closing

    from schedmate.model import NotFound
    from schedmate.service.usecases.history_import import source_of_table
    from schedmate.service.visibility import viewer_of
    from schedmate.service.wiring import open_store

    with closing(open_store(settings)) as store:
        known = list(store.sources_of(job_id))
    names = {name.removeprefix("table:"): name for name in known}
    if source is not None:
        wanted = {source, source_of_table(source)}
        names = {short: name for short, name in names.items() if name in wanted}
    own: str = settings.scheduler
    chosen = own if own in names.values() else next(iter(names.values()), None)
    if chosen is None:
        where = "the history" if source is None else f"{source}, as far as it is imported,"
        raise NotFound(f"{where} has no job {job_id}; schedmate history list shows what there is")
    with closing(open_store(settings, of=chosen)) as store:
        run = store.run(job_id)
    if run is None:
        raise NotFound(f"job {job_id} has just been removed from the history")
    shown = viewer_of(settings).run(run)
    return shown, [short for short, name in names.items() if name != chosen]


for _verb in (import_verb, list_verb, show_verb):
    command.add_command(_verb)
