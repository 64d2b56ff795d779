"""A local scheduler in a directory of its own, with or without its real daemon."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

from schedmate.config import LocalSettings
from schedmate.disk.lock import lock_holder
from schedmate.model import JobState, Request, Submission
from schedmate.schedulers.local import LocalScheduler
from schedmate.schedulers.local.daemon import LocalDaemon
from schedmate.schedulers.local.layout import Layout
from schedmate.schedulers.local.queue import QueueFile

PATIENCE_S = 60.0
SETTINGS = LocalSettings(slots=2, kill_wait_s=0.3, poll_s=0.02)


def wait_for(met, what="it", patience_s=PATIENCE_S):
    """Asks less often the longer it lasts: what it waits for needs the processor too."""
    began = time.monotonic()
    while not (result := met()):
        lasted_s = time.monotonic() - began
        assert lasted_s < patience_s, f"{what} did not happen"
        time.sleep(min(0.5, 0.02 + lasted_s / 20))
    return result


def processes_of(root: Path) -> list[int]:
    """Every process that was started with this directory in its words or its environment."""
    mark = os.fsencode(root)
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                text = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
            except OSError:
                continue
            if mark in text:
                found.append(int(entry.name))
    return found


class Still(LocalScheduler):
    """One that starts no daemon: the test is the daemon."""

    def ensure_running(self) -> None:
        pass


@dataclass
class LocalSite:
    root: Path
    settings: LocalSettings = SETTINGS
    real: bool = True
    scheduler: LocalScheduler = field(init=False)
    daemons: list[LocalDaemon] = field(default_factory=list)

    def __post_init__(self):
        kind = LocalScheduler if self.real else Still
        self.scheduler = kind(self.root / "local", self.settings)
        self.work = self.root / "work"
        self.work.mkdir(parents=True, exist_ok=True)
        self.layout = Layout(self.root / "local")
        self.queue = QueueFile(self.layout.queue)

    def submit(self, *command, gpus=1, limit=None, **parts):
        request = Request(gpus=gpus, time_limit_s=limit)
        parts = {"name": "job", "workdir": str(self.work), "request": request, **parts}
        return self.scheduler.submit(Submission(command=command, **parts))

    def shell(self, text, **parts):
        return self.submit("bash", "-c", text, **parts)

    def job(self, job_id):
        return self.scheduler.jobs([job_id])[0]

    def attempt(self, job_id):
        return self.layout.attempt(self.queue.named(job_id)[0])

    def log(self, job_id):
        return Path(self.job(job_id).logs[0]).read_text()

    def lines(self, name="ran"):
        path = self.work / name
        return path.read_text().splitlines() if path.exists() else []

    @property
    def daemon(self):
        return self.daemons[-1] if self.daemons else self.new_daemon()

    def new_daemon(self):
        """It knows nothing of the one before, as after a kill."""
        self.daemons.append(LocalDaemon(self.layout, self.settings))
        return self.daemon

    def until(self, met, what="it"):
        """Be the daemon, where there is no real one, until something is true."""

        def look():
            if not self.real:
                self.daemon.cycle(time.time())
            return met()

        return wait_for(look, what)

    def ended(self, job_id, restarts=0):
        def over():
            job = self.job(job_id)
            return job if job.state.ended and job.restarts == restarts else None

        return self.until(over, f"the end of job {job_id}")

    def started(self, job_id):
        """Wait until its command runs."""
        self.until(lambda: self.attempt(job_id).claimed_by(), f"the start of job {job_id}")
        assert self.job(job_id).state is JobState.RUNNING

    def kill_daemon(self):
        pid = lock_holder(self.layout.lock)
        if pid is not None:
            os.kill(pid, signal.SIGKILL)

    def leave(self):
        """Whatever the test left behind must go when it is asked to."""
        for job in self.scheduler.jobs():
            self.scheduler.cancel(job.id)
        self.until(self.queue.idle, "the end of all jobs")
        self.scheduler.stop()
        self.queue.close()
        for daemon in self.daemons:
            for runner, _ in daemon._runners.values():
                runner.wait(PATIENCE_S)
        wait_for(lambda: not processes_of(self.root), f"the end of {processes_of(self.root)}")
