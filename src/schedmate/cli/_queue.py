"""The queue as a table, for `jobs` and for the demo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from rich.table import Table
from rich.text import Text

from schedmate.cli._common import duration
from schedmate.cli._console import cell
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
_NAME, _KNOWN = "NAME", "WHAT WE KNOW"
_NUMBERS = ("PREDICTED", "REAL")
_DROPPED = ("DONE", "PREDICTED", "USER")
"""Columns that give way on a narrow screen, the first first."""
_LEAST_KNOWN = 12
_LEAST_OF_BOTH = 20
"""Of a name and what is known, so that both can be read."""
_LONGEST_NAME = 20
_LONGEST_USER = 8
"""On a narrow screen."""
_MARK = "!"
Columns = dict[str, list[str]]
Widths = dict[str, int]


def queue_table(views: Sequence[JobView], now: float, width: int) -> Table:
    """One line a job; users are named where there are several.

    On a narrow screen progress has no bar, and names and what is known share what ids, states and
    times leave.
    """
    if not views:
        return Table(box=None)
    rows = [queue_row(view, now, duration) for view in views]
    columns, gap = _columns(rows, bars=True), 2
    widths = _widths(columns)
    left = width - _taken(widths, gap, without=(_KNOWN,))
    widths[_KNOWN] = max(1, min(widths[_KNOWN], left))
    if left < _LEAST_KNOWN:
        columns, gap = _columns(rows, bars=False), 1
        widths = _shared(_widths(columns), width, gap)
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 1, 0, gap - 1))
    for title, needed in widths.items():
        justify: Literal["left", "right"] = "right" if title in _NUMBERS else "left"
        table.add_column(title, no_wrap=True, width=needed, justify=justify, overflow="ellipsis")
    for cells in zip(*(columns[title] for title in widths), strict=True):
        table.add_row(*cells)
    return table


def _columns(rows: Sequence[QueueRow], *, bars: bool) -> Columns:
    """The cells of each column by its title."""
    every = [_cells(row, bars=bars) for row in rows]
    columns = {title: [cells[title] for cells in every] for title in every[0]}
    if len({row.view.job.user for row in rows}) <= 1:
        columns.pop("USER", None)
    return columns


def _widths(columns: Columns) -> Widths:
    return {
        title: max(len(title), *(Text.from_markup(cell).cell_len for cell in cells))
        for title, cells in columns.items()
    }


def _taken(widths: Widths, gap: int, without: tuple[str, ...]) -> int:
    """By all other columns, and between all."""
    cells = sum(needed for title, needed in widths.items() if title not in without)
    return cells + gap * (len(widths) - 1)


def _shared(widths: Widths, width: int, gap: int) -> Widths:
    if "USER" in widths:
        widths["USER"] = min(widths["USER"], _LONGEST_USER)
    both = (_NAME, _KNOWN)
    for title in _DROPPED:
        if width - _taken(widths, gap, both) < _LEAST_OF_BOTH:
            widths.pop(title, None)
    left = max(len(both), width - _taken(widths, gap, both))
    name = max(left * 2 // 5, left - widths[_KNOWN])
    widths[_NAME] = min(widths[_NAME], name)
    widths[_KNOWN] = min(widths[_KNOWN], left - widths[_NAME])
    return widths


def _cells(row: QueueRow, *, bars: bool) -> dict[str, str]:
    job = row.view.job
    marked = row.note_kind == "warning"
    restarted = f" ↻{job.restarts}" if job.restarts else ""
    note = cell(row.note)
    done = "" if row.fraction is None else f"{row.fraction:4.0%}"
    return {
        "JOBID": cell(job.id),
        _NAME: _short_cell(job.name),
        "USER": _short_cell(job.user),
        "STATE": f"[{_COLOURS.get(job.state, 'red')}]{job.state}{restarted}[/]"
        + (f" [yellow]{_MARK}[/]" if marked else ""),
        "PREDICTED": duration(row.predicted_s),
        "REAL": duration(row.run_time_s),
        **({"PROGRESS": _bar(row.fraction)} if bars else {"DONE": done}),
        "ENDS IN": "" if row.left_s is None else duration(row.left_s.p50),
        _KNOWN: f"[yellow]{_MARK} {note}[/]" if marked else note,
    }


def _short_cell(name: str) -> str:
    shown = legible(name)
    return cell(shown if len(shown) <= _LONGEST_NAME else shown[: _LONGEST_NAME - 1] + "…")


def _bar(fraction: float | None) -> str:
    if fraction is None:
        return ""
    done = round(fraction * _BAR)
    return f"{'━' * done}[dim]{'─' * (_BAR - done)}[/] {fraction:4.0%}"
