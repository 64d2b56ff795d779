"""That a run goes on for nothing, or was stopped for it, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.model import JobState

if TYPE_CHECKING:
    from schedmate.model import ActionRecord
    from schedmate.service.views.job_view import JobView

_STOPPED = {
    "done": "it was stopped",
    "intended": "it is being stopped",
    "observed": "it would have been stopped",
    "noted": "it would have been stopped",
}


def doomed_sentence(view: JobView) -> str:
    """What it goes on for nothing for, and how to end it; empty where nothing is known of that."""
    record = view.doomed
    if record is None:
        return ""
    running = view.job.state is JobState.RUNNING
    if record.action.kind != "cancel":
        return f"it {goes_on(record)}; to end it: {how_to_end(view)}" if running else ""
    if record.state == "failed":
        return f"it could not be stopped: {record.note}"
    end = f"; to end it: {how_to_end(view)}" if running and record.state == "observed" else ""
    return f"{_STOPPED[record.state]}: {record.action.why}{end}"


def how_to_end(view: JobView) -> str:
    return f"schedmate cancel {view.job.id}"


def doomed_line(view: JobView) -> str:
    """The line of the log that shows it; empty where none does."""
    reason = None if view.doomed is None else view.doomed.action.reason
    return "" if reason is None else reason.line


def goes_on(record: ActionRecord) -> str:
    """What failed before may have been mended where no code shows it."""
    verb = "may well fail again" if record.action.failure == "repeated" else "runs on for nothing"
    return f"{verb}: {record.action.why}"
