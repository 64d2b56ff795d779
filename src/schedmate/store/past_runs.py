"""Parts of past runs, where whole ones would take long to read and much memory."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from schedmate.model import GpuUse, Job, JobState, PastRun, Resume, RunProfile
from schedmate.model.wire import from_json, loads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedmate.model import Fingerprint, JobId
    from schedmate.store.database import Database
    from schedmate.store.sketches import Shown

MATCHES = 200
"""How many runs of the same code are worth looking at."""
_JOBS_AT_ONCE = 2000
_PACES = 10
"""Runs by which the pace of code is known."""


class PastRunParts:
    """Part of the store as tables."""

    _db: Database
    _shown: Shown | None

    def completed_profiles(
        self, fingerprint: Fingerprint, *, limit: int
    ) -> dict[tuple[JobId, int, float], RunProfile]:
        found: dict[tuple[JobId, int, float], RunProfile] = {}
        of_code = "SELECT body FROM runs WHERE code = ?"
        newest = " ORDER BY end_time DESC LIMIT ?"
        questions: tuple[tuple[str, tuple[Any, ...]], ...] = (
            (f"{of_code} AND arguments = ?{newest}", (fingerprint.code, fingerprint.arguments)),
            (f"{of_code}{newest}", (fingerprint.code,)),
        )
        for question, values in questions:
            for (body,) in self._db.rows(question, (*values, MATCHES)):
                if len(found) >= limit:
                    return found
                run = json.loads(body)  # a whole run of its type would take ten times as long
                job, profile = run["job"], run.get("profile")
                if job["state"] == JobState.COMPLETED and profile is not None:
                    key = job["id"], job.get("restarts", 0), job["submit_time"]
                    found.setdefault(key, from_json(RunProfile, profile))
        return found

    def run_before(self, job: Job, fingerprint: Fingerprint) -> PastRun | None:
        rows = self._db.rows(
            'SELECT body FROM runs WHERE code = ? AND arguments = ? AND "user" = ?'
            " AND json_extract(body, '$.job.workdir') = ? AND job_id <> ?"
            " ORDER BY end_time DESC LIMIT 1",
            (fingerprint.code, fingerprint.arguments, job.user, job.workdir, job.id),
        )
        return loads(PastRun, rows[0][0]) if rows else None

    def resumes(self, code: str, user: str) -> dict[tuple[JobId, int], Resume]:
        rows = self._db.rows(
            "SELECT job_id, attempt, json_extract(body, '$.resume') FROM runs WHERE code = ?"
            " AND \"user\" = ? AND json_extract(body, '$.resume.outcome') IS NOT NULL"
            " ORDER BY end_time DESC LIMIT ?",
            (code, user, MATCHES),
        )
        return {(job_id, attempt): loads(Resume, body) for job_id, attempt, body in rows}

    def gpu_uses(self, code: str, *, least_s: float) -> list[GpuUse]:
        rows = self._db.rows(
            "SELECT json_extract(body, '$.gpu_memory_mb'), json_extract(body, '$.gpu_utilization')"
            " FROM runs WHERE code = ? AND json_extract(body, '$.gpu_memory_mb') IS NOT NULL"
            " AND json_extract(body, '$.gpu_utilization') IS NOT NULL"
            " AND end_time - json_extract(body, '$.job.start_time') >= ?"
            " ORDER BY end_time DESC LIMIT ?",
            (code, least_s, MATCHES),
        )
        return [GpuUse(float(memory), float(used)) for memory, used in rows]

    def profiles_alone(self, code: str, arguments: str, *, least_shards: int) -> list[RunProfile]:
        rows = self._db.rows(
            "SELECT json_extract(body, '$.profile') FROM runs WHERE code = ? AND arguments = ?"
            " AND json_extract(body, '$.profile') IS NOT NULL"
            " AND coalesce(json_extract(body, '$.job.request.shards'), 0) NOT BETWEEN 1 AND ?"
            " ORDER BY end_time DESC LIMIT ?",
            (code, arguments, least_shards - 1, _PACES),
        )
        return [loads(RunProfile, body) for (body,) in rows]

    def recent_jobs(self, *, limit: int) -> Iterator[Job]:
        """A page at a time: all of them at once would be large."""
        for start in range(0, limit, _JOBS_AT_ONCE):
            rows = self._db.rows(
                "SELECT json_extract(body, '$.job') FROM runs ORDER BY end_time DESC"
                " LIMIT ? OFFSET ?",
                (min(_JOBS_AT_ONCE, limit - start), start),
            )
            yield from (self._shown_job(loads(Job, body)) for (body,) in rows)
            if len(rows) < _JOBS_AT_ONCE:
                break

    def _shown_job(self, job: Job) -> Job:
        return job if self._shown is None else self._shown(PastRun(job=job)).job
