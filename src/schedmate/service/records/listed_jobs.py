"""The scheduler's jobs, kept in the store for those that only look on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from schedmate.model import JobState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.model import Job, JobId
    from schedmate.store import Listing


class ListedJobs:
    """Writes what has changed since the last look, and nothing else."""

    def __init__(self, store: Listing) -> None:
        self._store = store
        self._kept: dict[JobId, Job] | None = None
        self.restarted: list[tuple[Job, Job]] = []
        """The jobs that ran at the poll before and have been queued again since: then, and now."""

    def keep(self, jobs: Sequence[Job]) -> list[Job]:
        """Returns them as the store calls them."""
        if self._kept is None:
            self._kept = {job.id: job for job in self._store.listed_jobs()}
        kept = self._kept
        now = {job.id: _with_submission(job, kept.get(job.id)) for job in jobs}
        changed = [job for job_id, job in now.items() if kept.get(job_id) != job]
        before = ((kept[job.id], job) for job in changed if job.id in kept)
        self.restarted = [pair for pair in before if _has_restarted(*pair)]
        gone = [job_id for job_id in kept if job_id not in now]
        if changed or gone:
            now |= {job.id: job for job in self._store.keep_listed(changed, gone)}
        self._kept = now
        return list(now.values())


def _with_submission(job: Job, before: Job | None) -> Job:
    """What a scheduler says of a job that was queued again only as long as it knows."""
    if before is None or job.submitted_at is not None or job.submit_time != before.submit_time:
        return job
    return replace(job, first_submit=before.first_submit)


def _has_restarted(before: Job, now: Job) -> bool:
    again = before.state is JobState.RUNNING and now.restarts == before.restarts + 1
    return again and now.is_same_job(before)


def starts_next(job: Job) -> tuple[float, float]:
    """What runs, then what waits by the scheduler's own priority."""
    first = float("-inf") if job.state is not JobState.PENDING else -(job.priority or 0)
    return first, job.submit_time
