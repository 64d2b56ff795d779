"""The scheduler's jobs as the daemon saw them last, and which have changed since."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from schedmate.model import Job, JobId
from schedmate.model.wire import loads
from schedmate.store.base import Change
from schedmate.store.bodies import dumps
from schedmate.store.identities import Identities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.store.database import Database

_KEPT = 10_000
"""Changes after which one who looks on has seen that a job is gone."""


class ListedJobs(Identities):
    """Part of the store; see `store.base.Listing`."""

    _db: Database
    _scheduler: str

    def keep_listed(self, jobs: Sequence[Job], gone: Sequence[JobId] = ()) -> list[Job]:
        with self._db.transaction():
            met = self.meet(jobs)
            self._db.put("listed_jobs", ((self._scheduler, job.id, dumps(job)) for job in met))
            self._db.run_many(
                "DELETE FROM listed_jobs WHERE scheduler = ? AND job_id = ?",
                ((self._scheduler, job_id) for job_id in gone),
            )
            self._db.run(
                "DELETE FROM changes WHERE scheduler = ? AND number <= ? AND job_id NOT IN"
                " (SELECT job_id FROM listed_jobs WHERE scheduler = ?)",
                (self._scheduler, self.newest_change() - _KEPT, self._scheduler),
            )
        return met

    def listed(self, job_id: JobId) -> Job | None:
        row = self._db.one(
            "SELECT body FROM listed_jobs WHERE scheduler = ? AND job_id = ?",
            (self._scheduler, job_id),
        )
        return None if row is None else loads(Job, row[0])

    def listed_jobs(self, job_ids: Sequence[JobId] | None = None) -> list[Job]:
        query, values = "SELECT body FROM listed_jobs WHERE scheduler = ?", [self._scheduler]
        if job_ids is not None:
            query += " AND job_id IN (SELECT value FROM json_each(?))"
            values.append(json.dumps(job_ids))
        return [loads(Job, body) for (body,) in self._db.rows(query, values)]

    def newest_progress(self) -> float | None:
        row = self._db.one(
            "SELECT max(at) FROM progress JOIN listed_jobs USING (scheduler, job_id)"
            " WHERE scheduler = ?",
            (self._scheduler,),
        )
        return None if row[0] is None else float(row[0])

    def newest_change(self) -> int:
        row = self._db.one(
            "SELECT max(number) FROM changes WHERE scheduler = ?", (self._scheduler,)
        )
        return int(row[0] or 0)

    def changes(self, *, after: int, limit: int = 1000) -> list[Change]:
        rows = self._db.rows(
            "SELECT number, job_id FROM changes WHERE scheduler = ? AND number > ?"
            " ORDER BY number LIMIT ?",
            (self._scheduler, after, limit),
        )
        return [Change(number, job_id) for number, job_id in rows]
