"""A whole system in a directory: settings, the real local scheduler, the store."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from schedmate.config import LlmSettings, LocalSettings, Settings
from schedmate.model import Request, Submission
from schedmate.schedulers.local import LocalScheduler
from schedmate.service.daemon.assembling import assemble
from schedmate.service.usecases.submit import submit
from schedmate.service.wiring import open_scheduler, open_store
from schedulers.local_site import processes_of, wait_for

RUN = 'echo "$SCHEDMATE_JOB_ID $SCHEDMATE_RESTART_COUNT" >> ran'
KILLED_ONCE = f'{RUN}; [ "$SCHEDMATE_RESTART_COUNT" = 1 ] || kill -9 $$'
ERROR = f"""{RUN}; exec python3 -c 'x = {{}}["missing"]'"""
"""A mistake in the user's own program."""


@dataclass
class Place:
    root: Path
    mode: str = "act"
    other_settings: dict = field(default_factory=dict)

    def __post_init__(self):
        self.work = self.root / "work"
        self.work.mkdir()

    @property
    def settings(self):
        return Settings(
            state_dir=self.root / "state",
            cache_dir=self.root / "cache",
            mode=self.mode,
            scheduler="local",
            local=LocalSettings(slots=2, kill_wait_s=0.3, poll_s=0.02),
            llm=LlmSettings(enabled=False),
            **self.other_settings,
        )

    @property
    def scheduler(self) -> LocalScheduler:
        return open_scheduler(self.settings)

    def submission(self, text, **parts):
        parts = {"name": "job", "request": Request(gpus=1), **parts}
        return Submission(command=("bash", "-c", text), workdir=str(self.work), **parts)

    def submit(self, text, **parts):
        return submit(self.settings, self.submission(text, **parts)).job_id

    def job(self, job_id):
        return self.scheduler.jobs([job_id])[0]

    def lines(self, name="ran"):
        path = self.work / name
        return path.read_text().splitlines() if path.exists() else []

    def store(self):
        return closing(open_store(self.settings))

    def actions(self, job_id=None, *kinds):
        with self.store() as store:
            return [
                (record.action.kind, record.action.attempt, record.state)
                for record in store.actions(job_id=job_id)
                if record.action.kind in (kinds or ("requeue", "cancel"))
            ]

    def one_look(self):
        """By a daemon that knows nothing but what is written down."""
        with assemble(self.settings) as daemon:
            daemon.cycle(time.time())

    def looks_until(self, met, what):
        def look():
            self.one_look()
            return met()

        wait_for(look, what)

    def ended(self, job_id, restarts=0):
        job = self.job(job_id)
        return job.state.ended and job.restarts == restarts

    def leave(self):
        scheduler = self.scheduler
        for job in scheduler.jobs():
            scheduler.cancel(job.id)
        wait_for(lambda: all(job.state.ended for job in scheduler.jobs()), "the end of all jobs")
        scheduler.stop()
        wait_for(lambda: not processes_of(self.root), f"the end of {processes_of(self.root)}")
