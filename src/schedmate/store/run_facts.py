"""Of every ended run what pages count, in narrow rows: bodies are long, and there are many.

The rows are made by the database, out of the bodies of `runs` and `advice`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schedmate.model import JobId
    from schedmate.store.database import Database

COLUMNS = (
    'scheduler, job_id, attempt, end_time, "user", "partition", gpus, state, submitted_at,'
    " started_at, nodes, basis, p10, p50, p90"
)
_REAL = "CAST(json_extract({}) AS DOUBLE PRECISION)"


def _quantile(name: str) -> str:
    return _REAL.format(f"advice.body, '$.prediction.duration_s.{name}'")


MADE_OF_RUNS = f"""
INSERT INTO run_facts ({COLUMNS})
SELECT runs.scheduler, runs.job_id, runs.attempt, runs.end_time, runs."user",
    coalesce(json_extract(runs.body, '$.job.request.partition'), ''),
    coalesce(CAST(json_extract(runs.body, '$.job.request.gpus') AS INTEGER), 0),
    json_extract(runs.body, '$.job.state'),
    {_REAL.format("runs.body, '$.job.submit_time'")},
    {_REAL.format("runs.body, '$.job.start_time'")},
    coalesce(json_extract(runs.body, '$.job.nodes'), '[]'),
    coalesce(json_extract(advice.body, '$.prediction.basis'), ''),
    {_quantile("p10")}, {_quantile("p50")}, {_quantile("p90")}
FROM runs LEFT JOIN advice ON advice.scheduler = runs.scheduler AND advice.job_id = runs.job_id
"""  # noqa: S608 - the names are those above
_SUBMISSIONS = (
    'INSERT INTO submissions (scheduler, job_id, whole, "user", submitted_at, latest, attempt)'
)
SUBMISSIONS_OF_RUNS = f"""
{_SUBMISSIONS}
SELECT scheduler, job_id, job_id, max("user"), min(submitted_at), max(submitted_at), max(attempt)
FROM run_facts GROUP BY scheduler, job_id
"""  # noqa: S608 - as above
SUBMISSIONS_OF_LISTED = f"""
{_SUBMISSIONS}
SELECT scheduler, job_id, job_id, json_extract(body, '$.user'),
    {_REAL.format("body, '$.submit_time'")}, {_REAL.format("body, '$.submit_time'")},
    coalesce(CAST(json_extract(body, '$.restarts') AS INTEGER), 0)
FROM listed_jobs WHERE TRUE ON CONFLICT (scheduler, job_id) DO NOTHING
"""  # noqa: S608 - as above


def keep_run_facts(db: Database, scheduler: str, job_ids: Iterable[JobId]) -> None:
    """Of all attempts of these jobs, anew."""
    wanted = json.dumps(sorted(set(job_ids)))
    chosen = "scheduler = ? AND {}job_id IN (SELECT value FROM json_each(?))"
    db.run(f"DELETE FROM run_facts WHERE {chosen.format('')}", (scheduler, wanted))  # noqa: S608
    db.run(f"{MADE_OF_RUNS} WHERE runs.{chosen.format('runs.')}", (scheduler, wanted))


ALL_KINDS_OF_MESSAGES = """
UPDATE subscriptions SET body = replace(body, '"kinds":["failed","hung","limit"]',
    '"kinds":["failed","hung","limit","doomed","made_way"]')
"""
"""Who wanted all there were wants those that came later too; who had chosen some keeps them."""
