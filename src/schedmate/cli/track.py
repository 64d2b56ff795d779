"""`schedmate track`: how far a job is and when it ends, from its log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from schedmate.cli._common import console, duration, json_option, no_llm_option, print_json, verb

if TYPE_CHECKING:
    from rich.text import Text

    from schedmate.model import Progress
    from schedmate.tracker import JobTracker

EXAMPLES = """
schedmate track train.log
schedmate track slurm-17.out slurm-18.out --json
schedmate track --follow train.log
ssh node tail -c 1M train.log | schedmate track -
"""
_OVER = ("finished", "failed")
_COLOURS = {"finished": "green", "failed": "red", "stalled": "yellow"}
_SHOWN = ("loss", "train_loss", "lm_loss", "eval_loss", "val_loss", "accuracy", "acc")
_BAR_WIDTH = 24


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
@json_option
@no_llm_option
def command(
    logs: tuple[str, ...],
    follow: bool,
    interval: float,
    as_json: bool,
    no_llm: bool,  # noqa: ARG001 - nothing here asks a model yet; the flag is part of the contract
) -> None:
    """How far each LOG says its run is, how fast, and when it ends. `-` reads standard input."""
    if follow:
        _follow(logs, interval, _print_changes if as_json else _show_live)
        return
    for log in logs:
        progress = _track(log)
        if as_json:
            print_json(progress)
        else:
            out = console()
            out.print(_line(progress, bar=out.is_terminal))


def _track(log: str) -> Progress:
    from schedmate.tracker import track_file, track_stream

    if log == "-":
        return track_stream(sys.stdin.buffer, name="-")
    return track_file(Path(log))


Show = Callable[[Iterator["list[Progress]"]], None]


def _follow(logs: Sequence[str], interval: float, show: Show) -> None:
    from schedmate.model import BadInput
    from schedmate.tracker import JobTracker
    from schedmate.tracker.whole import is_compressed, open_log

    if "-" in logs:
        raise BadInput("--follow needs a file; without it `-` reads standard input to its end")
    for log in logs:
        with open_log(Path(log)) as stream:
            if is_compressed(stream):
                raise BadInput(f"{log} is compressed and will not grow; leave out --follow")
    try:
        show(_looks([JobTracker([Path(log)]) for log in logs], interval))
    except KeyboardInterrupt:
        return


def _looks(trackers: Sequence[JobTracker], interval: float) -> Iterator[list[Progress]]:
    while True:
        now = time.time()
        seen = [tracker.poll(now) for tracker in trackers]
        yield seen
        if all(progress.phase in _OVER for progress in seen):
            return
        time.sleep(interval)


def _changes(looks: Iterator[list[Progress]]) -> Iterator[Progress]:
    """Only what tells more than that time has passed."""
    told: dict[str, Progress] = {}
    for seen in looks:
        for progress in seen:
            news = _without_time(progress)
            if told.get(progress.log) != news:
                told[progress.log] = news
                yield progress


def _without_time(progress: Progress) -> Progress:
    from schedmate.model import Cost

    return replace(progress, elapsed_s=None, eta_s=None, fraction=None, cost=Cost())


def _print_changes(looks: Iterator[list[Progress]]) -> None:
    for progress in _changes(looks):
        print_json(progress)


def _show_live(looks: Iterator[list[Progress]]) -> None:
    """Redraw on a terminal; elsewhere print a line whenever something changed."""
    out = console()
    if not out.is_terminal:
        for progress in _changes(looks):
            out.print(_line(progress, bar=False))
        return
    from rich.live import Live
    from rich.text import Text

    with Live(console=out, auto_refresh=False) as live:
        for seen in looks:
            lines = [_line(progress, bar=True) for progress in seen]
            live.update(Text("\n").join(lines), refresh=True)


def _line(progress: Progress, *, bar: bool) -> Text:
    """`train.log  training  24%  1200/5000 steps  3.4/s  ends in 00:18:38  loss 2.31`."""
    from rich.text import Text

    colour = _COLOURS.get(progress.phase, "")
    parts = [Text(progress.log), Text(progress.phase, style=colour)]
    if progress.fraction is not None:
        parts += [_bar(progress.fraction)] if bar else []
        parts.append(Text(f"{progress.fraction:.0%}"))
    parts += [Text(part) for part in (_count(progress), _speed(progress), _end(progress)) if part]
    shown = [(name, value) for name, value in progress.metrics.items() if name in _SHOWN]
    parts += [Text(f"{name} {value:.4g}") for name, value in shown]
    return Text("  ").join(parts)


def _bar(fraction: float) -> Text:
    from rich.text import Text

    full = round(fraction * _BAR_WIDTH)
    return Text.assemble(("━" * full, "green"), ("━" * (_BAR_WIDTH - full), "dim"))


def _count(progress: Progress) -> str:
    if progress.current is None:
        return ""
    total = "" if progress.total is None else f"/{progress.total:,.6g}"
    return f"{progress.current:,.6g}{total} {progress.unit}s"


def _speed(progress: Progress) -> str:
    rate = progress.rate_per_s
    if not rate or progress.phase in _OVER:
        return ""
    return f"{rate:.3g}/s" if rate >= 1 else f"{1 / rate:.3g} s each"


def _end(progress: Progress) -> str:
    if progress.eta_s is None or progress.phase in _OVER:
        return ""
    spread = progress.eta_s
    low, high = duration(spread.p10), duration(spread.p90)
    return f"ends in {duration(spread.p50)} ({low} to {high})"
