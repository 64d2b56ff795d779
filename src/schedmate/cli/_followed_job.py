"""A job by its number: followed from the queue into its run and to its end."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from schedmate.cli._common import duration
from schedmate.cli._look import Look
from schedmate.model import JobState, NotFound, Progress
from schedmate.service.met_jobs import met_jobs
from schedmate.service.records.run_tracking import track_run
from schedmate.service.views.job_view import job_view
from schedmate.service.views.sentences import why_sentence

if TYPE_CHECKING:
    from schedmate.model import Asker, Job
    from schedmate.schedulers.base import Scheduler
    from schedmate.service.daemon.background import BackgroundQueue
    from schedmate.service.records.run_tracking import TrackedRun
    from schedmate.service.visibility import Viewer
    from schedmate.store import Store

_JOB_ID: Final = re.compile(r"\d{1,12}(?:[_+.]\d{1,6})?")
_ASK_EVERY_S = 2.0
_ENDED: Final[dict[JobState, Literal["finished", "failed"]]] = {
    JobState.COMPLETED: "finished",
    JobState.FAILED: "failed",
    JobState.OUT_OF_MEMORY: "failed",
    JobState.NODE_FAIL: "failed",
    JobState.TIMEOUT: "failed",
}


def is_job(word: str) -> bool:
    """Whether a word that names no file may be the number of a job."""
    return _JOB_ID.fullmatch(word) is not None and not Path(word).exists()


@dataclass(slots=True)
class JobFollower:
    """Asks the scheduler for the state, and the job's logs for the progress."""

    job_id: str
    scheduler: Scheduler
    store: Store
    viewer: Viewer
    job: Job | None = None
    asked_at: float = float("-inf")
    run: TrackedRun | None = None

    def look(self, now: float) -> Look:
        job = self._known_job()
        if job.state is JobState.PENDING:
            return Look(self._queued(job))
        run = self._tracked(job)
        if not job.state.ended:
            progress = run.tracker.poll(now, writing=True)  # the scheduler knows that it runs
            return Look(self.viewer.progress(progress, run.job.user))
        progress = run.tracker.poll(job.end_time or now, ended=_ENDED.get(job.state))
        while run.tracker.behind:
            progress = run.tracker.poll(job.end_time or now, ended=_ENDED.get(job.state))
        if job.state not in _ENDED:
            progress = replace(progress, note=f"job {job.id} has ended: {job.state}", eta_s=None)
        failure = self._failure(job) if progress.phase == "failed" else ""
        return Look(self.viewer.progress(progress, job.user), over=True, failure=failure)

    def ask(self, asker: Asker | None, background: BackgroundQueue) -> None:
        """The daemon asks a model about the logs of jobs."""

    def _known_job(self) -> Job:
        now = time.monotonic()
        if self.job is None or now - self.asked_at >= _ASK_EVERY_S:
            found = met_jobs(self.scheduler, self.store, [self.job_id])
            if not found:
                raise NotFound(
                    f"there is no log {self.job_id}, and {self.scheduler.name} knows no such job"
                )
            self.job, self.asked_at = self.viewer.job(found[0]), now
        return self.job

    def _queued(self, job: Job) -> Progress:
        because = f" ({job.reason})" if job.reason else ""
        log = job.logs[0] if job.logs else f"job {job.id}"
        return Progress(log=log, note=f"job {job.id} waits in the queue{because}")

    def _tracked(self, job: Job) -> TrackedRun:
        """A new tracker for each run of the job, and once more when its logs become known."""
        run = self.run
        is_it = run is not None and run.job.is_same_job(job) and run.job.restarts == job.restarts
        if run is None or not is_it or (job.logs and not run.logs):
            run = self.run = track_run(job, self.store)
        return run

    def _failure(self, job: Job) -> str:
        view = job_view(self.scheduler, self.store, self.viewer, job.id)
        return f"{why_sentence(view, (), time.time(), duration)} (more: schedmate job {job.id})"
