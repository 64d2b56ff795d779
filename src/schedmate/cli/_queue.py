"""The queue as a table, for `jobs` and for the demo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from schedmate.cli._common import duration
from schedmate.model import JobState
from schedmate.model.legible import legible
from schedmate.service.views.queue_row import QueueRow, queue_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.service.views.job_view import JobView

_COLOURS = {
    JobState.PENDING: "dim",
    JobState.RUNNING: "cyan",
    JobState.COMPLETED: "green",
    JobState.CANCELLED: "yellow",
}
_BAR = 10
_COLUMNS: tuple[str, ...] = ("JOBID", "NAME", "STATE", "PREDICTED", "REAL", "PROGRESS", "ENDS IN")
_USER_AT = 2
"""Where their column is."""
_NUMBERS = ("PREDICTED", "REAL")
_LEAST_KNOWN = 12
_LONGEST_NAME = 20
_MARK = "!"


def queue_table(views: Sequence[JobView], now: float, width: int) -> Table:
    """One line a job; only what is known of it gives way when the screen is narrow.

    Users are named where there are several.
    """
    titles, rows = _COLUMNS, [_cells(queue_row(view, now, duration)) for view in views]
    if len({view.job.user for view in views}) > 1:
        titles = (*titles[:_USER_AT], "USER", *titles[_USER_AT:])
        rows = [
            (*row[:_USER_AT], escape(_short(legible(view.job.user))), *row[_USER_AT:])
            for view, row in zip(views, rows, strict=True)
        ]
    table = Table(box=None, header_style="bold", pad_edge=False)
    taken = 0
    for title, cells in zip(titles, zip(*rows, strict=True), strict=False):
        needed = max(len(title), *(Text.from_markup(cell).cell_len for cell in cells))
        taken += needed + 2
        justify: Literal["left", "right"] = "right" if title in _NUMBERS else "left"
        table.add_column(title, no_wrap=True, width=needed, justify=justify)
    left = max(_LEAST_KNOWN, width - taken)
    table.add_column("WHAT WE KNOW", overflow="ellipsis", no_wrap=True, max_width=left)
    for row in rows:
        table.add_row(*row)
    return table


def _cells(row: QueueRow) -> tuple[str, ...]:
    job = row.view.job
    marked = row.note_kind == "warning"
    restarted = f" ↻{job.restarts}" if job.restarts else ""
    note = escape(legible(row.note))
    return (
        escape(job.id),
        escape(_short(legible(job.name))),
        f"[{_COLOURS.get(job.state, 'red')}]{job.state}{restarted}[/]"
        + (f" [yellow]{_MARK}[/]" if marked else ""),
        duration(row.predicted_s),
        duration(row.run_time_s),
        _bar(row.fraction),
        "" if row.left_s is None else duration(row.left_s.p50),
        f"[yellow]{_MARK} {note}[/]" if marked else note,
    )


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def _bar(fraction: float | None) -> str:
    if fraction is None:
        return ""
    done = round(fraction * _BAR)
    return f"{'━' * done}[dim]{'─' * (_BAR - done)}[/] {fraction:4.0%}"
