"""The short answers: when does it end, and why is it as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.model import EndsBy, Job, JobState
from schedmate.service.retry_outcome import in_words
from schedmate.service.wording import end_in_words, slowdown_in_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.model import Diagnosis
    from schedmate.service.job_view import JobView
    from schedmate.service.wording import Written


def eta_sentence(view: JobView, now: float, written: Written) -> str:
    job = view.job
    if job.state.ended:
        return f"job {job.id} has ended: {job.state} after {written(job.run_time_s)}"
    if job.state is JobState.PENDING:
        if view.predicted is None:
            return f"job {job.id} waits; nothing is known of how long it will run"
        return f"job {job.id} waits; it will run about {written(view.predicted.p50)}"
    left = view.remaining_s(now)
    if left is None:
        return f"job {job.id} runs; neither its log nor its history says how long"
    told = view.progress
    ends_by: EndsBy = "unknown" if told is None or told.eta_s is None else told.ends_by
    return f"job {job.id} {end_in_words(left, ends_by, written)}"


def why_sentence(view: JobView, queue: Sequence[Job], written: Written) -> str:
    job = view.job
    if job.state is JobState.PENDING:
        return _why_waiting(view, queue, written)
    found = view.diagnoses.get(job.restarts)
    if found is not None and _was_mistaken(view, found):
        return f"{_as_it_is(view, written)}; it seemed to hang for a while"
    if found is not None:
        return f"{found.reason}: {found.summary}{_after(view, written)}"
    return f"{_as_it_is(view, written)}{_before(view, written)}"


def _as_it_is(view: JobView, written: Written) -> str:
    job = view.job
    if job.state is JobState.RUNNING:
        return f"job {job.id} runs: {_how_it_runs(view, written)}"
    because = f", {job.reason}" if job.reason else ""
    return f"job {job.id} has ended: {job.state}{because}"


def _was_mistaken(view: JobView, found: Diagnosis) -> bool:
    """A run that was taken for hung and went on."""
    if found.reason != "hang":
        return False
    if view.job.state is JobState.RUNNING:
        return (
            view.progress is not None
            and view.progress.silence is not None
            and (view.progress.silence.silent_s <= view.progress.silence.allowed_s)
        )
    return view.job.state is JobState.COMPLETED


def _how_it_runs(view: JobView, written: Written) -> str:
    progress = view.progress
    if progress is None:
        return "unknown"
    slower = progress.slowdown
    words = [
        progress.phase,
        "" if slower is None else slowdown_in_words(slower, written),
        *(warning.text for warning in progress.warnings),
    ]
    return ", ".join(word for word in words if word)


def _before(view: JobView, written: Written) -> str:
    """What the attempt before this one died of."""
    last = view.diagnosis
    if last is None:
        return ""
    return f"; the attempt before: {last.reason}: {last.summary}{_after(view, written)}"


def _after(view: JobView, written: Written) -> str:
    """What was done about it, and who else the nodes have failed."""
    words = [] if view.retry is None else [in_words(view.retry, written)]
    words += [f"{one.node} is suspect ({one.probability:.0%} sure)" for one in view.suspects]
    return "".join(f"; {word}" for word in words)


def _why_waiting(view: JobView, queue: Sequence[Job], written: Written) -> str:
    job = view.job
    running = sum(other.state is JobState.RUNNING for other in queue)
    ahead = sum(
        other.state is JobState.PENDING
        and (other.nice, other.submit_time) < (job.nice, job.submit_time)
        for other in queue
    )
    because = f" ({job.reason})" if job.reason else ""
    queue_words = f"{running} running and {ahead} waiting jobs"
    return f"job {job.id} waits behind {queue_words}{because}{_before(view, written)}"
