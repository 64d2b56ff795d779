"""Years of a scheduler's accounting in windows of time, each about a page of runs.

How far the import got is written down after each page, so that one that was killed goes on there.
A page that is read twice changes nothing.
"""

from __future__ import annotations

import json
import logging
import os
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from schedmate.disk.private import open_private
from schedmate.model import SchedulerUnreachable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from schedmate.model import Job, JobId
    from schedmate.schedulers.base import AccountedRun, KeepsHistory
    from schedmate.store import Store

ROWS = 5000
"""A page has about so many runs: more would take memory, fewer would ask more often."""
_HOUR_S, _DAY_S = 3600.0, 86_400.0
_FIRST_S, _SHORTEST_S, _LONGEST_S = _HOUR_S, 60.0, 8 * _DAY_S
_LATE_S = _DAY_S
"""Accounting may learn of an end so much later, for example after slurmdbd was away."""
_FORGET_S = 30 * _DAY_S
"""A requeued job that has not run again by then is no longer expected to."""
_FEWER_TIMES = 3
"""A window that takes too long is made smaller so often before the import gives up."""
_PAUSE_S = 2.0
"""Before the second question, where the window before had runs."""
_log = logging.getLogger("schedmate.history")


@dataclass(slots=True)
class Covered:
    """What has been imported: all that ended in [since, until). `requeued`: of jobs that were
    queued again, how many runs have ended so, and when the last one did."""

    created_at: float = 0.0
    """Of the store that holds it: a new store has to be filled anew."""
    since: float = 0.0
    until: float = 0.0
    requeued: dict[JobId, tuple[int, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Page:
    """Runs that ended in one window, and how much of all time asked for is behind it."""

    runs: list[AccountedRun]
    fraction: float


class Pages:
    """The windows that are still to be read, oldest first."""

    def __init__(self, path: Path, scheduler: KeepsHistory, store: Store) -> None:
        self._path = path
        self._scheduler = scheduler
        self._store = store
        self._cluster = scheduler.cluster()
        self._held_s = scheduler.held_for_s()
        self._suspicion_s = 0.0
        self._last: dict[JobId, Job] = {}
        """By number, those that could still have been queued again at the end of the last page."""
        self.covered = self._read()

    def read(
        self, since: float, until: float, *, user: str | None = None, again: bool = False
    ) -> Iterator[Page]:
        """Each page counts as imported when the next one is asked for."""
        spans = [(since, until)] if again else self._missing(since, until)
        whole = sum(end - start for start, end in spans) or 1.0
        behind, length = 0.0, _FIRST_S
        for start, end in spans:
            at = start
            while at < end:
                runs, reached, length = self._window(at, end, length, user)
                behind += reached - at
                yield Page(self._numbered(runs), behind / whole)
                self._cover(start, reached)
                at = reached

    def _missing(self, since: float, until: float) -> list[tuple[float, float]]:
        known = self.covered
        if known.until <= known.since or until < known.since or since > known.until:
            return [(since, until)]
        spans = [(since, known.since), (max(since, known.until - _LATE_S), until)]
        return [(start, end) for start, end in spans if start < end]

    def _window(
        self, at: float, end: float, length: float, user: str | None
    ) -> tuple[list[AccountedRun], float, float]:
        """The runs, the end of the window, and how long the next one should be."""
        for smaller in range(_FEWER_TIMES, -1, -1):
            reached = min(end, at + length)
            try:
                runs = self._believed(at, reached, user)
            except SchedulerUnreachable as error:
                if not smaller or length <= _SHORTEST_S:
                    raise
                _log.info("a window of %.0f s is tried smaller: %s", length, error)
                length = max(length / 8, _SHORTEST_S)
                continue
            factor = min(4.0, max(1 / 8, ROWS / (len(runs) or 1)))
            return runs, reached, min(_LONGEST_S, max(_SHORTEST_S, length * factor))
        raise AssertionError("the last try returns or raises")

    def _believed(self, start: float, end: float, user: str | None) -> list[AccountedRun]:
        """Nothing counts as nothing only when it is answered twice.

        Where its database fails for a moment, slurmdbd answers without rows and without an error.
        """
        runs = self._scheduler.ended_between(start, end, user)
        if not runs:
            time.sleep(self._suspicion_s)
            runs = self._scheduler.ended_between(start, end, user)
        self._suspicion_s = _PAUSE_S if runs else 0.0
        return runs

    def _numbered(self, runs: Sequence[AccountedRun]) -> list[AccountedRun]:
        """With the number of runs before; those after which the job was queued again are gone."""
        found: list[AccountedRun] = []
        requeued = self.covered.requeued
        for run in runs:
            job = self._known_attempt(run.job)
            if job is None:
                count, at = requeued.get(run.job.id, (0, float("-inf")))
                again = run.job.submit_time - at <= self._held_s
                job = replace(run.job, restarts=count) if again else self._next_attempt(run.job)
            if job.state.ended:
                self._last[job.id] = job
                requeued.pop(job.id, None)
                found.append(replace(run, job=job))
            else:
                requeued[job.id] = job.restarts + 1, job.end_time or job.submit_time
        return found

    def _known_attempt(self, job: Job) -> Job | None:
        """With the number under which this run is remembered."""
        newest = self._store.run(job.id)
        for attempt in range(-1 if newest is None else newest.job.restarts, -1, -1):
            known = self._store.run(job.id, attempt)
            if known is not None and known.job.submit_time == job.submit_time:
                return replace(job, restarts=attempt, first_submit=known.job.first_submit)
        return None

    def _next_attempt(self, job: Job) -> Job:
        """It is another job with this number if it came after the last one was forgotten."""
        before = self._last.get(job.id)
        if before is None:
            newest = self._store.run(job.id)
            before = None if newest is None else newest.job
        if before is None or before.user != job.user or before.submit_time > job.submit_time:
            return job
        if job.submit_time - (before.end_time or before.submit_time) > self._held_s:
            return job
        return replace(job, restarts=before.restarts + 1, first_submit=before.submitted_at)

    def _cover(self, start: float, until: float) -> None:
        self._last = {
            job_id: job
            for job_id, job in self._last.items()
            if (job.end_time or 0.0) > until - self._held_s
        }
        known = self.covered
        joined = known.until > known.since and start <= known.until and until >= known.since
        known.since = min(known.since, start) if joined else start
        known.until = max(known.until, until) if joined else until
        known.requeued = {
            job_id: (count, at)
            for job_id, (count, at) in known.requeued.items()
            if at > until - _FORGET_S
        }
        self._write(json.dumps({**self._all(), self._cluster: asdict(known)}))

    def _write(self, text: str) -> None:
        """In one step: a reader finds the old file or the new one."""
        beside = self._path.with_suffix(f".{os.getpid()}")
        with os.fdopen(open_private(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w") as file:
            file.write(text)
        beside.replace(self._path)

    def _read(self) -> Covered:
        created_at = self._store.created_at()
        with suppress(TypeError, ValueError):
            known = Covered(**self._all().get(self._cluster, {}))
            if known.created_at == created_at:
                known.requeued = {
                    job_id: (int(count), float(at))
                    for job_id, (count, at) in known.requeued.items()
                }
                return known
        return Covered(created_at=created_at)

    def _all(self) -> dict[str, dict[str, Any]]:
        """By cluster; a file that cannot be understood counts as none: the import begins anew."""
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}
