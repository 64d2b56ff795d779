"""Runs as their nodes see them, thousands at once: the database picks them out of the bodies."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from schedmate.model import JobState, NodeRun

if TYPE_CHECKING:
    from collections.abc import Sequence

NODE_RUNS = """
SELECT job_id, attempt, "user", nodes, state, gpus, started_at, ended_at, found
FROM (
    SELECT job_id, attempt, "user", found,
        json_extract(body, '$.job.nodes') AS nodes, json_extract(body, '$.job.state') AS state,
        CAST(json_extract(body, '$.job.request.gpus') AS INTEGER) AS gpus,
        CAST(json_extract(body, '$.job.start_time') AS DOUBLE PRECISION) AS started_at,
        CAST(json_extract(body, '$.job.end_time') AS DOUBLE PRECISION) AS ended_at
    FROM (
        SELECT runs.job_id, runs.attempt, runs."user", runs.body, diagnoses.body AS found
        FROM runs LEFT JOIN diagnoses USING (scheduler, job_id, attempt)
        WHERE runs.scheduler = ? AND runs.end_time >= ?
        ORDER BY runs.end_time DESC LIMIT ?
    ) AS newest
) AS read
WHERE nodes <> '[]' AND started_at IS NOT NULL AND ended_at IS NOT NULL
"""


def node_run(row: Sequence[Any]) -> NodeRun:
    job_id, attempt, user, nodes, state, gpus, started_at, ended_at, body = row
    found = json.loads(body) if body else {}
    return NodeRun(
        job_id=job_id,
        attempt=attempt,
        user=user,
        nodes=tuple(json.loads(nodes)),
        state=JobState(state),
        gpus=gpus or 0,
        started_at=started_at,
        ended_at=ended_at,
        reason=found.get("reason", ""),
        confidence=found.get("confidence", 0.0),
        reported_by=found.get("reported_by", "job"),
        blamed=_blamed(found),
    )


def _blamed(found: dict[str, Any]) -> tuple[str, ...]:
    """A job's own output cannot point a fault that the scheduler reports at one of its nodes."""
    blame = found.get("blame", {})
    named_by_job = blame.get("nodes_by", "job") == "job"
    if named_by_job and found.get("reported_by", "job") != "job":
        return ()
    return tuple(blame.get("nodes", ()))
