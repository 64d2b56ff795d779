"""The queue as a table, for `jobs` and for the demo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from rich.table import Table

from schedmate.cli._common import duration
from schedmate.model import JobState

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
_COLUMNS = (
    *(("JOBID", 5), ("NAME", 8), ("STATE", 9), ("PREDICTED", 9), ("REAL", 6)),
    *(("PROGRESS", _BAR + 5), ("ENDS IN", 7)),
)


def queue_table(stories: Sequence[Story], now: float) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for title, width in _COLUMNS:
        justify: Literal["left", "right"] = "right" if title in ("PREDICTED", "REAL") else "left"
        table.add_column(title, no_wrap=True, min_width=width, justify=justify)
    table.add_column("WHAT WE KNOW", overflow="ellipsis", no_wrap=True)
    for story in stories:
        table.add_row(*_row(story, now))
    return table


def _row(story: Story, now: float) -> tuple[str, ...]:
    job = story.job
    restarted = f" ↻{job.restarts}" if job.restarts else ""
    return (
        job.id,
        job.name,
        f"[{_COLOURS.get(job.state, 'red')}]{job.state}{restarted}[/]",
        duration(None if story.predicted is None else story.predicted.p50),
        duration(_run_time(story, now)),
        _bar(story),
        _ends_in(story, now),
        _known(story),
    )


def _run_time(story: Story, now: float) -> float | None:
    job = story.job
    if job.state is JobState.RUNNING and job.start_time is not None:
        return now - job.start_time
    return job.run_time_s


def _bar(story: Story) -> str:
    progress = story.progress
    if progress is None or progress.fraction is None or story.job.state is JobState.PENDING:
        return ""
    done = round(min(1.0, progress.fraction) * _BAR)
    return f"{'━' * done}[dim]{'─' * (_BAR - done)}[/] {progress.fraction:4.0%}"


def _ends_in(story: Story, now: float) -> str:
    left = story.remaining_s(now)
    return "" if left is None else duration(left.p50)


def _known(story: Story) -> str:
    from rich.markup import escape

    if story.diagnosis is not None:
        retried = "" if story.job.restarts == 0 else f"attempt {max(story.diagnoses) + 1}: "
        return escape(f"{retried}{story.diagnosis.reason}: {story.diagnosis.summary}")
    if story.progress is not None and story.progress.phase == "stalled":
        return "stalled"
    if story.advice is not None:
        return escape(story.advice.prediction.explanation)
    return ""
