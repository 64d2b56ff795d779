"""The local scheduler behind the common interface."""

from __future__ import annotations

import logging
import os
import signal
import socket
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from schedmate.disk.detached import DetachFailed, start_detached
from schedmate.disk.lock import hold, lock_holder
from schedmate.disk.private import append_private
from schedmate.model.account import account_name
from schedmate.model.errors import BadInput, NotFound, SchedulerError, StoreUnavailable
from schedmate.model.job import Job, JobId, JobState, Submission
from schedmate.model.priority import NICE_RANGE
from schedmate.model.warning_signal import read_signal
from schedmate.schedulers.base import Obstacle
from schedmate.schedulers.local.dependencies import read_dependency
from schedmate.schedulers.local.entry import QueueEntry, fold_tasks
from schedmate.schedulers.local.layout import Layout, LogNames, SavedSubmission
from schedmate.schedulers.local.queue import QueueFile
from schedmate.schedulers.local.submitting import Account, Prepared, prepare
from schedmate.schedulers.local.wakeup import wake

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from schedmate.config import LocalSettings
    from schedmate.model import Activity, NodeState, Spread
    from schedmate.schedulers.local.attempt import RunFiles
    from schedmate.schedulers.local.gpu_nodes import GpuNodes

_REMEMBERED_S, _MOST_REMEMBERED = 24 * 3600.0, 1000
"""Ended jobs are listed for a day, the newest ones; asked for by id they are always found."""
_DEFAULT_LOG, _DEFAULT_ARRAY_LOG = "schedmate-%j.out", "schedmate-%A_%a.out"
_DAEMON = "schedmate.schedulers.local.daemon"
_log = logging.getLogger("schedmate.local")


class LocalScheduler:
    """Fulfils `Scheduler`. Its nodes are this machine and each of its GPUs."""

    name = "local"

    def __init__(
        self,
        root: Path,
        settings: LocalSettings,
        *,
        nice_range: int | None = None,
        spool: Path | None = None,
    ) -> None:
        self._layout = Layout(root.absolute(), spool)  # the daemon works elsewhere
        self._settings = settings
        self._queue = QueueFile(self._layout.queue)
        self._node = socket.gethostname()
        self._most_nice = nice_range or NICE_RANGE

    @property
    def _gpus(self) -> GpuNodes:
        from schedmate.schedulers.local.gpu_nodes import GpuNodes  # noqa: PLC0415 - as above

        return GpuNodes(self._layout, self._settings, self._node, self._held_gpus)

    def _held_gpus(self) -> set[str]:
        return {name for entry in self._queue.running() for name in entry.slots}

    def submit(self, submission: Submission) -> JobId:
        return self.accept(prepare(submission), Account(os.getuid(), account_name()))

    def accept(self, prepared: Prepared, account: Account) -> JobId:
        """Queue a job of this account, which need not be ours."""
        submission = prepared.submission
        self._check(submission)
        env = os.environ if submission.env is None else submission.env
        submission = replace(submission, request=self._gpus.asked_for(submission.request, env))
        prepared = replace(prepared, submission=submission)
        try:
            number = self._queue.add(
                submission,
                account.user,
                time.time(),
                lambda number: self._spool(number, prepared, account),
            )
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise StoreUnavailable(f"the job was not queued: {self._layout.root}: {why}") from error
        self.ensure_running()
        return str(number)

    def count_unfinished(self, user: str) -> int:
        """How many jobs and tasks of this account wait or run."""
        return self._queue.count_unfinished(user)

    def jobs(self, ids: Sequence[JobId] | None = None) -> list[Job]:
        if ids is None:
            found = [
                self._queue.entries(
                    ended_since=time.time() - _REMEMBERED_S, most_ended=_MOST_REMEMBERED
                )
            ]
        else:
            known = [entries for one in ids if (entries := self._queue.named(one))]
            found = sorted(known, key=lambda entries: entries[0].id)
        entries = [entry for those in found for entry in those]
        if not all(entry.state.ended or entry.held for entry in entries):
            self.ensure_running()  # a look at unfinished jobs restarts a daemon that is gone
        judged = self._queue.judge(entries, time.time())
        waits_for = {number: one.text for number, one in judged.items()}
        listed: dict[JobId, Job] = {}
        for those in found:
            jobs = [
                entry.as_job(self._node, self._most_nice, waits_for.get(entry.id, ""))
                for entry in those
            ]
            folded = fold_tasks(those, jobs) if len(those) > 1 else jobs
            listed.update((job.id, job) for job in folded)
        return list(listed.values())

    def nodes(self, names: Sequence[str] | None = None) -> list[NodeState]:
        """This machine, which is up if this code runs, and its GPUs."""
        return [one for one in self._gpus.states() if names is None or one.name in names]

    def script(self, job_id: JobId) -> str | None:
        entry = self._queue.found(job_id)[0]
        if entry.script is not None:
            with suppress(FileNotFoundError):  # it is kept for so many days
                return self._layout.script(entry.spool_id).read_text("utf-8", "replace")
        return None

    def cancel(self, job_id: JobId) -> None:
        """A job that has filled the disk is ended though that cannot be written down."""
        try:
            self._queue.cancel(job_id, time.time())
        except StoreUnavailable as error:
            runs = [one for one in self._queue.found(job_id) if one.state is JobState.RUNNING]
            if not sum(self._layout.attempt(one).signal(signal.SIGTERM) for one in runs):
                raise
            ended = f"its processes were sent SIGTERM, so that job {job_id} will count as failed"
            raise StoreUnavailable(f"{error}; {ended}") from error
        self.ensure_running()

    def requeue(
        self,
        job_id: JobId,
        *,
        run: int,
        exclude_nodes: Sequence[str] = (),
        delay_s: float = 0.0,
        held: bool = False,
    ) -> bool:
        for entry in self._queue.found(job_id):
            if self._layout.read_submission(entry.spool_id) is None:
                raise SchedulerError(f"what job {job_id} ran with is not kept: submit it again")
        if exclude_nodes:
            self._gpus.check_exclusion(self._queue.found(job_id)[0].request, exclude_nodes)
        waits = self._queue.requeue(
            job_id, time.time() + delay_s, run=run, held=held, nodes=exclude_nodes
        )
        self.ensure_running()
        return waits

    def warning_s(self, job_id: JobId) -> float | None:
        """See `WarnsRuns`."""
        stated = self._queue.found(job_id)[0].options.get("signal")
        return None if stated is None else read_signal(stated).before_s

    def warn(self, job_id: JobId) -> None:
        for entry in self._queue.found(job_id):
            stated, attempt = entry.options.get("signal"), self._layout.attempt(entry)
            if stated is not None and entry.state is JobState.RUNNING:
                wanted, is_script = read_signal(stated), entry.script is not None
                attempt.warn(wanted.number, first_only=wanted.first_only, is_script=is_script)

    def may_run_on(self, job: Job, node: NodeState) -> bool:
        return self._gpus.may_run_on(job.request, node.name)

    def needed_nodes(self, job: Job) -> int:
        """See `GivesGpusAsNodes`."""
        return max(1, job.request.gpus)

    def trouble(self) -> str:
        """See `ReportsTrouble`."""
        return self._gpus.trouble()

    def set_excluded(self, job_id: JobId, nodes: Sequence[str]) -> None:
        """See `ExcludesNodes`."""
        self._queue.set_request(
            job_id, lambda request: replace(request, exclude_nodes=tuple(nodes))
        )
        self.ensure_running()

    def drain(self, node: str, reason: str) -> None:
        """See `DrainsNodes`."""
        self._gpus.drain(node, reason)

    def resume(self, node: str, reason: str) -> None:
        """See `DrainsNodes`."""
        self._gpus.resume(node, reason)
        self.ensure_running()

    def hold(self, job_id: JobId) -> None:
        self._queue.hold(job_id)

    def release(self, job_id: JobId) -> None:
        self._queue.release(job_id)
        self.ensure_running()

    def move_to_top(self, job_id: JobId) -> None:
        """See `MovesToTop`."""
        self._queue.move_to_top(job_id, time.time())
        self.ensure_running()

    def waiting_tasks(self, job_id: JobId) -> list[JobId]:
        """See `ListsTasks`."""
        entries = self._queue.found(job_id)
        return [entry.job_id for entry in entries if entry.state is JobState.PENDING]

    def set_nice(self, job_id: JobId, nice: int) -> None:
        self._queue.set_nice(job_id, nice)

    def set_time_limit(self, job_id: JobId, seconds: float | None) -> None:
        self._queue.set_request(job_id, lambda request: replace(request, time_limit_s=seconds))
        wake(self._layout.wake)

    def set_dependency(self, job_id: JobId, dependency: str) -> None:
        """See `RenewsDependencies`."""
        self._check_dependency(dependency)
        self._queue.set_dependency(job_id, dependency)
        self.ensure_running()

    def set_predictions(self, predictions: Mapping[JobId, Spread]) -> None:
        """See `TakesPredictions`."""
        self._queue.set_predictions({job: spread.p90 for job, spread in predictions.items()})
        wake(self._layout.wake)

    def obstacle(self, job: Job) -> Obstacle | None:
        """See `ExplainsWaiting`."""
        entries = self._queue.named(job.id)
        judged = self._queue.judge(entries, time.time())
        if any(one.verdict == "failed" for one in judged.values()):
            return Obstacle(
                text=f"waits for {job.dependency}: that can never be, as it has ended otherwise",
                remedy=f"`schedmate requeue` what it waits for, or `schedmate cancel {job.id}`",
            )
        kept_back = self._gpus.why_waiting(job.request) if _may_start(entries) else ""
        return Obstacle(text=f"waits: {kept_back}") if kept_back else None

    def activity(self, jobs: Sequence[Job]) -> dict[JobId, Activity]:
        """See `MeasuresActivity`."""
        from schedmate.schedulers.local.activity import activities  # noqa: PLC0415 - as above

        runs = self._running(jobs)
        gpus = {entry.job_id: entry.slots for entry in runs}
        busy = self._gpus.busy() if any(gpus.values()) else {}
        return activities(self._attempts(runs), gpus, busy)

    def written_files(self, jobs: Sequence[Job]) -> dict[JobId, frozenset[str]]:
        """See `KnowsOpenFiles`."""
        from schedmate.schedulers.local.activity import files_written  # noqa: PLC0415 - as above

        return files_written(self._attempts(self._running(jobs)))

    def _attempts(self, runs: Sequence[QueueEntry]) -> dict[JobId, RunFiles]:
        return {entry.job_id: self._layout.attempt(entry) for entry in runs}

    def _running(self, jobs: Sequence[Job]) -> list[QueueEntry]:
        return [
            entry
            for job in jobs
            if job.state is JobState.RUNNING
            for entry in self._queue.named(job.id)
            if entry.state is JobState.RUNNING
        ]

    def ensure_running(self) -> None:
        """Wake the daemon, or start it where none is alive.

        Where that fails the jobs are queued all the same: the next look tries again.
        """
        try:
            self._layout.check_home()
            lock = hold(self._layout.lock)
            if lock is None:
                wake(self._layout.wake)
                return
            with lock, append_private(self._layout.log) as log:
                start_detached(
                    _DAEMON,
                    [*self._layout.arguments(self._settings), str(lock.fileno())],
                    log=log,
                    pass_fds=(lock.fileno(),),
                )
        except (OSError, DetachFailed, StoreUnavailable):
            _log.warning("the local scheduler cannot be started now", exc_info=True)

    def stop(self) -> None:
        """Stop the daemon; what runs goes on, and what waits waits for the next daemon."""
        daemon = lock_holder(self._layout.lock)
        if daemon is not None:
            with suppress(ProcessLookupError):
                os.kill(daemon, signal.SIGTERM)
        self._queue.close()

    def _check(self, submission: Submission) -> None:
        if submission.passthrough:
            flags = " ".join(submission.passthrough)
            raise BadInput(f"the local scheduler does not know {flags}")
        self._check_dependency(submission.dependency)
        self._check_cores(submission)

    def _check_cores(self, submission: Submission) -> None:
        cpus = submission.request.cpus or 0
        if cpus > (os.cpu_count() or 1):
            raise SchedulerError(f"it asks for {cpus} cores, this machine has {os.cpu_count()}")

    def _check_dependency(self, text: str) -> None:
        for condition in read_dependency(text).conditions if text else ():
            if condition.job_id and not self._queue.named(condition.job_id):
                raise NotFound(f"it is to wait for job {condition.job_id}, which is not known")

    def _spool(self, number: int, prepared: Prepared, account: Account) -> list[tuple[str, str]]:
        """Save what the job or its tasks need; return where the output of each goes."""
        submission = prepared.submission
        for one in range(number, number + max(1, len(submission.tasks))):
            self._layout.clear(one)
        tasks_differ = any(task.command for task in submission.tasks)
        command = () if tasks_differ else submission.command
        if prepared.script is not None:
            saved = str(self._layout.save_script(number, prepared.script, account.uid))
            first = (saved,) if prepared.script.startswith(b"#!") else ("/bin/sh", saved)
            command = (*first, *command[1:])
        self._layout.save_submission(
            number,
            SavedSubmission(
                command=command,
                env=submission.env or {},
                uid=account.uid,
                umask=prepared.umask,
                limits=prepared.limits,
                tasks_differ=tasks_differ,
            ),
        )
        single = LogNames(number=number, name=submission.name, user=account.user, node=self._node)
        names = [
            replace(single, number=number + place, array_id=number, task=task.index)
            for place, task in enumerate(submission.tasks)
        ]
        return [_logs(one, submission) for one in names or [single]]


def _logs(names: LogNames, submission: Submission) -> tuple[str, str]:
    usual = _DEFAULT_ARRAY_LOG if submission.tasks else _DEFAULT_LOG
    out = names.path(submission.stdout or usual, submission.workdir)
    if submission.stderr is None:
        return out, out
    return out, names.path(submission.stderr, submission.workdir)


def _may_start(entries: Sequence[QueueEntry]) -> bool:
    now = time.time()
    return any(
        entry.state is JobState.PENDING and not entry.held and entry.eligible_time <= now
        for entry in entries
    )
