"""A shared queue, served by a real process of root's, and accounts that use it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from dataclasses import dataclass, field
from pathlib import Path

from files.people import OTHER, OWNER, as_user, give
from schedmate.model import Request, Submission
from schedmate.schedulers.shared.client import SharedScheduler
from schedulers.local_site import processes_of, wait_for

THIRD = "mail"
ACCOUNTS = (OWNER, OTHER, THIRD)


@dataclass
class SharedSite:
    slots: int = 2
    server: subprocess.Popen | None = field(default=None, init=False)
    killers: dict[int, subprocess.Popen] = field(default_factory=dict, init=False)

    def __post_init__(self):
        self.root = Path(tempfile.mkdtemp(prefix="schedmate-lab-", dir="/tmp"))
        self.root.chmod(0o755)
        self.socket = self.root / "queue.sock"
        self.settings = self.root / "config.toml"
        self.settings.write_text(f"local.slots = {self.slots}\nlocal.kill_wait_s = 0.5\n")
        for user in ACCOUNTS:
            self.home(user).mkdir()
            give(self.home(user), user, 0o700)
        self.serve()

    def home(self, user):
        return self.root / f"home-{user}"

    @property
    def scheduler(self):
        return SharedScheduler(self.socket)

    def serve(self):
        """Start the server, as a service manager does after its death too."""
        if self.server is not None:
            self.server.wait(60)
        env = {
            **os.environ,
            "SCHEDMATE_CONFIG": str(self.settings),
            "SCHEDMATE_STATE_DIR": str(self.root / "state"),
            "SCHEDMATE_QUEUE_SOCKET": str(self.socket),
            "SCHEDMATE_LLM__ENABLED": "false",
        }
        words = [sys.executable, "-P", "-m", "schedmate", "serve", "--queue"]
        with (self.root / "server.log").open("ab") as log:
            self.server = subprocess.Popen(words, env=env, stdout=log, stderr=log)
        wait_for(self.answers, "the server")

    def answers(self):
        try:
            self.scheduler.jobs([])
        except Exception:  # noqa: BLE001 - not yet
            assert self.server.poll() is None, (self.root / "server.log").read_text()
            return False
        return True

    def kill_in(self, seconds):
        """At a moment that no one waits for."""
        if self.server.pid in self.killers:
            return
        words = ["bash", "-c", f"sleep {seconds:.3f}; kill -9 {self.server.pid}"]
        self.killers[self.server.pid] = subprocess.Popen(words, stderr=subprocess.DEVNULL)

    def survive(self):
        """Wait until nobody kills any more, and serve."""
        for killer in self.killers.values():
            killer.wait(60)
        if self.server.pid in self.killers:
            self.serve()

    def act(self, user, act):
        """What it returns for that user; what it raises is `[class, text]`."""

        def guarded():
            try:
                return act(SharedScheduler(self.socket))
            except Exception as error:  # noqa: BLE001 - handed over as data
                return [type(error).__name__, str(error), traceback.format_exc()]

        return as_user(user, guarded)

    def job(self, user, *words, gpus=1, **parts):
        parts = {
            "name": "job",
            "workdir": str(self.home(user)),
            "request": Request(gpus=gpus),
        } | parts
        return Submission(command=words, **parts)

    def shell(self, user, text, **parts):
        job = self.job(user, "bash", "-c", text, **parts)
        found = self.act(user, lambda scheduler: scheduler.submit(job))
        assert isinstance(found, str), found
        return found

    def state(self, job_id):
        return self.scheduler.jobs([job_id])[0]

    def ended(self, *ids):
        def over():
            jobs = self.scheduler.jobs(ids)
            return jobs if all(job.state.ended for job in jobs) else None

        return wait_for(over, f"the end of {ids}", 120)

    def leave(self):
        self.survive()
        for job in self.scheduler.jobs():
            if not job.state.ended:
                self.scheduler.cancel(job.id)
        wait_for(
            lambda: all(job.state.ended for job in self.scheduler.jobs()), "the end of all jobs"
        )
        self.server.terminate()
        assert self.server.wait(60) == 0
        wait_for(lambda: not processes_of(self.root), f"the end of {processes_of(self.root)}")
        shutil.rmtree(self.root)
