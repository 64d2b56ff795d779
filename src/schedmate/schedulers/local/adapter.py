"""The local scheduler behind the common interface."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate.disk.lock import hold, lock_holder
from schedmate.disk.private import append_private
from schedmate.model import (
    Activity,
    BadInput,
    Job,
    JobId,
    NodeState,
    NotFound,
    SchedulerError,
    Submission,
)
from schedmate.model.account import account_name
from schedmate.model.priority import NICE_RANGE
from schedmate.schedulers.local import detach
from schedmate.schedulers.local.activity import activities, files_written
from schedmate.schedulers.local.gpus import busy_gpus, count_slots
from schedmate.schedulers.local.layout import Layout, SavedSubmission
from schedmate.schedulers.local.processes import booted_at
from schedmate.schedulers.local.queue import QueueEntry, QueueFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.config import LocalSettings

_REMEMBERED_S, _MOST_REMEMBERED = 24 * 3600.0, 1000
"""Ended jobs are listed for a day, the newest ones; asked for by id they are always found."""
_DEFAULT_LOG = "schedmate-%j.out"
_LONGEST_ID = 18
_log = logging.getLogger("schedmate.local")


class LocalScheduler:
    """Fulfils `Scheduler`. Excluding nodes means nothing to it: it has but one."""

    name = "local"

    def __init__(
        self, root: Path, settings: LocalSettings, *, nice_range: int | None = None
    ) -> None:
        self._layout = Layout(root.absolute())  # the daemon works elsewhere
        self._settings = settings
        self._queue = QueueFile(self._layout.queue)
        self._node = socket.gethostname()
        self._most_nice = nice_range or NICE_RANGE

    def submit(self, submission: Submission) -> JobId:
        self._check(submission)
        job_id = self._queue.add(
            name=submission.name,
            user=account_name(),
            workdir=str(Path(submission.workdir).resolve()),
            command=submission.command,
            script=submission.script,
            request=submission.request,
            nice=submission.nice,
            now=time.time(),
            spool=lambda job_id: self._spool(job_id, submission),
        )
        self.ensure_running()
        return str(job_id)

    def jobs(self, ids: Sequence[JobId] | None = None) -> list[Job]:
        wanted = None if ids is None else [int(one) for one in ids if _is_number(one)]
        entries = self._queue.entries(
            wanted, ended_since=time.time() - _REMEMBERED_S, most_ended=_MOST_REMEMBERED
        )
        if not all(entry.state.ended or entry.held for entry in entries):
            self.ensure_running()  # a look at unfinished jobs restarts a daemon that is gone
        return [entry.as_job(self._node, self._most_nice) for entry in entries]

    def nodes(self, names: Sequence[str] | None = None) -> list[NodeState]:
        """This machine, which is up if this code runs."""
        if names is not None and self._node not in names:
            return []
        return [NodeState(name=self._node, condition="up", state="up", up_since=booted_at())]

    def script(self, job_id: JobId) -> str | None:
        entry = self._queue.entry(_number(job_id))
        if entry.script is None:
            return None
        return self._layout.script(entry.id).read_text("utf-8", "replace")

    def cancel(self, job_id: JobId) -> None:
        self._queue.cancel(_number(job_id), time.time())
        self.ensure_running()

    def requeue(
        self,
        job_id: JobId,
        *,
        run: int,
        exclude_nodes: Sequence[str] = (),  # noqa: ARG002 - there is but one node
        delay_s: float = 0.0,
    ) -> bool:
        waits = self._queue.requeue(_number(job_id), time.time() + delay_s, run=run)
        self.ensure_running()
        return waits

    def may_run_on(self, job: Job, node: NodeState) -> bool:  # noqa: ARG002 - there is but one
        return True

    def hold(self, job_id: JobId) -> None:
        self._queue.hold(_number(job_id))

    def release(self, job_id: JobId) -> None:
        self._queue.release(_number(job_id))
        self.ensure_running()

    def set_nice(self, job_id: JobId, nice: int) -> None:
        self._queue.set_nice(_number(job_id), nice)

    def set_time_limit(self, job_id: JobId, seconds: float | None) -> None:
        self._queue.set_request(
            _number(job_id), lambda request: replace(request, time_limit_s=seconds)
        )

    def activity(self, jobs: Sequence[Job]) -> dict[JobId, Activity]:
        """See `MeasuresActivity`."""
        entries = self._running(jobs)
        gpus = {entry.id: entry.slots[: entry.request.gpus] for entry in entries}
        found = activities(
            {entry.id: self._layout.attempt(entry) for entry in entries},
            gpus,
            busy_gpus() if any(gpus.values()) else {},
        )
        return {str(number): activity for number, activity in found.items()}

    def written_files(self, jobs: Sequence[Job]) -> dict[JobId, frozenset[str]]:
        """See `KnowsOpenFiles`."""
        attempts = {entry.id: self._layout.attempt(entry) for entry in self._running(jobs)}
        return {str(number): files for number, files in files_written(attempts).items()}

    def _running(self, jobs: Sequence[Job]) -> list[QueueEntry]:
        wanted = [int(job.id) for job in jobs if _is_number(job.id)]
        return [entry for entry in self._queue.entries(wanted) if not entry.state.ended]

    def ensure_running(self) -> None:
        """Start the daemon unless one is alive.

        Where that fails the jobs are queued all the same: the next look tries again.
        """
        try:
            self._start_daemon()
        except (OSError, subprocess.SubprocessError):
            _log.warning("the local scheduler cannot be started now", exc_info=True)

    def _start_daemon(self) -> None:
        """Hand it the lock that shows it is alive."""
        lock = hold(self._layout.lock)
        if lock is None:
            return
        command = (
            *(sys.executable, "-P", "-m", "schedmate.schedulers.local.daemon"),
            *(str(self._layout.root), json.dumps(asdict(self._settings)), str(lock.fileno())),
        )
        with lock, append_private(self._layout.log) as log:
            subprocess.run(
                [sys.executable, "-I", "-S", detach.__file__, *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(lock.fileno(),),
                cwd="/",
                check=True,
            )

    def stop(self) -> None:
        """Stop the daemon; what runs goes on, and what waits waits for the next daemon."""
        daemon = lock_holder(self._layout.lock)
        if daemon is not None:
            os.kill(daemon, signal.SIGTERM)
        self._queue.close()

    def _check(self, submission: Submission) -> None:
        if not submission.command:
            raise BadInput("there is no command to run")
        if not Path(submission.workdir).is_dir():
            raise BadInput(f"the working directory {submission.workdir} does not exist")
        slots = count_slots(self._settings.slots)
        if submission.request.gpus > slots:
            raise SchedulerError(
                f"it asks for {submission.request.gpus} GPUs, this machine hands out {slots}"
            )
        if submission.passthrough:
            flags = " ".join(submission.passthrough)
            raise BadInput(f"the local scheduler does not know {flags}")

    def _spool(self, job_id: int, submission: Submission) -> tuple[str, str]:
        """Save what the job needs; return where its output goes."""
        self._layout.clear(job_id)
        command = submission.command
        if submission.script is not None:
            command = (*self._save_script(job_id, submission), *command[1:])
        env = dict(os.environ if submission.env is None else submission.env)
        self._layout.save_submission(job_id, SavedSubmission(command=command, env=env))
        workdir = str(Path(submission.workdir).resolve())
        out = self._layout.log_path(
            submission.stdout or _DEFAULT_LOG, job_id, submission.name, workdir
        )
        err = out
        if submission.stderr is not None:
            err = self._layout.log_path(submission.stderr, job_id, submission.name, workdir)
        for path in (out, err):
            _check_log(Path(path))
        return out, err

    def _save_script(self, job_id: int, submission: Submission) -> tuple[str, ...]:
        path = Path(submission.workdir) / str(submission.script)
        try:
            text = path.read_bytes()
        except FileNotFoundError:
            raise NotFound(f"there is no script {path}") from None
        except OSError as error:
            raise BadInput(f"the script {path} cannot be read: {error.strerror}") from error
        saved = str(self._layout.save_script(job_id, text))
        return (saved,) if text.startswith(b"#!") else ("/bin/sh", saved)


def _check_log(path: Path) -> None:
    """Opening a pipe would wait for a reader, and a device keeps nothing to read."""
    try:
        mode = path.stat().st_mode
    except OSError:  # not there yet, or for the job to find out
        return
    if not stat.S_ISREG(mode) and str(path) != os.devnull:
        raise BadInput(f"the output cannot go to {path}: that is no file")


def _number(job_id: JobId) -> int:
    if not _is_number(job_id):
        raise NotFound(f"the local scheduler knows no job {job_id}")
    return int(job_id)


def _is_number(job_id: JobId) -> bool:
    """One that the queue file could hold."""
    return job_id.isascii() and job_id.isdecimal() and len(job_id) <= _LONGEST_ID
