"""The queue in place: one table that is drawn again, as large as the screen."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING

from rich.console import Group
from rich.live import Live
from rich.text import Text

from schedmate.cli._common import console
from schedmate.cli._queue import queue_table
from schedmate.model import BadInput, JobState, SchedulerUnreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console, RenderableType

    from schedmate.service.views.job_view import JobView

_ROWS_AROUND = 4
"""Of the screen: the line on top, an empty one, the head of the table, and what is left out."""
_FIRST = (JobState.RUNNING, JobState.PENDING)


def watch_queue(views: Callable[[], Sequence[JobView]], every_s: float) -> None:
    """Until Ctrl-C. A scheduler that does not answer leaves the last answer on the screen."""
    screen = console()
    if not screen.is_terminal:
        raise BadInput("--watch draws on a terminal; without one: schedmate jobs")
    shown: Sequence[JobView] = views()
    trouble = ""
    with Live(console=screen, screen=True, auto_refresh=False) as live:
        while True:
            live.update(overview(shown, screen, time.time(), trouble), refresh=True)
            try:
                time.sleep(every_s)
                shown, trouble = views(), ""
            except SchedulerUnreachable as error:
                trouble = str(error)
            except KeyboardInterrupt:
                return


def overview(
    views: Sequence[JobView], screen: Console, now: float, trouble: str = ""
) -> RenderableType:
    """Those that run first, then those that wait, then the newest of those that have ended."""
    ordered = sorted(views, key=_place)
    room = max(1, screen.height - _ROWS_AROUND)
    states = Counter(view.job.state for view in views)
    counts = ", ".join(f"{count} {state.lower()}" for state, count in states.most_common())
    head = Text(f"{time.strftime('%H:%M:%S', time.localtime(now))}  {counts or 'no jobs'}")
    if trouble:
        head.append(f"  {trouble}", style="yellow")
    parts: list[RenderableType] = [head, Text()]
    if views:
        parts.append(queue_table(ordered[:room], now, screen.width))
    if len(views) > room:
        parts.append(Text(f"and {len(views) - room} more; narrow it with -u or -s", style="dim"))
    return Group(*parts)


def _place(view: JobView) -> tuple[int, float]:
    state = view.job.state
    if state in _FIRST:
        return _FIRST.index(state), view.job.submit_time
    return len(_FIRST), -(view.job.end_time or 0.0)
