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
    if story.diagnosis is not None and (job.state.ended or job.restarts):
        again = f" (attempt {job.restarts + 1} now)" if job.state is JobState.RUNNING else ""
        return f"{story.diagnosis.reason}: {story.diagnosis.summary}{again}"
    if job.state is JobState.RUNNING:
        phase = "unknown" if story.progress is None else story.progress.phase
        return f"job {job.id} runs: {phase}"
    return f"job {job.id} has ended: {job.state}" + (f", {job.reason}" if job.reason else "")


def _why_waiting(story: Story, queue: Sequence[Job]) -> str:
    job = story.job
    running = sum(other.state is JobState.RUNNING for other in queue)
    ahead = sum(
        other.state is JobState.PENDING
        and (other.nice, other.submit_time) < (job.nice, job.submit_time)
        for other in queue
    )
    because = f" ({job.reason})" if job.reason else ""
    retried = "" if story.diagnosis is None else f"; last attempt: {story.diagnosis.summary}"
    return f"job {job.id} waits behind {running} running and {ahead} waiting jobs{because}{retried}"
