"""The scheduler's jobs, kept in the store for those that only look on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.model import Job, JobId
    from schedmate.store import Listing


class ListedJobs:
    """Writes what has changed since the last look, and nothing else."""

    def __init__(self, store: Listing) -> None:
        self._store = store
        self._kept: dict[JobId, Job] | None = None

    def keep(self, jobs: Sequence[Job]) -> None:
        if self._kept is None:
            self._kept = {job.id: job for job in self._store.listed_jobs()}
        now = {job.id: job for job in jobs}
        changed = [job for job_id, job in now.items() if self._kept.get(job_id) != job]
        gone = [job_id for job_id in self._kept if job_id not in now]
        if changed or gone:
            self._store.keep_listed(changed, gone)
        self._kept = now
