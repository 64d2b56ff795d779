"""Which job a number stands for: a scheduler uses its numbers again, and begins anew where it has
lost its memory.

A job is its number and its first submission, on the cluster that the store is pinned to. The newest
job of a number is called by the number alone. As soon as another one is met, all that is kept of
the older job goes by `NUMBER@SUBMISSION`, in one transaction, before anything is kept of the new
one. The tasks of an array, and the parts of a heterogeneous job, are submitted together and go
together.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from schedmate.model.job import earlier_job, read_job_id, whole_of
from schedmate.store.bodies import without_nul

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from schedmate.model import Job, JobId, PastRun
    from schedmate.store.database import Database


class JobIdentities(Protocol):
    """Jobs that come from a scheduler are met before anything is read or kept of them."""

    def meet(self, jobs: Sequence[Job]) -> Sequence[Job]:
        """The same jobs as the store calls them, with their first submission where it knows that.

        What is kept of other jobs that had their numbers is called otherwise from then on.
        """

    def called(self, name: JobId) -> JobId:
        """What the store calls the job that a person has named: `12` or `12@SUBMISSION`."""

    def cluster(self) -> str | None:
        """The cluster whose jobs these are; None as long as nobody has said."""

    def pin(self, cluster: str) -> None: ...


_AT_ONCE = 500
_SAME_S = 1e-3
_BY_JOB = ("advice", "progress", "tracking", "events")
_BY_ATTEMPT = ("diagnoses", "run_facts", "run_sketches")
_CHECKED = "identities"


@dataclass(frozen=True, slots=True)
class _Known:
    """The job that a number stands for: `latest` is the submission of its newest run."""

    job_id: JobId
    whole: JobId
    user: str
    submitted_at: float
    latest: float
    attempt: int

    @classmethod
    def of(cls, job: Job, whole: _Known | None) -> _Known:
        """A task that was queued again is of its array."""
        submitted = job.submitted_at
        is_part = whole is not None and whole.job_id != job.id and whole.user == job.user
        if submitted is None and whole is not None and is_part:
            submitted = whole.submitted_at
        first = job.submit_time if submitted is None else submitted
        return cls(job.id, whole_of(job.id), job.user, first, job.submit_time, job.restarts)

    def is_same(self, job: Job) -> bool:
        if _same(job.submit_time, self.latest):
            return True
        if job.submitted_at is not None:
            return _same(job.submitted_at, self.submitted_at)
        # it was queued again, and nobody says when it first was submitted
        is_later = job.submit_time > self.latest and job.restarts >= self.attempt
        is_between = self.submitted_at < job.submit_time < self.latest
        return job.user == self.user and (is_later or is_between)

    def seen(self, job: Job) -> _Known:
        if job.submit_time < self.latest:
            return self
        return replace(self, latest=job.submit_time, attempt=max(self.attempt, job.restarts))


def _named(job: Job, newest: _Known | None) -> Job:
    if newest is None:
        return job
    if not newest.is_same(job):  # from a table, or what accounting remembers
        return replace(job, id=earlier_job(job.id, job.submitted_at or job.submit_time))
    is_known = not job.restarts or job.first_submit == newest.submitted_at
    return job if is_known else replace(job, first_submit=newest.submitted_at)


def _same(one: float, other: float) -> bool:
    return abs(one - other) < _SAME_S


class Identities:
    """Part of the store as tables; see `JobIdentities`."""

    _db: Database
    _scheduler: str
    _numbers_checked = False

    def meet(self, jobs: Sequence[Job]) -> list[Job]:
        self._part_mixed_numbers()
        known = self._known([job.id for job in jobs] + [whole_of(job.id) for job in jobs])
        changed: dict[JobId, _Known] = {}
        used_again: dict[JobId, float] = {}
        for job in jobs:
            row, whole = known.get(job.id), known.get(whole_of(job.id))
            new = _Known.of(job, whole)
            if "@" in job.id:
                continue
            if row is None or (not row.is_same(job) and new.submitted_at > row.submitted_at):
                before = whole or row
                if before is not None and before.submitted_at + _SAME_S <= new.submitted_at:
                    used_again[new.whole] = new.submitted_at
                changed[job.id] = known[job.id] = new
            elif row.is_same(job) and (seen := row.seen(job)) != row:
                changed[job.id] = known[job.id] = seen
        if changed:
            with self._db.transaction():
                for whole_id, since in used_again.items():
                    self._call_otherwise(whole_id, since)
                self._db.put("submissions", map(self._as_submission, changed.values()))
        return [_named(job, known.get(job.id)) for job in jobs]

    def meet_runs(self, runs: Sequence[PastRun]) -> list[PastRun]:
        met = self.meet([run.job for run in runs])
        return [
            run if run.job.id == job.id else replace(run, job=job)
            for run, job in zip(runs, met, strict=True)
        ]

    def called(self, name: JobId) -> JobId:
        number, submitted = read_job_id(name)
        if submitted is None:
            return name
        row = self._known([number]).get(number)
        # a person knows it in whole seconds
        is_newest = row is not None and submitted in (row.submitted_at, int(row.submitted_at))
        return number if is_newest else earlier_job(number, submitted)

    def cluster(self) -> str | None:
        row = self._db.one("SELECT value FROM meta WHERE key = ?", (self._pinned,))
        return None if row is None else str(row[0])

    def pin(self, cluster: str) -> None:
        self._db.put("meta", [(self._pinned, cluster)])

    @property
    def _pinned(self) -> str:
        return f"cluster of {self._scheduler}"

    def _known(self, job_ids: Iterable[JobId]) -> dict[JobId, _Known]:
        wanted = sorted(set(job_ids))
        found: dict[JobId, _Known] = {}
        for start in range(0, len(wanted), _AT_ONCE):
            rows = self._db.rows(
                'SELECT job_id, whole, "user", submitted_at, latest, attempt FROM submissions'
                " WHERE scheduler = ? AND job_id IN (SELECT value FROM json_each(?))",
                (self._scheduler, json.dumps(wanted[start : start + _AT_ONCE])),
            )
            found |= {row[0]: _Known(*row) for row in rows}
        return found

    def _as_submission(self, one: _Known) -> tuple[Any, ...]:
        return (
            self._scheduler,
            *(one.job_id, one.whole, one.user, one.submitted_at, one.latest, one.attempt),
        )

    def _call_otherwise(self, whole: JobId, since: float) -> None:
        """All that was submitted under this number, and its tasks and parts, before then."""
        rows = self._db.rows(
            "SELECT job_id, submitted_at FROM submissions"
            " WHERE scheduler = ? AND whole = ? AND submitted_at <= ?",
            (self._scheduler, whole, since - _SAME_S),
        )
        of_whole = min((submitted for _, submitted in rows), default=None)
        for job_id, submitted in rows:
            self._rename(self._scheduler, job_id, earlier_job(job_id, submitted))
        if of_whole is not None and whole not in {job_id for job_id, _ in rows}:
            self._rename(self._scheduler, whole, earlier_job(whole, of_whole))

    def _rename(
        self, scheduler: str, old: JobId, new: JobId, attempts: Sequence[int] | None = None
    ) -> None:
        """With `attempts` these only, and nothing that is about the job as a whole."""
        chosen, values = "scheduler = ? AND job_id = ?", (scheduler, old)
        among = "" if attempts is None else f" AND attempt IN ({', '.join(map(str, attempts))})"
        for table in _BY_ATTEMPT:
            self._db.run(f"UPDATE {table} SET job_id = ? WHERE {chosen}{among}", (new, *values))  # noqa: S608
        for table in ("runs", "notices"):
            for attempt, body in self._db.rows(
                f"SELECT attempt, body FROM {table} WHERE {chosen}{among}",  # noqa: S608
                values,
            ):
                self._db.run(
                    f"UPDATE {table} SET job_id = ?, body = ? WHERE {chosen} AND attempt = ?",  # noqa: S608
                    (new, _renamed(body, new), *values, attempt),
                )
        for number, key, body in self._db.rows(
            f"SELECT id, key, body FROM actions WHERE {chosen}",  # noqa: S608
            values,
        ):
            if attempts is None or json.loads(body).get("attempt") in attempts:
                self._db.run(
                    "UPDATE actions SET job_id = ?, key = ?, body = ? WHERE id = ?",
                    (new, new + key.removeprefix(old), _renamed(body, new), number),
                )
        if attempts is not None:
            return
        # what a verb has left for the daemon was about a job that is gone
        self._db.run(f"DELETE FROM events WHERE NOT handled AND {chosen}", values)  # noqa: S608
        self._db.run(f"DELETE FROM listed_jobs WHERE {chosen}", values)  # noqa: S608
        self._db.run(f"DELETE FROM submissions WHERE {chosen}", values)  # noqa: S608
        for table in _BY_JOB:
            self._db.run(f"UPDATE {table} SET job_id = ? WHERE {chosen}", (new, *values))  # noqa: S608
        self._db.run(
            "UPDATE audit SET about = ? WHERE scheduler = ? AND about = ?",
            (f"job {new}", scheduler, f"job {old}"),
        )

    def _part_mixed_numbers(self) -> None:
        """Once: runs of several users under one number are of several jobs, which formats before
        this one kept as attempts of one."""
        if self._numbers_checked:
            return
        if self._db.one("SELECT 1 FROM meta WHERE key = ?", (_CHECKED,)) is None:
            with self._db.transaction():
                for scheduler, job_id, attempts, submitted in self._mixed():
                    self._rename(scheduler, job_id, earlier_job(job_id, submitted), attempts)
                self._db.put("meta", [(_CHECKED, "1")])
        self._numbers_checked = True

    def _mixed(self) -> Iterator[tuple[str, JobId, list[int], float]]:
        """The attempts of each job that is not the newest of its number, and its submission."""
        numbers = self._db.rows(
            "SELECT scheduler, job_id FROM run_facts GROUP BY scheduler, job_id"
            ' HAVING count(DISTINCT "user") > 1'
        )
        for scheduler, job_id in numbers:
            runs = self._db.rows(
                'SELECT attempt, "user", submitted_at FROM run_facts'
                " WHERE scheduler = ? AND job_id = ? ORDER BY submitted_at, attempt",
                (scheduler, job_id),
            )
            jobs: list[list[tuple[int, str, float]]] = []
            for run in runs:
                if jobs and jobs[-1][-1][1] == run[1]:
                    jobs[-1].append(run)
                else:
                    jobs.append([run])
            for one in jobs[:-1]:
                yield scheduler, job_id, [attempt for attempt, *_ in one], one[0][2]
            newest = jobs[-1]
            self._db.run(
                'UPDATE submissions SET "user" = ?, submitted_at = ?, latest = ?, attempt = ?'
                " WHERE scheduler = ? AND job_id = ?",
                (newest[0][1], newest[0][2], newest[-1][2], newest[-1][0], scheduler, job_id),
            )


def _renamed(body: str, new: JobId) -> str:
    """A run, a notice or an action that names its job."""
    found = json.loads(body)
    if "job" in found:
        found["job"]["id"] = new
    else:
        found["job_id"] = new
    return without_nul(json.dumps(found, ensure_ascii=False, separators=(",", ":")))
