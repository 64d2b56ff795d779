"""The short answers: when does it end, and why is it as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.model import Job, JobState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from schedmate.service.stories import Story


def eta_sentence(story: Story, now: float, written: Callable[[float | None], str]) -> str:
    """`written` puts a number of seconds into words."""
    job = story.job
    if job.state.ended:
        return f"job {job.id} has ended: {job.state} after {written(job.run_time_s)}"
    if job.state is JobState.PENDING:
        if story.predicted is None:
            return f"job {job.id} waits; nothing is known of how long it will run"
        return f"job {job.id} waits; it will run about {written(story.predicted.p50)}"
    left = story.remaining_s(now)
    if left is None:
        return f"job {job.id} runs; neither its log nor its history says how long"
    return f"job {job.id} ends in {written(left.p50)} ({written(left.p10)} to {written(left.p90)})"


def why_sentence(story: Story, queue: Sequence[Job]) -> str:
    job = story.job
    if job.state is JobState.PENDING:
        return _why_waiting(story, queue)
    found = story.diagnoses.get(job.restarts)
    if found is not None:
        return f"{found.reason}: {found.summary}"
    if job.state is JobState.RUNNING:
        phase = "unknown" if story.progress is None else story.progress.phase
        return f"job {job.id} runs: {phase}{_before(story)}"
    because = f", {job.reason}" if job.reason else ""
    return f"job {job.id} has ended: {job.state}{because}{_before(story)}"


def _before(story: Story) -> str:
    """What the attempt before this one died of."""
    last = story.diagnosis
    return "" if last is None else f"; the attempt before: {last.reason}: {last.summary}"


def _why_waiting(story: Story, queue: Sequence[Job]) -> str:
    job = story.job
    running = sum(other.state is JobState.RUNNING for other in queue)
    ahead = sum(
        other.state is JobState.PENDING
        and (other.nice, other.submit_time) < (job.nice, job.submit_time)
        for other in queue
    )
    because = f" ({job.reason})" if job.reason else ""
    queue_words = f"{running} running and {ahead} waiting jobs"
    return f"job {job.id} waits behind {queue_words}{because}{_before(story)}"
