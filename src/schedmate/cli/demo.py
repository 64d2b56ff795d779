"""`schedmate demo`"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from schedmate.cli._common import console, echo, json_option, no_llm_option, print_json, verb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from schedmate.demo.stage import ModelFetch
    from schedmate.demo.summary import DemoSummary
    from schedmate.service.views.job_view import JobView


@verb(
    examples="""
schedmate demo
schedmate demo --no-llm
schedmate demo --json > demo.json
"""
)
@no_llm_option
@json_option
def command(no_llm: bool, as_json: bool) -> int:
    """The whole system on this machine in a few minutes.

    Runs 16 small real training jobs on the local scheduler, advised, tracked, diagnosed and
    ordered by SchedMate, in a directory of its own. Fetches the embedded model (1.1 GB, once)
    beside it, and does not wait for it. Its page is there from the beginning; on a terminal it
    stays open until Ctrl-C.
    """
    from dataclasses import replace

    from schedmate import config
    from schedmate.demo.page import page
    from schedmate.demo.show import Show
    from schedmate.demo.stage import (
        Helper,
        ModelFetch,
        ending_cleanly,
        page_port,
        set_stage,
        wait_for_page,
    )
    from schedmate.demo.summary import summarise
    from schedmate.model.wire import to_json

    settings = config.load()
    if no_llm:
        settings = replace(settings, llm=replace(settings.llm, enabled=False))
    stage = set_stage(settings)
    begun = time.monotonic()
    echo(f"logs, queue and history of this demo are in {stage.root}", err=True)
    port = page_port()
    words = ("serve",) if port is None else ("serve", "--port", str(port))
    with (
        ending_cleanly(stage),
        closing(Helper(stage, "serve.log", *words, again=True).start()) as daemon,
    ):
        if port is not None:
            wait_for_page(port, daemon.look)
            echo(f"the queue, live, is at http://127.0.0.1:{port}/", err=True)
        with closing(ModelFetch(stage)) as model, _display(model, daemon.look) as on_look:
            records = Show(stage, on_look, on_today=model.begin).play()
        summary = summarise(
            records,
            slots=stage.slots,
            daemon_starts=daemon.starts,
            seconds=time.monotonic() - begun,
        )
        (stage.root / "demo.json").write_text(json.dumps(to_json(summary)), encoding="utf-8")
        where = stage.root / "demo.html"
        where.write_text(page(records, _figures(summary)), encoding="utf-8")
        if as_json:
            print_json(summary)
        else:
            _print(summary)
        echo(f"the report: {where}", err=True)
        if port is not None and not as_json and sys.stdin.isatty() and sys.stdout.isatty():
            stay_open(f"http://127.0.0.1:{port}/", daemon.look)
    return 0 if summary.as_planned == summary.jobs else 1


def stay_open(url: str, look_after_daemon: Callable[[], object]) -> None:
    """Show the page in the user's browser, where there is one, until Ctrl-C."""
    import webbrowser
    from contextlib import suppress

    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(url)
    echo(f"the page stays at {url} until Ctrl-C", err=True)
    with suppress(KeyboardInterrupt):
        while True:
            look_after_daemon()
            time.sleep(1)


@contextmanager
def _display(
    model: ModelFetch, look_after_daemon: Callable[[], object]
) -> Iterator[Callable[[list[JobView], float], None]]:
    """The live queue on a terminal; elsewhere one line for everything that happens."""
    from rich.console import Group
    from rich.live import Live

    from schedmate.cli._queue import queue_table

    screen = console(stderr=True)
    if not screen.is_terminal:
        printed: set[str] = set()

        def talk(views: list[JobView], _: float) -> None:
            look_after_daemon()
            _print_changes(views, printed)

        yield talk
        return
    with Live(console=screen, refresh_per_second=4) as live:

        def draw(views: list[JobView], now: float) -> None:
            look_after_daemon()
            live.update(Group(queue_table(views, now, screen.width), f"[dim]{model.state()}[/]"))

        yield draw


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
    ratio = summary.simulated_fifo_s / summary.simulated_schedmate_s
    found = ", ".join(
        f"{v.job}: {v.reason} ({v.source}){'' if v.right else ' ✗'}" for v in summary.verdicts
    )
    return [
        ("jobs that ended as they should", f"{summary.as_planned} of {summary.jobs}"),
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
        ("average completion, as it was", f"{summary.avg_completion_s:.1f} s"),
        ("the same jobs replayed by SchedMate", f"{summary.simulated_schedmate_s:.1f} s"),
        (
            "the same jobs replayed first in, first out",
            f"{summary.simulated_fifo_s:.1f} s ({ratio:.2f} times as long)",
        ),
        ("took", f"{summary.seconds:.0f} s"),
    ]


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"
