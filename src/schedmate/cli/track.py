"""`schedmate track`: how far a job is and when it ends, from its log."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from schedmate.cli._asking import PersonsAsker
from schedmate.cli._common import console, json_option, no_llm_option, print_json, verb
from schedmate.cli._logs import check_names, standard_input

if TYPE_CHECKING:
    from rich.console import Console

    from schedmate.cli._follow import Followed, Looks
    from schedmate.cli._followed_job import JobFollower
    from schedmate.cli._look import Look
    from schedmate.logs.file_times import WrittenSpan
    from schedmate.model import Asker, RunProfile, Workload
    from schedmate.tracker.curves import RunCurves

EXAMPLES = """
schedmate track train.log
schedmate track slurm-17.out slurm-18.out --json
schedmate track --follow train.log
schedmate track --follow 17
schedmate track --plot train.log
schedmate track --job logs/ train.err --epochs 90
schedmate track --similar yesterday.log --limit 12:00:00 train.log
ssh node tail -c 1M train.log | schedmate track -
"""
_HUGE = 256 << 20
_PLOT_WIDTH = 72


@verb(examples=EXAMPLES)
@click.argument("logs", metavar="LOG|JOB...", nargs=-1, required=True)
@click.option("--follow", "-f", is_flag=True, help="Go on until the run ends or Ctrl-C.")
@click.option(
    "--interval",
    type=click.FloatRange(min=0.05),
    default=0.5,
    show_default=True,
    help="Seconds between two looks with --follow.",
)
@click.option("--plot", is_flag=True, help="Show the course of loss and speed below each line.")
@click.option("--job", "one_job", is_flag=True, help="All LOGs are of one job: one answer.")
@click.option(
    "--similar",
    "--like",
    "similar",
    multiple=True,
    metavar="LOG",
    help="A similar run that has ended.",
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
    plot: bool,
    one_job: bool,
    similar: tuple[str, ...],
    limit: str | None,
    epochs: float | None,
    steps: int | None,
    as_json: bool,
    no_llm: bool,
) -> int:
    """How far each LOG shows its run to be, how fast it is, and when it ends.

    A directory means all logs of one job, `-` reads standard input; a number that names no file is
    a job of the scheduler. With --follow the exit code is 1 where a run failed.
    """
    check_names(logs)
    known = _Known(
        workload=_workload(epochs, steps),
        similar=tuple(_profiles(similar)),
        limit_s=None if limit is None else _seconds(limit),
        asker=None if no_llm else PersonsAsker(),
        curves=plot and not as_json,
    )
    jobs = _jobs(logs, one_job=one_job)
    if follow:
        return _follow(jobs, known, interval, _print_changes if as_json else _show_live)
    for job in jobs:
        look = _look(job, known)
        if as_json:
            print_json(look.progress)
        else:
            _print_look(console(), look)
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What the user knows besides the log, and wants to see."""

    workload: Workload | None
    similar: tuple[RunProfile, ...]
    limit_s: float | None
    asker: Asker | None
    curves: bool


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

    for log in logs:
        profile = profile_file(Path(log))
        if profile is None:
            raise BadInput(f"{log} does not show how its run went; leave it out")
        yield profile


def _seconds(limit: str) -> float:
    from schedmate.advisor.settle.time_caps import cap_seconds
    from schedmate.model import BadInput
    from schedmate.model.batch_options import slurm_seconds

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


def _by_number(job: Sequence[str]) -> JobFollower | None:
    """The job that a number stands for, or None where the words are logs."""
    if len(job) != 1 or not job[0][:1].isdecimal() or Path(job[0]).exists():
        return None
    from schedmate.cli._followed_job import JobFollower, is_job

    if not is_job(job[0]):
        return None
    from schedmate import config
    from schedmate.service.visibility import viewer_of
    from schedmate.service.wiring import open_scheduler, open_store

    settings = config.load()
    return JobFollower(job[0], open_scheduler(settings), open_store(settings), viewer_of(settings))


def _look(job: Sequence[str], known: _Known) -> Look:
    import time

    from schedmate.cli._look import Look, failure_line
    from schedmate.logs.writers import is_written
    from schedmate.tracker import track_with_curves

    numbered = _by_number(job)
    if numbered is not None:
        return numbered.look(time.time())
    with ExitStack() as stack:
        streams = [(log, _open(log, stack)) for log in job]
        progress, curves = track_with_curves(
            streams,
            workload=known.workload,
            similar=known.similar,
            limit_s=known.limit_s,
            written=_written(stream for _, stream in streams),
            quiet_s=_quiet_s(job),
            writing=lambda: _any_written([is_written(Path(log)) for log in job if log != "-"]),
            asker=known.asker,
            curves=known.curves,
        )
    failed = progress.phase == "failed" and "-" not in job
    failure = failure_line([Path(log) for log in job]) if failed else ""
    return Look(progress, failure=failure, curves=curves, logs=len(job))


def _any_written(logs: Sequence[bool | None]) -> bool | None:
    if True in logs:
        return True
    return False if logs and None not in logs else None


def _written(streams: Iterable[IO[bytes]]) -> WrittenSpan | None:
    """How long the log that was written longest has been written, by its file."""
    from schedmate.logs.file_times import written_span

    spans = []
    for stream in streams:
        try:
            spans.append(written_span(stream.fileno()))
        except (OSError, AttributeError):  # standard input of another kind
            continue
    return max((one for one in spans if one), key=lambda one: one.seconds, default=None)


def _quiet_s(logs: Iterable[str]) -> float | None:
    """How long ago the newest of the logs was written; None for what is read from elsewhere."""
    import time

    files = [Path(log) for log in logs if log != "-"]
    return min((time.time() - file.stat().st_mtime for file in files), default=None)


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
    jobs: Sequence[Sequence[str]],
    known: _Known,
    interval: float,
    show: Callable[[Looks], bool],
) -> int:
    """Whether a run failed, as an exit code."""
    from schedmate.cli._follow import looks

    followed = [_by_number(job) or _follower(job, known) for job in jobs]
    try:
        return int(show(looks(followed, interval, known.asker)))
    except KeyboardInterrupt:
        return 0


def _check_that_it_grows(log: str) -> None:
    from schedmate.model import BadInput
    from schedmate.tracker.tailing.full_read import open_log

    if log == "-":
        raise BadInput("--follow needs a file; without it `-` reads standard input to its end")
    path = Path(log)
    if not path.exists() and path.parent.is_dir():
        click.echo(f"waiting for {log}", err=True)
    else:
        open_log(path).close()


def _follower(job: Sequence[str], known: _Known) -> Followed:
    from schedmate.cli._follow import Follower
    from schedmate.tracker import JobTracker

    for log in job:
        _check_that_it_grows(log)
    paths = [Path(log) for log in job]
    tracker = JobTracker(
        paths,
        workload=known.workload,
        similar=known.similar,
        limit_s=known.limit_s,
        curves=known.curves,
    )
    return Follower(paths, tracker, curves=known.curves)


def _print_changes(seen: Looks) -> bool:
    from schedmate.cli._follow import changes

    failed = False
    for look in changes(seen):
        print_json(look.progress)
        failed = failed or look.failed
    return failed


def _print_look(out: Console, look: Look) -> None:
    from schedmate.cli._progress import progress_line

    width = out.width if out.is_terminal else sys.maxsize
    line = progress_line(
        look.progress, width, bar=out.is_terminal, silent_s=look.silent_s, logs=look.logs
    )
    out.print(line, soft_wrap=True)
    for text in _below(look, out):
        out.print(text, soft_wrap=True, markup=False)


def _below(look: Look, out: Console) -> list[str]:
    """What a failed run failed of, and the curves that were asked for."""
    failure = [f"  {look.failure}"] if look.failure else []
    return failure + ([] if look.curves is None else _plots(look.curves, out))


def _plots(curves: RunCurves, out: Console) -> list[str]:
    from schedmate.cli._plot import plot

    width = out.width if out.is_terminal else _PLOT_WIDTH
    braille = "utf" in out.encoding.lower()
    loss, speed = curves.loss, curves.speed
    title = f"{curves.unit}s a second"
    drawn = plot(loss.name, loss.drawn, width, timed=loss.timed, braille=braille)
    drawn += plot(title, speed, width, timed=True, braille=braille, from_zero=True)
    return drawn or ["  nothing to plot: the log shows no loss, and no times"]


def _show_live(seen: Looks) -> bool:
    """Redraw on a terminal; elsewhere print a line whenever something changed."""
    from rich.live import Live
    from rich.text import Text

    from schedmate.cli._follow import changes
    from schedmate.cli._progress import progress_line

    out, failed = console(), False
    if not out.is_terminal:
        for look in changes(seen):
            _print_look(out, look)
            failed = failed or look.failed
        return failed

    with Live(console=out, auto_refresh=False) as live:
        for looks in seen:
            lines = []
            for one in looks:
                line = progress_line(
                    one.progress, out.width, bar=True, silent_s=one.silent_s, logs=one.logs
                )
                lines.append(line)
                lines += [Text(text) for text in _below(one, out)]
            live.update(Text("\n").join(lines), refresh=True)
            failed = any(one.failed for one in looks)
    return failed
