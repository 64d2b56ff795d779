"""One line about a job: what a table of the queue shows of it, in a terminal or on a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from schedmate.handler.case import signal_name
from schedmate.model import JobState
from schedmate.service.views.holds import held_in_words
from schedmate.service.views.sentences import (
    overdue_in_words,
    own_condition_in_words,
    slowdown_in_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedmate.model import Job, Spread
    from schedmate.service.views.job_view import JobView
    from schedmate.service.views.sentences import Written

NoteKind = Literal["", "warning", "failure"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueRow:
    view: JobView
    predicted_s: float | None
    """None also where the range is so wide, or the time so short, that it says next to nothing."""
    run_time_s: float | None
    fraction: float | None
    left_s: Spread | None
    note: str
    note_kind: NoteKind


def queue_row(view: JobView, now: float, written: Written) -> QueueRow:
    note, kind = next(_notes(view, now, written))
    left = view.remaining_s(now)
    return QueueRow(
        view=view,
        predicted_s=_shown_s(view.predicted),
        run_time_s=_run_time_s(view, now),
        fraction=_fraction(view, left),
        left_s=left,
        note=note,
        note_kind=kind,
    )


def _shown_s(predicted: Spread | None) -> float | None:
    known = predicted is not None and not predicted.too_wide and predicted.p90 >= 1
    return predicted.p50 if predicted is not None and known else None


def _run_time_s(view: JobView, now: float) -> float | None:
    job = view.job
    if job.state is JobState.RUNNING and job.start_time is not None:
        return now - job.start_time
    return job.run_time_s


def _fraction(view: JobView, left: Spread | None) -> float | None:
    """A job that has completed has done all, whatever its last line reports. A share of the time
    that it takes is unknown where its end is."""
    progress, state = view.progress, view.job.state
    if progress is None or progress.fraction is None or state is JobState.PENDING:
        return None
    if state is JobState.RUNNING and progress.fraction_of == "time" and left is None:
        return None
    return 1.0 if state is JobState.COMPLETED else min(1.0, progress.fraction)


def _notes(view: JobView, now: float, written: Written) -> Iterator[tuple[str, NoteKind]]:
    """What may be worth a word, the most important first."""
    progress = view.progress if view.job.state is JobState.RUNNING else None
    if progress is not None and progress.warnings:
        yield "; ".join(warning.text for warning in progress.warnings), "warning"
    if waits := waits_in_words(view, now, written):
        yield waits, ""
    if view.errors:
        yield "; ".join(view.errors), "failure"
    if view.diagnosis is not None:
        which = "" if view.job.restarts == 0 else f"attempt {max(view.diagnoses) + 1}: "
        yield f"{which}{view.diagnosis.reason}: {view.diagnosis.summary}", "failure"
    if view.job.state.failed and (end := _end_in_words(view.job)):
        yield end, "failure"
    if progress is not None and progress.phase == "stalled":
        yield "stalled", "warning"
    if progress is not None and progress.slowdown is not None:
        yield slowdown_in_words(progress.slowdown, written), "warning"
    if view.is_overdue(now):
        yield overdue_in_words(view, written), ""
    if view.advice is not None:
        yield view.advice.prediction.explanation, ""
    yield "", ""


def waits_in_words(view: JobView, now: float, written: Written) -> str:
    """What it waits for that is not its turn; empty where it waits for nothing else."""
    if view.job.state is not JobState.PENDING:
        return ""
    return held_in_words(view) if view.job.held else own_condition_in_words(view.job, now, written)


def _end_in_words(job: Job) -> str:
    """As the scheduler has it: nobody has read the log yet."""
    code = f"exit code {job.exit_code}" if job.exit_code else ""
    signal = signal_name(job.signal) if job.signal else ""
    return ", ".join(part for part in (code, signal, job.reason) if part)
