"""The queue as a table, for `jobs` and for the demo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from schedmate.cli._common import duration
from schedmate.model import JobState
from schedmate.service.wording import slowdown_in_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.service.stories import Story

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


def queue_table(stories: Sequence[Story], now: float, width: int) -> Table:
    """One line a job; only what is known of it gives way when the screen is narrow."""
    rows = [_row(story, now) for story in stories]
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


def _row(story: Story, now: float) -> tuple[str, ...]:
    job = story.job
    restarted = f" ↻{job.restarts}" if job.restarts else ""
    mark = f" [yellow]{_MARK}[/]" if _warnings(story) else ""
    return (
        escape(job.id),
        escape(_short(job.name)),
        f"[{_COLOURS.get(job.state, 'red')}]{job.state}{restarted}[/]{mark}",
        duration(None if story.predicted is None else story.predicted.p50),
        duration(_run_time(story, now)),
        _bar(story),
        _ends_in(story, now),
        _known(story),
    )


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def _run_time(story: Story, now: float) -> float | None:
    job = story.job
    if job.state is JobState.RUNNING and job.start_time is not None:
        return now - job.start_time
    return job.run_time_s


def _bar(story: Story) -> str:
    fraction = _fraction(story)
    if fraction is None:
        return ""
    done = round(fraction * _BAR)
    return f"{'━' * done}[dim]{'─' * (_BAR - done)}[/] {fraction:4.0%}"


def _fraction(story: Story) -> float | None:
    """Whatever its log said last, a job that has completed is through."""
    progress, state = story.progress, story.job.state
    if progress is None or progress.fraction is None or state is JobState.PENDING:
        return None
    return 1.0 if state is JobState.COMPLETED else min(1.0, progress.fraction)


def _ends_in(story: Story, now: float) -> str:
    left = story.remaining_s(now)
    return "" if left is None else duration(left.p50)


def _warnings(story: Story) -> list[str]:
    """What a run that goes on may end in."""
    if story.progress is None or story.job.state is not JobState.RUNNING:
        return []
    return [warning.text for warning in story.progress.warnings]


def _known(story: Story) -> str:
    if warnings := _warnings(story):
        return f"[yellow]{_MARK} {escape('; '.join(warnings))}[/]"
    if story.diagnosis is not None:
        which = "" if story.job.restarts == 0 else f"attempt {max(story.diagnoses) + 1}: "
        return escape(f"{which}{story.diagnosis.reason}: {story.diagnosis.summary}")
    if story.progress is not None and story.job.state is JobState.RUNNING:
        if story.progress.phase == "stalled":
            return "stalled"
        if story.progress.slowdown is not None:
            return slowdown_in_words(story.progress.slowdown, duration)
    if story.advice is not None:
        return escape(story.advice.prediction.explanation)
    return ""
