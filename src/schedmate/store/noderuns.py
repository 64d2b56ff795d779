"""Runs as their nodes see them, thousands at once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from schedmate.model import JobState, NodeRun

if TYPE_CHECKING:
    from collections.abc import Sequence

NODE_RUNS = """
SELECT job_id, attempt, "user", nodes, state, gpus, started_at, end_time, body
FROM (
    SELECT * FROM run_facts WHERE scheduler = ? AND end_time >= ? AND nodes <> '[]'
    AND started_at IS NOT NULL ORDER BY end_time DESC LIMIT ?
) AS newest LEFT JOIN diagnoses USING (scheduler, job_id, attempt) ORDER BY end_time DESC
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
