"""Runs as their nodes see them, picked out of the bodies by SQLite: thousands are looked at."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from schedmate.model import JobState, NodeRun

if TYPE_CHECKING:
    from collections.abc import Sequence

NODE_RUNS = """
SELECT job_id, attempt, user,
    json_extract(body, '$.job.nodes'), json_extract(body, '$.job.state'),
    json_extract(body, '$.job.request.gpus'), json_extract(body, '$.job.start_time'),
    json_extract(body, '$.job.end_time'), found
FROM (
    SELECT runs.job_id, runs.attempt, runs.user, runs.body, diagnoses.body AS found
    FROM runs LEFT JOIN diagnoses USING (scheduler, job_id, attempt)
    WHERE runs.scheduler = ? AND runs.end_time >= ?
    ORDER BY runs.end_time DESC LIMIT ?
)
WHERE json_array_length(body, '$.job.nodes') > 0
    AND json_extract(body, '$.job.start_time') IS NOT NULL
    AND json_extract(body, '$.job.end_time') IS NOT NULL
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
        blamed=tuple(found.get("blame", {}).get("nodes", ())),
    )
