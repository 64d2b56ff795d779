"""The queue as a table, for `jobs` and for the demo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from schedmate.cli._common import duration
from schedmate.model import JobState
from schedmate.service.views.sentences import held_in_words, slowdown_in_words

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
_COLUMNS = ("JOBID", "NAME", "STATE", "PREDICTED", "REAL", "PROGRESS", "ENDS IN")
_NUMBERS = ("PREDICTED", "REAL")
_LEAST_KNOWN = 12
_LONGEST_NAME = 20
_MARK = "!"


def queue_table(views: Sequence[JobView], now: float, width: int) -> Table:
    """One line a job; only what is known of it gives way when the screen is narrow."""
    rows = [_row(view, now) for view in views]
    table = Table(box=None, header_style="bold", pad_edge=False)
    taken = 0
    for title, cells in zip(_COLUMNS, zip(*rows, strict=True), strict=False):
        needed = max(len(title), *(Text.from_markup(cell).cell_len for cell in cells))
        taken += needed + 2
        justify: Literal["left", "right"] = "right" if title in _NUMBERS else "left"
        table.add_column(title, no_wrap=True, width=needed, justify=justify)
    left = max(_LEAST_KNOWN, width - taken)
    table.add_column("WHAT WE KNOW", overflow="ellipsis", no_wrap=True, max_width=left)
    for row in rows:
        table.add_row(*row)
    return table


def _row(view: JobView, now: float) -> tuple[str, ...]:
    job = view.job
    restarted = f" ↻{job.restarts}" if job.restarts else ""
    mark = f" [yellow]{_MARK}[/]" if _warnings(view) else ""
    return (
        escape(job.id),
        escape(_short(job.name)),
        f"[{_COLOURS.get(job.state, 'red')}]{job.state}{restarted}[/]{mark}",
        duration(_predicted_s(view)),
        duration(_run_time(view, now)),
        _bar(view),
        _ends_in(view, now),
        _known(view),
    )


def _predicted_s(view: JobView) -> float | None:
    """None also where the range is so wide that its middle says next to nothing."""
    predicted = view.predicted
    return None if predicted is None or predicted.too_wide else predicted.p50


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def _run_time(view: JobView, now: float) -> float | None:
    job = view.job
    if job.state is JobState.RUNNING and job.start_time is not None:
        return now - job.start_time
    return job.run_time_s


def _bar(view: JobView) -> str:
    fraction = _fraction(view)
    if fraction is None:
        return ""
    done = round(fraction * _BAR)
    return f"{'━' * done}[dim]{'─' * (_BAR - done)}[/] {fraction:4.0%}"


def _fraction(view: JobView) -> float | None:
    """A job that has completed has done all, whatever its last line reports."""
    progress, state = view.progress, view.job.state
    if progress is None or progress.fraction is None or state is JobState.PENDING:
        return None
    return 1.0 if state is JobState.COMPLETED else min(1.0, progress.fraction)


def _ends_in(view: JobView, now: float) -> str:
    left = view.remaining_s(now)
    return "" if left is None else duration(left.p50)


def _warnings(view: JobView) -> list[str]:
    """What a run that goes on may end in."""
    if view.progress is None or view.job.state is not JobState.RUNNING:
        return []
    return [warning.text for warning in view.progress.warnings]


def _known(view: JobView) -> str:
    if warnings := _warnings(view):
        return f"[yellow]{_MARK} {escape('; '.join(warnings))}[/]"
    if view.job.held:
        return escape(held_in_words(view))
    if view.diagnosis is not None:
        which = "" if view.job.restarts == 0 else f"attempt {max(view.diagnoses) + 1}: "
        return escape(f"{which}{view.diagnosis.reason}: {view.diagnosis.summary}")
    if slow := _slow(view):
        return slow
    if view.advice is not None:
        return escape(view.advice.prediction.explanation)
    return ""


def _slow(view: JobView) -> str:
    if view.progress is None or view.job.state is not JobState.RUNNING:
        return ""
    if view.progress.phase == "stalled":
        return "stalled"
    slowdown = view.progress.slowdown
    return "" if slowdown is None else slowdown_in_words(slowdown, duration)
