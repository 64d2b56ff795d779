"""The queue file and every change a job can undergo in it.

Each method is one transaction, so clients and the daemon may die between any two of them.
"""

from __future__ import annotations

import json
import re
from dataclasses import astuple
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from schedmate.disk.database import Database
from schedmate.model.errors import NotFound, SchedulerError
from schedmate.model.job import JobState, Request
from schedmate.model.wire import dumps, loads
from schedmate.schedulers.local import tables
from schedmate.schedulers.local.dependencies import Judgement, judge
from schedmate.schedulers.local.devices import kept_from
from schedmate.schedulers.local.entry import ArrayShape, EndedFolders, QueueEntry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from schedmate.model.job import JobId, Submission
    from schedmate.schedulers.local.attempt import RunEnd

_REQUEUE = "REQUEUE"
_LONGEST_NUMBER = 18


class QueueFile:
    def __init__(self, path: Path) -> None:
        self._db = Database(path, tables.MIGRATIONS)

    def close(self) -> None:
        self._db.close()

    # looking

    def entries(self, *, ended_since: float, most_ended: int) -> list[QueueEntry]:
        """What has not ended, and of what ended since then the newest."""
        return self._select(tables.LISTED, (ended_since, most_ended))

    def named(self, job_id: JobId) -> list[QueueEntry]:
        """The job of this id, or all tasks of this array; none where it is unknown."""
        number, found, task = job_id.partition("_")
        if not _is_number(number) or (found and not _is_number(task)):
            return []
        if found:
            return self._select("array_id = ? AND task = ?", (int(number), int(task)))
        return self._select("array_id = ? ORDER BY id", (int(number),)) or self._select(
            "id = ?", (int(number),)
        )

    def found(self, job_id: JobId) -> list[QueueEntry]:
        """The same, and NotFound where it is unknown."""
        found = self.named(job_id)
        if not found:
            raise NotFound(f"the local scheduler knows no job {job_id}")
        return found

    def entry(self, number: int) -> QueueEntry:
        found = self._select("id = ?", (number,))
        if not found:
            raise NotFound(f"the local scheduler knows no job {number}")
        return found[0]

    def running(self) -> list[QueueEntry]:
        return self._select("state = 'RUNNING' ORDER BY id", ())

    def pending(self) -> list[QueueEntry]:
        """All that wait, held ones and those of a later time too."""
        return self._select("state = 'PENDING' ORDER BY id", ())

    def judge(self, entries: Iterable[QueueEntry], now: float) -> dict[int, Judgement]:
        """What became of the dependencies of those that have one."""
        known: dict[JobId, list[QueueEntry]] = {}

        def lookup(job_id: JobId) -> list[QueueEntry]:
            if job_id not in known:
                known[job_id] = self.named(job_id)
            return known[job_id]

        return {
            entry.id: judge(entry, lookup, lambda _, one=entry: self._rivals(one), now)  # type: ignore[misc]
            for entry in entries
            if entry.dependency and not entry.state.ended
        }

    def _rivals(self, entry: QueueEntry) -> list[QueueEntry]:
        where = "end_time IS NULL AND name = ? AND user = ?"
        return self._select(where, (entry.name, entry.user))

    def ended_folders(self) -> list[EndedFolders]:
        """Of jobs and arrays that have ended as a whole and that no other job waits for, the
        oldest first."""
        rows = self._db.rows(
            "SELECT GROUP_CONCAT(id), MAX(end_time), COALESCE(array_id, id) AS number FROM jobs"
            " GROUP BY number HAVING COUNT(end_time) = COUNT(*) ORDER BY 2",
            (),
        )
        asked = self._select("end_time IS NULL AND dependency != ''", ())
        awaited = {
            number for entry in asked for number in re.findall(r"\d{1,18}", entry.dependency)
        }
        return [
            EndedFolders(tuple(sorted(map(int, numbers.split(",")))), end)
            for numbers, end, number in rows
            if str(number) not in awaited
        ]

    def count_unfinished(self, user: str) -> int:
        where = "user = ? AND end_time IS NULL"
        return int(self._db.one(f"SELECT count(*) FROM jobs WHERE {where}", (user,))[0])  # noqa: S608

    def is_unfinished(self, number: int) -> bool:
        """Of a job, or of any task of an array."""
        where = "COALESCE(array_id, id) = ? AND end_time IS NULL"
        return self._db.one(f"SELECT 1 FROM jobs WHERE {where}", (number,)) is not None  # noqa: S608

    def idle(self) -> bool:
        """Whether nothing runs or may start; a job that is held has to be released first."""
        unfinished = "state = 'RUNNING' OR state = 'PENDING' AND NOT held"
        return self._db.one(f"SELECT 1 FROM jobs WHERE {unfinished}") is None  # noqa: S608

    def _select(self, where: str, values: Sequence[Any]) -> list[QueueEntry]:
        # `where` is always one of the literals above
        query = f"SELECT {tables.FIELDS} FROM jobs WHERE {where}"  # noqa: S608
        return [_entry(row) for row in self._db.rows(query, values)]

    # changing

    def add(
        self,
        new: Submission,
        user: str,
        now: float,
        spool: Callable[[int], Sequence[tuple[str, str]]],
    ) -> int:
        """Add a job, or all tasks of an array; the number by which it is known.

        `spool` gets it, saves what they need and returns stdout and stderr of each. They exist
        from the commit on, so their files are there before they do.
        """
        shared = (
            *(new.name, user, new.workdir, new.script, dumps(new.request), new.nice),
            *(now, now if new.begin is None else max(now, new.begin), new.held, new.dependency),
            json.dumps(new.options),
        )
        shape = ArrayShape.of(new)
        written = shape and json.dumps(astuple(shape))
        tasks: list[tuple[int | None, tuple[str, ...]]] = [
            (task.index, task.command or new.command) for task in new.tasks
        ]
        with self._db.transaction():
            first = self._next_number()
            array_id = None if shape is None else first
            rows = [
                (number, array_id, index, written, json.dumps(command), out, err, *shared)
                for number, ((index, command), (out, err)) in enumerate(
                    zip(tasks or [(None, new.command)], spool(first), strict=True), first
                )
            ]
            marks = ", ".join("?" * len(rows[0]))
            self._db.run_many(f"{tables.ADD} VALUES ({marks}, 'PENDING')", rows)
        return first

    def _next_number(self) -> int:
        """No number is used twice, though the last job were gone."""
        last = self._db.one("SELECT seq FROM sqlite_sequence WHERE name = 'jobs'")
        return 1 + (last[0] if last else 0)

    def begin(
        self, number: int, slots: Sequence[str], now: float, *, backfilled: bool = False
    ) -> bool:
        """Take a pending job; False when it was cancelled or held meanwhile."""
        changed = self._db.run(
            "UPDATE jobs SET state = 'RUNNING', slots = ?, start_time = ?, end_time = NULL,"
            " exit_code = NULL, signal = NULL, ending = NULL, signalled_at = NULL, reason = '',"
            " backfilled = ? WHERE id = ? AND state = 'PENDING' AND NOT held",
            (json.dumps(list(slots)), now, backfilled, number),
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
        """The run lost its runner: how it ended is unknown, but a cancelled job is over."""
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

    def put_back(self, entry: QueueEntry, now: float) -> None:
        """A run that was begun has run nothing: its job waits as before, unless it is to end."""
        with self._db.transaction():
            current = self.entry(entry.id)
            if current.state is not JobState.RUNNING or current.restarts != entry.restarts:
                return
            self._update(entry.id, tables.PUT_BACK, ())
            if current.ending == _REQUEUE:
                self._requeue(entry.id, current.eligible_time)
            elif current.ending is not None:
                self._update(entry.id, "state = ?, end_time = ?", (current.ending, now))

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

    def end(self, number: int, ending: str) -> None:
        """Ask the daemon to end a running job; the first to ask decides what it ends as."""
        self._db.run(
            "UPDATE jobs SET ending = ? WHERE id = ? AND state = 'RUNNING' AND ending IS NULL",
            (ending, number),
        )

    def signalled(self, number: int, now: float) -> None:
        self._update(number, "signalled_at = ?", (now,))

    def cancel(self, job_id: JobId, now: float, reason: str = "") -> None:
        with self._db.transaction():
            for entry in self.found(job_id):
                if entry.state is JobState.PENDING:
                    self._update(
                        entry.id,
                        "state = 'CANCELLED', end_time = ?, held = 0, reason = ?",
                        (now, reason),
                    )
                elif entry.state is JobState.RUNNING:
                    # a cancellation outranks a requeue that is under way
                    self._update(entry.id, "ending = 'CANCELLED'", ())

    def requeue(
        self, job_id: JobId, begin: float, *, run: int, held: bool, nodes: Sequence[str]
    ) -> bool:
        """Whether it waits again, kept from these nodes; False while its run is being ended."""
        with self._db.transaction():
            entries = self.found(job_id)
            waits = [self._requeue_one(entry, begin, run) for entry in entries]
            for entry in entries:
                request = dumps(kept_from(entry.request, nodes))
                self._update(entry.id, "request = ?, held = held OR ?", (request, held))
        return all(waits)

    def _requeue_one(self, entry: QueueEntry, eligible_time: float, run: int) -> bool:
        job_id = entry.job_id
        if entry.restarts == run + 1 and entry.state is JobState.PENDING:
            return True
        if run != entry.restarts:
            raise SchedulerError(f"job {job_id} has been queued again meanwhile")
        if entry.state is JobState.PENDING:
            raise SchedulerError(f"job {job_id} is waiting already")
        if entry.state is JobState.RUNNING:
            if entry.ending not in (None, _REQUEUE):
                raise SchedulerError(f"job {job_id} is being ended: {entry.ending}")
            self._update(entry.id, "eligible_time = ?", (eligible_time,))
            self.end(entry.id, _REQUEUE)
            return False
        self._requeue(entry.id, eligible_time)
        return True

    def hold(self, job_id: JobId) -> None:
        self._change_waiting(job_id, "held = 1", ())

    def release(self, job_id: JobId) -> None:
        with self._db.transaction():
            for entry in self.found(job_id):
                self._update(entry.id, "held = 0", ())

    def move_to_top(self, job_id: JobId, now: float) -> None:
        self._change_waiting(job_id, "top_at = ?", (now,))

    def set_nice(self, job_id: JobId, nice: int) -> None:
        with self._db.transaction():
            for entry in self.found(job_id):
                self._update(entry.id, "nice = ?", (nice,))

    def set_dependency(self, job_id: JobId, dependency: str) -> None:
        self._change_waiting(job_id, "dependency = ?", (dependency,))

    def set_request(self, job_id: JobId, change: Callable[[Request], Request]) -> None:
        """Of an array that of the tasks which still wait, as long as there are any."""
        with self._db.transaction():
            entries = [entry for entry in self.found(job_id) if not entry.state.ended]
            if not entries:
                raise SchedulerError(f"job {job_id} has ended")
            waiting = [entry for entry in entries if entry.state is JobState.PENDING]
            for entry in waiting or entries:
                self._update(entry.id, "request = ?", (dumps(change(entry.request)),))

    def set_predictions(self, predictions: Mapping[JobId, float]) -> None:
        """How long nine of ten such jobs run at most; jobs that are not known are left out."""
        with self._db.transaction():
            for job_id, seconds in predictions.items():
                for entry in self.named(job_id):
                    if not entry.state.ended:
                        self._update(entry.id, "predicted_s = ?", (seconds,))

    def _change_waiting(self, job_id: JobId, changes: str, values: Sequence[Any]) -> None:
        with self._db.transaction():
            found = self.found(job_id)
            waiting = [entry for entry in found if entry.state is JobState.PENDING]
            if not waiting:
                raise SchedulerError(f"job {job_id} does not wait any more: {found[0].state}")
            for entry in waiting:
                self._update(entry.id, changes, values)

    def _requeue(self, number: int, eligible_time: float) -> None:
        self._update(number, tables.REQUEUED, (eligible_time,))

    def _update(self, number: int, changes: str, values: Sequence[Any]) -> None:
        # `changes` is always one of the literals above
        self._db.run(f"UPDATE jobs SET {changes} WHERE id = ?", (*values, number))  # noqa: S608


def _is_number(text: str) -> bool:
    """One that the queue file could hold."""
    return text.isascii() and text.isdecimal() and len(text) <= _LONGEST_NUMBER


def _end_state(entry: QueueEntry, end: RunEnd) -> JobState:
    failed = bool(end.code or end.signal)
    if entry.ending == JobState.CANCELLED and (failed or entry.signalled_at is not None):
        return JobState.CANCELLED  # a job that a person ended is not tried again
    if entry.ending == JobState.TIMEOUT and entry.signalled_at is not None:
        return JobState.TIMEOUT
    if end.out_of_memory:
        return JobState.OUT_OF_MEMORY
    return JobState.FAILED if failed else JobState.COMPLETED


def _entry(row: tuple[Any, ...]) -> QueueEntry:
    values = dict(zip(tables.SPLIT_FIELDS, row, strict=True))
    values["command"] = _command(values["command"])
    values["request"] = _request(values["request"])
    values["state"] = JobState(values["state"])
    values["held"] = bool(values["held"])
    values["backfilled"] = bool(values["backfilled"])
    values["slots"] = tuple(map(str, json.loads(values["slots"])))
    values["shape"] = values["shape"] and _shape(values["shape"])
    values["options"] = _options(values["options"])
    return QueueEntry(**values)


# the tasks of an array have these in common


@lru_cache(256)
def _command(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


@lru_cache(256)
def _request(text: str) -> Request:
    return loads(Request, text)


@lru_cache(256)
def _shape(text: str) -> ArrayShape:
    return ArrayShape(*json.loads(text))


@lru_cache(256)
def _options(text: str) -> dict[str, str]:
    return dict(json.loads(text))
