"""The queue as a table, for `jobs` and for the demo."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from rich.table import Table
from rich.text import Text

from schedmate.cli._common import duration
from schedmate.cli._console import cell
from schedmate.model import JobState
from schedmate.model.legible import legible
from schedmate.service.views.queue_row import QueueRow, queue_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from schedmate.cli._site import Folded
    from schedmate.model import Job, JobId
    from schedmate.service.views.job_view import JobView

_COLOURS = {
    JobState.PENDING: "dim",
    JobState.RUNNING: "cyan",
    JobState.COMPLETED: "green",
    JobState.CANCELLED: "yellow",
}
_BAR = 10
_NAME, _KNOWN = "NAME", "WHAT WE KNOW"
_NUMBERS = ("PREDICTED", "REAL", "USE")
_GPU = re.compile(r":gpu(\d{1,4})(?:\.\d{1,4})?\Z", re.ASCII)
_DROPPED = ("DONE", "PREDICTED", "USER", "USE")
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


def queue_table(
    views: Sequence[JobView],
    now: float,
    width: int,
    *,
    folds: Mapping[JobId, Folded] | None = None,
    gpu_use: Mapping[JobId, float] | None = None,
) -> Table:
    """One line a job or array; users are named where there are several, GPUs where there are any.

    On a narrow screen progress has no bar, and names and what is known share what ids, states and
    times leave.
    """
    if not views:
        return Table(box=None)
    rows = [_row(view, (folds or {}).get(view.job.id), now) for view in views]
    columns, gap = _columns(rows, gpu_use or {}, bars=True), 2
    widths = _widths(columns)
    left = width - _taken(widths, gap, without=(_KNOWN,))
    widths[_KNOWN] = max(1, min(widths[_KNOWN], left))
    if left < _LEAST_KNOWN:
        columns, gap = _columns(rows, gpu_use or {}, bars=False), 1
        widths = _shared(_widths(columns), width, gap)
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 1, 0, gap - 1))
    for title, needed in widths.items():
        justify: Literal["left", "right"] = "right" if title in _NUMBERS else "left"
        table.add_column(title, no_wrap=True, width=needed, justify=justify, overflow="ellipsis")
    for cells in zip(*(columns[title] for title in widths), strict=True):
        table.add_row(*cells)
    return table


def _row(view: JobView, folded: Folded | None, now: float) -> QueueRow:
    if folded is None:
        return queue_row(view, now, duration)
    from schedmate.service.views.folding import folded_row

    return folded_row(folded.fold, view, folded.told, now, duration)


def _columns(rows: Sequence[QueueRow], gpu_use: Mapping[JobId, float], *, bars: bool) -> Columns:
    """The cells of each column by its title."""
    every = [_cells(row, gpu_use.get(row.view.job.id), bars=bars) for row in rows]
    columns = {title: [cells[title] for cells in every] for title in every[0]}
    if len({row.view.job.user for row in rows}) <= 1:
        columns.pop("USER", None)
    for title in ("GPUS", "USE"):
        if not any(columns[title]):
            del columns[title]
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


def _cells(row: QueueRow, gpu_use: float | None, *, bars: bool) -> dict[str, str]:
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
        "GPUS": gpus_in_words(job),
        "USE": "" if gpu_use is None else f"{gpu_use:4.0%}",
        "PREDICTED": duration(row.predicted_s),
        "REAL": duration(row.run_time_s),
        **({"PROGRESS": _bar(row.fraction)} if bars else {"DONE": done}),
        "ENDS IN": "" if row.left_s is None else duration(row.left_s.p50),
        _KNOWN: f"[yellow]{_MARK} {note}[/]" if marked else note,
    }


def gpus_in_words(job: Job) -> str:
    """`0-3` are those that it has, `(4)` is how many where it has none yet, or elsewhere."""
    numbers = [int(found[1]) for node in job.nodes if (found := _GPU.search(node)) is not None]
    if numbers and job.state is JobState.RUNNING:
        return _spans(sorted(set(numbers)))
    return f"({job.request.gpus})" if job.request.gpus and not job.state.ended else ""


def _spans(numbers: Sequence[int]) -> str:
    runs = groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])
    spans = [[number for _, number in run] for _, run in runs]
    return ",".join(f"{span[0]}-{span[-1]}" if span[1:] else str(span[0]) for span in spans)


def _short_cell(name: str) -> str:
    shown = legible(name)
    return cell(shown if len(shown) <= _LONGEST_NAME else shown[: _LONGEST_NAME - 1] + "…")


def _bar(fraction: float | None) -> str:
    if fraction is None:
        return ""
    done = round(fraction * _BAR)
    return f"{'━' * done}[dim]{'─' * (_BAR - done)}[/] {fraction:4.0%}"
