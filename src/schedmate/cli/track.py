"""`schedmate track`: how far a job is and when it ends, from its log."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from schedmate.cli._asking import LazyAsker
from schedmate.cli._common import console, json_option, no_llm_option, print_json, verb
from schedmate.cli._logs import check_names, standard_input

if TYPE_CHECKING:
    from schedmate.cli._follow import Follower, Looks
    from schedmate.model import Asker, Progress, RunProfile, Workload

EXAMPLES = """
schedmate track train.log
schedmate track slurm-17.out slurm-18.out --json
schedmate track --follow train.log
schedmate track --job logs/ train.err --epochs 90
schedmate track --like yesterday.log --limit 12:00:00 train.log
ssh node tail -c 1M train.log | schedmate track -
"""
_HUGE = 256 << 20


@verb(examples=EXAMPLES)
@click.argument("logs", metavar="LOG...", nargs=-1, required=True)
@click.option("--follow", "-f", is_flag=True, help="Go on until the run ends or Ctrl-C.")
@click.option(
    "--interval",
    type=click.FloatRange(min=0.05),
    default=0.5,
    show_default=True,
    help="Seconds between two looks with --follow.",
)
@click.option("--job", "one_job", is_flag=True, help="All LOGs are of one job: one answer.")
@click.option(
    "--like", "similar", multiple=True, metavar="LOG", help="A similar run that has ended."
)
@click.option("--limit", metavar="TIME", help="When the scheduler ends it: 90m, D-HH:MM:SS.")
@click.option("--epochs", type=click.FloatRange(min=0, min_open=True), help="Epochs it will run.")
@click.option("--steps", "--total", type=click.IntRange(min=1), help="Steps it will run.")
@json_option
@no_llm_option
def command(
    *,
    logs: tuple[str, ...],
    follow: bool,
    interval: float,
    one_job: bool,
    similar: tuple[str, ...],
    limit: str | None,
    epochs: float | None,
    steps: int | None,
    as_json: bool,
    no_llm: bool,
) -> None:
    """How far each LOG says its run is, how fast, and when it ends.

    A directory means all logs of one job, `-` reads standard input.
    """
    check_names(logs)
    known = _Known(
        workload=_workload(epochs, steps),
        similar=tuple(_profiles(similar)),
        limit_s=None if limit is None else _seconds(limit),
        asker=None if no_llm else LazyAsker(),
    )
    jobs = _jobs(logs, one_job=one_job)
    if follow:
        _follow(jobs, known, interval, _print_changes if as_json else _show_live)
        return
    for job in jobs:
        progress = _track(job, known)
        if as_json:
            print_json(progress)
        else:
            _print_line(progress)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What the user knows besides the log."""

    workload: Workload | None
    similar: tuple[RunProfile, ...]
    limit_s: float | None
    asker: Asker | None


def _workload(epochs: float | None, steps: int | None) -> Workload | None:
    from schedmate.model import Finding, Workload

    if epochs is None and steps is None:
        return None
    return Workload(
        epochs=None if epochs is None else Finding(value=epochs, source="cli"),
        max_steps=None if steps is None else Finding(value=steps, source="cli"),
    )


def _profiles(logs: Sequence[str]) -> Iterator[RunProfile]:
    from schedmate.model import BadInput
    from schedmate.tracker import profile_file

    for like in logs:
        profile = profile_file(Path(like))
        if profile is None:
            raise BadInput(f"{like} does not show how its run went; leave it out")
        yield profile


def _seconds(limit: str) -> float:
    from schedmate.advisor.interpret.shell.directives import slurm_seconds
    from schedmate.advisor.settle.time_caps import cap_seconds
    from schedmate.model import BadInput

    seconds = cap_seconds(limit, None) or slurm_seconds(limit)
    if not seconds:
        raise BadInput(f"--limit {limit} is no time; write 90m, 2h or what sbatch --time takes")
    return seconds


def _jobs(logs: Sequence[str], *, one_job: bool) -> list[tuple[str, ...]]:
    """The logs of each job: one each, a directory's together, or all of them."""
    from schedmate.logs import logs_at

    found = [
        tuple(str(path) for path in logs_at(Path(log))) if Path(log).is_dir() else (log,)
        for log in logs
    ]
    return [tuple(dict.fromkeys(log for job in found for log in job))] if one_job else found


def _track(job: Sequence[str], known: _Known) -> Progress:
    from schedmate.tracker import track_streams

    with ExitStack() as stack:
        streams = [(log, _open(log, stack)) for log in job]
        return track_streams(
            streams,
            workload=known.workload,
            similar=known.similar,
            limit_s=known.limit_s,
            asker=known.asker,
        )


def _open(log: str, stack: ExitStack) -> IO[bytes]:
    """A log; on a terminal reading a huge one shows how far it is."""
    from schedmate.tracker.tailing.full_read import open_log

    if log == "-":
        return standard_input()
    stream = stack.enter_context(open_log(Path(log)))
    size = Path(log).stat().st_size
    if size < _HUGE or not sys.stderr.isatty():
        return stream
    from rich.progress import wrap_file

    shown = wrap_file(stream, size, description=log, transient=True, console=console(stderr=True))
    return stack.enter_context(shown)


def _follow(
    jobs: Sequence[Sequence[str]], known: _Known, interval: float, show: Callable[[Looks], None]
) -> None:
    from schedmate.cli._follow import looks

    _check_that_they_grow(log for job in jobs for log in job)
    try:
        show(looks([_follower(job, known) for job in jobs], interval, known.asker))
    except KeyboardInterrupt:
        return


def _check_that_they_grow(logs: Iterable[str]) -> None:
    from schedmate.model import BadInput
    from schedmate.tracker.tailing.full_read import open_log

    for log in logs:
        if log == "-":
            raise BadInput("--follow needs a file; without it `-` reads standard input to its end")
        path = Path(log)
        if not path.exists() and path.parent.is_dir():
            click.echo(f"waiting for {log}", err=True)
        else:
            open_log(path).close()


def _follower(job: Sequence[str], known: _Known) -> Follower:
    from schedmate.cli._follow import Follower
    from schedmate.tracker import JobTracker

    paths = [Path(log) for log in job]
    tracker = JobTracker(
        paths, workload=known.workload, similar=known.similar, limit_s=known.limit_s
    )
    return Follower(paths, tracker)


def _print_changes(seen: Looks) -> None:
    from schedmate.cli._follow import changes

    for progress, _ in changes(seen):
        print_json(progress)


def _print_line(progress: Progress, silent_s: float | None = None) -> None:
    from schedmate.cli._progress import progress_line

    out = console()
    width = out.width if out.is_terminal else sys.maxsize
    line = progress_line(progress, width, bar=out.is_terminal, silent_s=silent_s)
    out.print(line, soft_wrap=True)


def _show_live(seen: Looks) -> None:
    """Redraw on a terminal; elsewhere print a line whenever something changed."""
    from rich.live import Live
    from rich.text import Text

    from schedmate.cli._follow import changes
    from schedmate.cli._progress import progress_line

    out = console()
    if not out.is_terminal:
        for progress, silent_s in changes(seen):
            _print_line(progress, silent_s)
        return

    with Live(console=out, auto_refresh=False) as live:
        for look in seen:
            lines = [progress_line(one, out.width, bar=True, silent_s=quiet) for one, quiet in look]
            live.update(Text("\n").join(lines), refresh=True)
