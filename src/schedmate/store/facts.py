"""What is known of many jobs on their way, in a few statements for all of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from schedmate.model import Action, ActionRecord, Advice, Diagnosis, Progress
from schedmate.model.wire import loads
from schedmate.store.shared_records import shared_record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from schedmate.model import ActionState, JobId
    from schedmate.store.database import Database

_AT_ONCE = 500
_WARNED = """
SELECT job_id FROM progress WHERE scheduler = ? AND job_id IN (SELECT value FROM json_each(?))
    AND (coalesce(json_extract(body, '$.warnings'), '[]') <> '[]'
        OR json_extract(body, '$.phase') = 'stalled')
"""
_IN_ERROR = """
SELECT job_id FROM advice WHERE scheduler = ? AND job_id IN (SELECT value FROM json_each(?))
    AND body LIKE '%"level":"error"%'
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFacts:
    """Of one job; of progress only the newest attempt's is kept."""

    advice: Advice | None
    attempt: int | None
    """Of the progress."""
    progress: Progress | None
    progress_at: float | None
    diagnoses: dict[int, Diagnosis]
    actions: tuple[ActionRecord, ...]


def facts_of(db: Database, scheduler: str, job_ids: Sequence[JobId]) -> dict[JobId, StoredFacts]:
    found: dict[JobId, StoredFacts] = {}
    for start in range(0, len(job_ids), _AT_ONCE):
        found |= _some(db, scheduler, job_ids[start : start + _AT_ONCE])
    return found


def _some(db: Database, scheduler: str, job_ids: Sequence[JobId]) -> dict[JobId, StoredFacts]:
    wanted = json.dumps(job_ids)

    def rows(table: str, columns: str, order: str = "") -> Iterator[tuple[Any, ...]]:
        # all of them are the literals below
        query = (
            f"SELECT job_id, {columns} FROM {table} WHERE scheduler = ?"  # noqa: S608
            f" AND job_id IN (SELECT value FROM json_each(?)){order}"
        )
        return iter(db.rows(query, (scheduler, wanted)))

    advice = {job_id: shared_record(Advice, body) for job_id, body in rows("advice", "body")}
    progress = {job_id: row for job_id, *row in rows("progress", "attempt, body, at")}
    diagnoses: dict[JobId, dict[int, Diagnosis]] = {}
    for job_id, attempt, body in rows("diagnoses", "attempt, body", " ORDER BY attempt"):
        diagnoses.setdefault(job_id, {})[attempt] = loads(Diagnosis, body)
    actions: dict[JobId, list[ActionRecord]] = {}
    for job_id, *row in rows("actions", "body, state, at, note", " ORDER BY id"):
        actions.setdefault(job_id, []).append(action_record(*row))
    nothing = (None, None, None)
    found = {}
    for job_id in job_ids:
        attempt, body, at = progress.get(job_id, nothing)
        found[job_id] = StoredFacts(
            advice=advice.get(job_id),
            attempt=attempt,
            progress=None if body is None else loads(Progress, body),
            progress_at=at,
            diagnoses=diagnoses.get(job_id, {}),
            actions=tuple(actions.get(job_id, ())),
        )
    return found


def action_record(body: str, state: ActionState, at: float, note: str) -> ActionRecord:
    return ActionRecord(action=shared_record(Action, body), state=state, at=at, note=note)


def noticed_in(db: Database, scheduler: str, job_ids: Sequence[JobId]) -> set[JobId]:
    """Those whose progress has a warning, or whose advice an error; no body is read for it."""
    wanted = json.dumps(job_ids)
    return {
        str(job_id)
        for query in (_WARNED, _IN_ERROR)
        for (job_id,) in db.rows(query, (scheduler, wanted))
    }
