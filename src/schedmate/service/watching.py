"""Follows the logs of the jobs that run."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate.tracker import JobTracker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedmate.model import Advice, Job, JobId, Progress
    from schedmate.store import Store

_KEEP_EVERY_S = 1.0
_log = logging.getLogger("schedmate.watching")


def tracker_of(job: Job, advice: Advice | None) -> JobTracker:
    """Follows the logs of this run, with what is known of it."""
    return JobTracker(
        [Path(log) for log in job.logs],
        started_at=job.start_time,
        workload=None if advice is None else advice.workload,
        prediction=None if advice is None else advice.prediction,
    )


class Watching:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._trackers: dict[JobId, tuple[Job, JobTracker]] = {}
        self._kept_at: dict[JobId, float] = {}

    def begin(self, job: Job) -> None:
        """Follow the logs of a run from its start; a new run of the job replaces the old."""
        kept = self._store.advice(job.id)
        self._trackers[job.id] = (job, tracker_of(job, None if kept is None else kept.advice))

    def look(self, now: float) -> Iterator[tuple[JobId, Progress]]:
        for job_id, (job, tracker) in list(self._trackers.items()):
            try:
                progress = tracker.poll(now)
            except Exception:  # noqa: BLE001 - one strange log must not blind us to all others
                _log.exception("the logs of job %s cannot be followed", job_id)
                del self._trackers[job_id]
                continue
            self._keep(job, progress, now)
            yield job_id, progress

    def end(self, job: Job) -> Progress | None:
        """Stop following, with a last look at what the run wrote before it ended."""
        followed = self._trackers.get(job.id)
        self.forget(job.id)
        if followed is None or job.end_time is None:
            return None
        progress = followed[1].poll(job.end_time)
        self._store.keep_progress(job.id, job.restarts, progress, at=job.end_time)
        return progress

    def forget(self, job_id: JobId) -> None:
        self._trackers.pop(job_id, None)
        self._kept_at.pop(job_id, None)

    def _keep(self, job: Job, progress: Progress, now: float) -> None:
        """Others want to see it too, but not ten times a second."""
        if now - self._kept_at.get(job.id, 0.0) >= _KEEP_EVERY_S:
            self._kept_at[job.id] = now
            self._store.keep_progress(job.id, job.restarts, progress, at=now)
