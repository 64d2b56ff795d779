"""The queue file and every change a job can undergo in it.

Each method is one transaction, so clients and the daemon may die between any two of them.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from schedmate.disk.database import Database
from schedmate.model import Job, JobState, NotFound, Request, SchedulerError
from schedmate.model.priority import NICE_HOURS, NICE_RANGE
from schedmate.model.wire import dumps, loads

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from schedmate.schedulers.local.attempt import RunEnd

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE jobs (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL, user TEXT NOT NULL, workdir TEXT NOT NULL,
            command TEXT NOT NULL, script TEXT, request TEXT NOT NULL,
            stdout TEXT NOT NULL DEFAULT '', stderr TEXT NOT NULL DEFAULT '',
            nice INTEGER NOT NULL, state TEXT NOT NULL,
            submit_time REAL NOT NULL, eligible_time REAL NOT NULL,
            start_time REAL, end_time REAL, exit_code INTEGER, signal INTEGER,
            restarts INTEGER NOT NULL DEFAULT 0, slots TEXT NOT NULL DEFAULT '[]',
            ending TEXT, signalled_at REAL, reason TEXT NOT NULL DEFAULT ''
        )
        """,
        "CREATE INDEX jobs_by_state ON jobs (state, nice, id)",
        "CREATE INDEX jobs_by_end ON jobs (end_time)",
    ),
    ("ALTER TABLE jobs ADD COLUMN held INTEGER NOT NULL DEFAULT 0",),
)
_FIELDS = (
    "id, name, user, workdir, command, script, request, stdout, stderr, nice, state,"
    " submit_time, eligible_time, start_time, end_time, exit_code, signal, restarts, slots,"
    " ending, signalled_at, reason, held"
)
_REQUEUE = "REQUEUE"
SECONDS_A_NICE = NICE_HOURS * 3600.0 / NICE_RANGE
"""How long a job waits to make up for one nice number: the whole range for a week of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueEntry:
    """A row of the queue. `ending` is what a running job is being ended for."""

    id: int
    name: str
    user: str
    workdir: str
    command: tuple[str, ...]
    script: str | None
    request: Request
    stdout: str
    stderr: str
    nice: int
    state: JobState
    submit_time: float
    eligible_time: float
    start_time: float | None
    end_time: float | None
    exit_code: int | None
    signal: int | None
    restarts: int
    slots: tuple[int, ...]
    ending: str | None
    signalled_at: float | None
    reason: str
    held: bool

    @property
    def width(self) -> int:
        """How many slots it takes: a job without GPUs still takes its turn."""
        return max(1, self.request.gpus)

    @property
    def logs(self) -> tuple[str, str]:
        """Where this run writes; every run has files of its own, so that lines stay quotable."""
        return self._logs_of(self.restarts)

    def _logs_of(self, restarts: int) -> tuple[str, str]:
        return _of_run(self.stdout, restarts), _of_run(self.stderr, restarts)

    def as_job(self, node: str, most_nice: int) -> Job:
        return Job(
            id=str(self.id),
            name=self.name,
            user=self.user,
            state=self.state,
            workdir=self.workdir,
            command=self.command,
            script=self.script,
            request=self.request,
            submit_time=self.submit_time,
            first_submit=self.submit_time,
            start_time=self.start_time,
            end_time=self.end_time,
            exit_code=self.exit_code,
            signal=self.signal,
            restarts=self.restarts,
            nodes=() if self.state is JobState.PENDING else (node,),
            logs=tuple(dict.fromkeys(self.logs)),
            earlier_logs=tuple(
                dict.fromkeys(
                    log
                    for restarts in range(self.restarts - 1, -1, -1)
                    for log in self._logs_of(restarts)
                    if log != os.devnull
                )
            ),
            nice=self.nice,
            most_nice=None if self.held or self.state is not JobState.PENDING else most_nice,
            nice_an_hour=3600.0 / SECONDS_A_NICE,
            eligible_time=self._begins(),
            reason=self.reason,
            held=self.held,
        )

    def _begins(self) -> float | None:
        """A job that was queued again may have to wait for a while."""
        delayed = self.state is JobState.PENDING and self.eligible_time > self.submit_time
        return self.eligible_time if delayed else None


class QueueFile:
    def __init__(self, path: Path) -> None:
        self._db = Database(path, MIGRATIONS)

    def close(self) -> None:
        self._db.close()

    # looking

    def entries(
        self, ids: Sequence[int] | None, *, ended_since: float = 0.0, most_ended: int = -1
    ) -> list[QueueEntry]:
        """Without ids: what has not ended, and of what ended since then the newest."""
        if ids is None:
            return self._select(
                "end_time IS NULL OR id IN (SELECT id FROM jobs WHERE end_time >= ?"
                " ORDER BY end_time DESC LIMIT ?) ORDER BY id",
                (ended_since, most_ended),
            )
        marks = ", ".join("?" * len(ids))
        return self._select(f"id IN ({marks}) ORDER BY id", ids)

    def entry(self, job_id: int) -> QueueEntry:
        found = self._select("id = ?", (job_id,))
        if not found:
            raise NotFound(f"the local scheduler knows no job {job_id}")
        return found[0]

    def running(self) -> list[QueueEntry]:
        return self._select("state = 'RUNNING' ORDER BY id", ())

    def waiting(self, now: float) -> list[QueueEntry]:
        """Those that may start, in the order in which they should.

        A nice number is worth a minute of waiting, so that no job is overtaken for ever.
        """
        return self._select(
            "state = 'PENDING' AND NOT held AND eligible_time <= ?"
            " ORDER BY submit_time + nice * ?, id",
            (now, SECONDS_A_NICE),
        )

    def idle(self) -> bool:
        """Whether nothing runs or may start; a job that is held has to be released first."""
        unfinished = "state = 'RUNNING' OR state = 'PENDING' AND NOT held"
        return self._db.one(f"SELECT 1 FROM jobs WHERE {unfinished}") is None  # noqa: S608

    def _select(self, where: str, values: Sequence[Any]) -> list[QueueEntry]:
        # `where` is always one of the literals above
        query = f"SELECT {_FIELDS} FROM jobs WHERE {where}"  # noqa: S608
        return [_entry(row) for row in self._db.rows(query, values)]

    # changing

    def add(
        self,
        *,
        name: str,
        user: str,
        workdir: str,
        command: Sequence[str],
        script: str | None,
        request: Request,
        nice: int,
        now: float,
        spool: Callable[[int], tuple[str, str]],
    ) -> int:
        """Add a job; `spool` gets its id, saves its files and returns stdout and stderr.

        The job exists from the commit on, so its files are there before it does.
        """
        with self._db.transaction():
            job_id = int(
                self._db.one(
                    "INSERT INTO jobs (name, user, workdir, command, script, request, nice, state,"
                    " submit_time, eligible_time) VALUES (?, ?, ?, ?, ?, ?, ?, 'PENDING', ?, ?)"
                    " RETURNING id",
                    (
                        name,
                        user,
                        workdir,
                        json.dumps(list(command)),
                        script,
                        dumps(request),
                        nice,
                        now,
                        now,
                    ),
                )[0]
            )
            self._update(job_id, "stdout = ?, stderr = ?", spool(job_id))
        return job_id

    def begin(self, job_id: int, slots: Sequence[int], now: float) -> bool:
        """Take a pending job; False when it was cancelled or held meanwhile."""
        changed = self._db.run(
            "UPDATE jobs SET state = 'RUNNING', slots = ?, start_time = ?, end_time = NULL,"
            " exit_code = NULL, signal = NULL, ending = NULL, signalled_at = NULL, reason = ''"
            " WHERE id = ? AND state = 'PENDING' AND NOT held",
            (json.dumps(list(slots)), now, job_id),
        )
        return changed == 1

    def finish(self, entry: QueueEntry, end: RunEnd) -> None:
        """Write down how a run ended; a job that is being requeued waits again instead."""
        self._close_run(
            entry,
            lambda current: (
                _end_state(current, end),
                end.end,
                end.code,
                end.signal or None,
                end.reason,
            ),
        )

    def fail_node(self, entry: QueueEntry, reason: str, now: float) -> None:
        """The run lost its shepherd: how it ended is unknown, but a cancelled job is over."""
        self._close_run(
            entry,
            lambda current: (
                current.ending if current.ending == JobState.CANCELLED else JobState.NODE_FAIL,
                now,
                None,
                None,
                reason,
            ),
        )

    def _close_run(self, entry: QueueEntry, how: Callable[[QueueEntry], tuple[Any, ...]]) -> None:
        """Once only, and by what clients have asked for until this very moment."""
        with self._db.transaction():
            current = self.entry(entry.id)
            if current.state is not JobState.RUNNING or current.restarts != entry.restarts:
                return
            self._update(
                entry.id,
                "state = ?, end_time = ?, exit_code = ?, signal = ?, reason = ?",
                how(current),
            )
            if current.ending == _REQUEUE:
                self._requeue(entry.id, current.eligible_time)

    def end(self, job_id: int, ending: str) -> None:
        """Ask the daemon to end a running job; the first to ask decides what it ends as."""
        self._db.run(
            "UPDATE jobs SET ending = ? WHERE id = ? AND state = 'RUNNING' AND ending IS NULL",
            (ending, job_id),
        )

    def signalled(self, job_id: int, now: float) -> None:
        self._update(job_id, "signalled_at = ?", (now,))

    def cancel(self, job_id: int, now: float) -> None:
        with self._db.transaction():
            state = self.entry(job_id).state
            if state is JobState.PENDING:
                self._update(job_id, "state = 'CANCELLED', end_time = ?, held = 0", (now,))
            elif state is JobState.RUNNING:
                # a cancellation outranks a requeue that is under way
                self._update(job_id, "ending = 'CANCELLED'", ())

    def requeue(self, job_id: int, eligible_time: float, *, run: int) -> bool:
        """Whether it waits again; False while its run is being ended."""
        with self._db.transaction():
            entry = self.entry(job_id)
            if entry.restarts == run + 1 and entry.state is JobState.PENDING:
                return True
            if run != entry.restarts:
                raise SchedulerError(f"job {job_id} has been queued again meanwhile")
            if entry.state is JobState.PENDING:
                raise SchedulerError(f"job {job_id} is waiting already")
            if entry.state is JobState.RUNNING:
                if entry.ending not in (None, _REQUEUE):
                    raise SchedulerError(f"job {job_id} is being ended: {entry.ending}")
                self._update(job_id, "eligible_time = ?", (eligible_time,))
                self.end(job_id, _REQUEUE)
                return False
            self._requeue(job_id, eligible_time)
            return True

    def hold(self, job_id: int) -> None:
        with self._db.transaction():
            entry = self.entry(job_id)
            if entry.state is not JobState.PENDING:
                raise SchedulerError(f"job {job_id} does not wait any more: {entry.state}")
            self._update(job_id, "held = 1", ())

    def release(self, job_id: int) -> None:
        with self._db.transaction():
            self.entry(job_id)
            self._update(job_id, "held = 0", ())

    def set_nice(self, job_id: int, nice: int) -> None:
        with self._db.transaction():
            self.entry(job_id)
            self._update(job_id, "nice = ?", (nice,))

    def set_request(self, job_id: int, change: Callable[[Request], Request]) -> None:
        with self._db.transaction():
            entry = self.entry(job_id)
            if entry.state.ended:
                raise SchedulerError(f"job {job_id} has ended: {entry.state}")
            self._update(job_id, "request = ?", (dumps(change(entry.request)),))

    def _requeue(self, job_id: int, eligible_time: float) -> None:
        self._update(
            job_id,
            "state = 'PENDING', restarts = restarts + 1, eligible_time = ?, start_time = NULL,"
            " end_time = NULL, exit_code = NULL, signal = NULL, slots = '[]', ending = NULL,"
            " signalled_at = NULL, reason = ''",
            (eligible_time,),
        )

    def _update(self, job_id: int, changes: str, values: Sequence[Any]) -> None:
        # `changes` is always one of the literals above
        self._db.run(f"UPDATE jobs SET {changes} WHERE id = ?", (*values, job_id))  # noqa: S608


def _of_run(log: str, restarts: int) -> str:
    return f"{log}.attempt-{restarts + 1}" if restarts and log != os.devnull else log


def _end_state(entry: QueueEntry, end: RunEnd) -> JobState:
    failed = bool(end.code or end.signal)
    if entry.ending == JobState.CANCELLED and (failed or entry.signalled_at is not None):
        return JobState.CANCELLED  # a job that a person ended is not tried again
    if entry.ending == JobState.TIMEOUT and entry.signalled_at is not None:
        return JobState.TIMEOUT
    return JobState.FAILED if failed else JobState.COMPLETED


def _entry(row: tuple[Any, ...]) -> QueueEntry:
    values = dict(zip(_FIELDS.replace(" ", "").split(","), row, strict=True))
    values["command"] = tuple(json.loads(values["command"]))
    values["request"] = loads(Request, values["request"])
    values["state"] = JobState(values["state"])
    values["held"] = bool(values["held"])
    values["slots"] = tuple(json.loads(values["slots"]))
    return QueueEntry(**values)
