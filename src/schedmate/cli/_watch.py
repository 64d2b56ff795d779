"""The queue in place: one table that is drawn again, as large as the screen."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.console import Group
from rich.live import Live
from rich.text import Text

from schedmate.cli._common import console
from schedmate.cli._hosts import WatchedHosts
from schedmate.cli._queue import queue_table
from schedmate.cli._site import QueueShown, queue_of
from schedmate.model import BadInput, JobState, SchedulerUnreachable
from schedmate.service.views.folding import in_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console, RenderableType

    from schedmate.cli._site import QueueAsked
    from schedmate.config import Settings
    from schedmate.model import JobId

_ROWS_AROUND = 4
"""Of the screen: the line on top, an empty one, the head of the table, and what is left out."""
_MEASURED_EVERY_S = 5.0


def watch_queue(settings: Settings, wanted: QueueAsked, *, with_others: bool) -> None:
    """Until Ctrl-C. A scheduler that does not answer leaves the last answer on the screen."""
    screen = console()
    if not screen.is_terminal:
        raise BadInput("--watch draws on a terminal; without one: schedmate jobs")
    every_s = settings.slurm.poll_s if settings.scheduler == "slurm" else 1.0
    use = _GpuUse(settings)

    def poll() -> QueueShown:
        room = max(1, screen.height - _ROWS_AROUND)
        return queue_of(settings, replace(wanted, most=room, live=True))

    try:
        here, trouble = poll(), ""
        others = WatchedHosts(settings, wanted, settings.hosts if with_others else ())
        with Live(console=screen, screen=True, auto_refresh=False) as live:
            while True:
                shown, away = others.beside(here)
                said = "; ".join(filter(None, (trouble, away)))
                drawn = overview(shown, screen, time.time(), use.of(here), said)
                live.update(drawn, refresh=True)
                time.sleep(every_s)
                try:
                    here, trouble = poll(), ""
                except SchedulerUnreachable as error:
                    trouble = str(error)
    except KeyboardInterrupt:
        return


def overview(
    shown: QueueShown,
    screen: Console,
    now: float,
    gpu_use: Mapping[JobId, float],
    trouble: str = "",
) -> RenderableType:
    """What runs first, then what waits, then the newest of those that have ended."""
    room = max(1, screen.height - _ROWS_AROUND)
    counts = in_words(shown.states) or "no jobs"
    head = Text(no_wrap=True, overflow="ellipsis")
    head.append(f"{time.strftime('%H:%M:%S', time.localtime(now))}  {counts}")
    if trouble:
        head.append(f"  {trouble}", style="yellow")
    parts: list[RenderableType] = [head, Text()]
    views = shown.views[:room]
    if views:
        parts.append(queue_table(views, now, screen.width, folds=shown.folds, gpu_use=gpu_use))
    if shown.total > len(views):
        more = f"and {shown.total - len(views)} more; narrow it with -u or -s"
        parts.append(Text(more, style="dim", no_wrap=True, overflow="ellipsis"))
    return Group(*parts)


class _GpuUse:
    """How busy the GPUs of running jobs are, where this machine can measure it; now and then."""

    def __init__(self, settings: Settings) -> None:
        from schedmate.schedulers.base import MeasuresActivity
        from schedmate.service.wiring import open_scheduler

        here = settings.scheduler == "local" and not settings.server
        found: object = open_scheduler(settings) if here else None
        self._scheduler = found if isinstance(found, MeasuresActivity) else None
        self._known: dict[JobId, float] = {}
        self._at = float("-inf")

    def of(self, shown: QueueShown) -> Mapping[JobId, float]:
        now = time.monotonic()
        if self._scheduler is None or now - self._at < _MEASURED_EVERY_S:
            return self._known
        rows = {
            task.job: view.job.id
            for view in shown.views
            for task in (shown.folds[view.job.id].told if view.job.id in shown.folds else (view,))
            if task.job.state is JobState.RUNNING
        }
        try:
            measured = self._scheduler.activity(list(rows)) if rows else {}
        except SchedulerUnreachable:
            measured = {}
        self._at = now
        self._known = {}
        for task, row in rows.items():
            if (one := measured.get(task.id)) is not None and one.gpu is not None:
                self._known[row] = max(self._known.get(row, 0.0), one.gpu)
        return self._known
