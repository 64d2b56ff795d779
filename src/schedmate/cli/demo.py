"""`schedmate demo`"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import click

from schedmate.cli._common import console, echo, json_option, print_json, verb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from schedmate.config import Settings
    from schedmate.demo.stage import Stage
    from schedmate.demo.summary import DemoSummary
    from schedmate.service.views.job_view import JobView

_INTERRUPTED = 130


@verb(
    examples="""
schedmate demo
schedmate demo --keep
schedmate demo --json > demo.json
"""
)
@click.option(
    "--with-model", is_flag=True, help="Ask the embedded language model; fetches it once: 1.1 GB."
)
@click.option("--keep", is_flag=True, help="Keep logs, queue, history and report, and say where.")
@json_option
def command(with_model: bool, keep: bool, as_json: bool) -> int:
    """The whole system on this machine in a few minutes.

    Runs 18 small real training jobs on the local scheduler, advised, tracked, diagnosed and
    ordered by SchedMate, in a directory of its own that goes with it. Its page is there from the
    beginning; on a terminal it stays open until Ctrl-C. It ends when all jobs have, or when nothing
    has moved for two minutes, and then says what did not finish.
    """
    from schedmate.demo.keeper import Keeper
    from schedmate.demo.stage import page_port, set_stage, wait_for_page
    from schedmate.llm.embedded.running import RunFiles

    user = _with_model() if with_model else None
    port = page_port()
    with _ending_as_by_ctrl_c():
        stage = set_stage(user)
        stop_model = user is not None and not RunFiles.of(user.cache_dir).is_alive()
        with Keeper(stage, port, keep=keep, stop_model=stop_model) as keeper:
            url = f"http://127.0.0.1:{port}/"
            if wait_for_page(port):
                echo(f"the queue, live, is at {url}", err=True)
            summary, interrupted = _play(stage, lambda: keeper.daemon_starts)
            if as_json:
                print_json(summary)
            else:
                _print(summary)
            if keep:
                echo(f"logs, queue, history and the report are in {stage.root}", err=True)
            if interrupted:
                return _INTERRUPTED
            if not as_json and sys.stdin.isatty() and sys.stdout.isatty():
                stay_open(url)
    return 0 if summary.as_planned == summary.jobs else 1


def _play(stage: Stage, daemon_starts: Callable[[], int]) -> tuple[DemoSummary, bool]:
    """What was measured, to the end or until somebody had seen enough."""
    from schedmate.demo.page import page
    from schedmate.demo.plan import FOR_A_MODEL, TODAY
    from schedmate.demo.show import Show
    from schedmate.demo.summary import summarise
    from schedmate.model.wire import to_json

    begun, interrupted = time.monotonic(), False
    asks = stage.settings.llm.enabled
    with _display() as on_look:
        show = Show(stage, on_look, today=TODAY + FOR_A_MODEL if asks else TODAY)
        try:
            over = show.play()
        except KeyboardInterrupt:
            over, interrupted = False, True
    show.add_earlier_runs()
    summary = summarise(
        show.records,
        slots=stage.slots,
        daemon_starts=daemon_starts(),
        seconds=time.monotonic() - begun,
    )
    if not over:
        why = "it was interrupted" if interrupted else show.trouble or "nothing moved any more"
        echo(f"ended before its end: {why}", err=True)
    (stage.root / "demo.json").write_text(json.dumps(to_json(summary)), encoding="utf-8")
    (stage.root / "demo.html").write_text(page(show.records, _figures(summary)), encoding="utf-8")
    return summary, interrupted


def _with_model() -> Settings | None:
    """The user's settings with a model to ask; None where it cannot be fetched."""
    from schedmate import config
    from schedmate.cli.model import download_bar
    from schedmate.llm.embedded.files import ModelFiles
    from schedmate.llm.embedded.install import install
    from schedmate.model import SchedMateError

    settings = config.load()
    files = ModelFiles(settings.cache_dir)
    if settings.llm.base_url is None and not files.installed():
        size = f"{files.manifest.size / 1e9:.1f} GB"
        echo(f"fetching the language model, {size}, once, into {files.folder}", err=True)
        try:
            with download_bar() as on_progress:
                install(settings.cache_dir, on_progress=on_progress)
        except SchedMateError as error:
            echo(f"going on without a model: {error}", err=True)
            return None
    return settings


@contextmanager
def _ending_as_by_ctrl_c() -> Iterator[None]:
    """A closed terminal or a SIGTERM ends the demo with what it has, as Ctrl-C does."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def stay_open(url: str) -> None:
    """Show the page in the user's browser, where there is one, until Ctrl-C."""
    import webbrowser

    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(url)
    echo(f"the page stays at {url} until Ctrl-C", err=True)
    with suppress(KeyboardInterrupt):
        while True:
            time.sleep(1)


@contextmanager
def _display() -> Iterator[Callable[[list[JobView], float], None]]:
    """The live queue on a terminal; elsewhere one line for everything that happens."""
    from rich.live import Live

    from schedmate.cli._queue import queue_table

    screen = console(stderr=True)
    if not screen.is_terminal:
        printed: set[str] = set()

        yield lambda views, _: _print_changes(views, printed)
        return
    with Live(console=screen, refresh_per_second=2) as live:
        yield lambda views, now: live.update(queue_table(views, now, screen.width))


def _print_changes(views: list[JobView], printed: set[str]) -> None:
    for view in views:
        job = view.job
        lines = [f"job {job.id} {job.name}: {job.state}" + f", attempt {job.restarts + 1}"]
        lines += [
            f"job {job.id} {job.name}: attempt {attempt + 1} {found.reason}: {found.summary}"
            for attempt, found in view.diagnoses.items()
        ]
        for line in lines:
            if line not in printed:
                printed.add(line)
                echo(line, err=True)


def _print(summary: DemoSummary) -> None:
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False)
    for name, value in _figures(summary):
        table.add_row(f"[bold]{name}[/]", value)
    console().print(table)


def _figures(summary: DemoSummary) -> list[tuple[str, str]]:
    found = ", ".join(
        f"{v.job}: {v.reason} ({v.source}){'' if v.right else ' ✗'}" for v in summary.verdicts
    )
    fifo, ours = summary.simulated_fifo_s, summary.simulated_schedmate_s
    ratio = f" ({fifo / ours:.2f} times as long)" if fifo and ours else ""
    missed = [(name, why) for name, why in summary.unfinished.items()]
    titles = ["did not finish"] + [""] * len(missed)
    return [
        ("jobs that ended as they should", f"{summary.as_planned} of {summary.jobs}"),
        *((title, f"{name}: {why}") for title, (name, why) in zip(titles, missed, strict=False)),
        (
            "predicted duration",
            (
                f"{_percent(summary.prediction_error)} off in the median of"
                f" {summary.predicted_jobs} jobs, {summary.prediction_in_range} within p10 to p90"
            ),
        ),
        (
            "ETA at half-time",
            (
                f"{_percent(summary.eta_error_at_half_time)} of the time left off in the median of"
                f" {summary.eta_jobs} jobs"
            ),
        ),
        ("diagnoses right", f"{summary.diagnoses_right} of {len(summary.verdicts)}"),
        ("", found),
        ("average completion, as it was", _seconds(summary.avg_completion_s)),
        ("the same jobs replayed by SchedMate", _seconds(ours)),
        ("the same jobs replayed first in, first out", _seconds(fifo) + ratio),
        ("took", f"{summary.seconds:.0f} s"),
    ]


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


def _seconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:.1f} s"
