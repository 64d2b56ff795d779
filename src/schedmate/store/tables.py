"""The store as tables of a database, in statements that every database here understands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedmate.model import (
    Action,
    ActionRecord,
    ActionState,
    Advice,
    Diagnosis,
    Fingerprint,
    JobId,
    LearnedPattern,
    NodeRun,
    PastRun,
    Prediction,
    Progress,
)
from schedmate.model.wire import loads
from schedmate.store.base import KeptAdvice, KeptEvent, KeptProgress
from schedmate.store.bodies import dumps
from schedmate.store.corrections import KeptCorrection, corrected_body, correction_in
from schedmate.store.facts import StoredFacts, action_record, facts_of, noticed_in
from schedmate.store.ledger import LedgerTables
from schedmate.store.lessons import Lessons
from schedmate.store.listed_jobs import ListedJobs
from schedmate.store.noderuns import NODE_RUNS, node_run
from schedmate.store.notices import NoticeTables
from schedmate.store.overview import Overview
from schedmate.store.past_runs import MATCHES, PastRunParts
from schedmate.store.retention import Retention
from schedmate.store.run_facts import keep_run_facts
from schedmate.store.shared_records import shared_record
from schedmate.store.sketches import Shown, Sketches
from schedmate.store.tokens import TokenTable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from schedmate.store.database import Database

_AT_ONCE = 5000
"""Runs that are kept together: their keys are written in the order in which they are stored."""
_PROBE = 65_536
"""Characters that are written to find out whether a disk that was full has space again."""
_READINGS = 4000
"""How many of the newest rows of what was read are kept: two or three a job."""

_ACTIONS = "SELECT body, state, at, note FROM actions WHERE scheduler = ?"
_DIED_OF = (
    "(scheduler, job_id, attempt) IN (SELECT scheduler, job_id, attempt FROM diagnoses"
    " WHERE json_extract(body, '$.reason') = ?)"
)


class TableStore(
    Lessons,
    LedgerTables,
    ListedJobs,
    TokenTable,
    NoticeTables,
    Overview,
    PastRunParts,
    Sketches,
    Retention,
):
    """Fulfils `Store`."""

    def __init__(self, db: Database, *, scheduler: str, shown: Shown | None) -> None:
        """`shown` is what the user may see of a past run; None: all of it."""
        self._db = db
        self._scheduler = scheduler
        self._shown = shown
        self._learnt = {}

    def close(self) -> None:
        self._db.close()

    def together(self) -> AbstractContextManager[None]:
        return self._db.transaction()

    def compact(self) -> None:
        self._db.compact()

    def check_integrity(self) -> None:
        self._db.check_integrity()

    def check_writable(self) -> None:
        with self.together():
            self._db.put("meta", [("probe", "x" * _PROBE)])
            self._db.run("UPDATE meta SET value = '' WHERE key = 'probe'")

    def created_at(self) -> float:
        return float(self._db.one("SELECT value FROM meta WHERE key = 'created_at'")[0])

    # history

    def keep_runs(self, runs: Sequence[PastRun]) -> None:
        with self.together():
            self._up_to_date()  # else the first to ask would make all of these anew
            for start in range(0, len(runs), _AT_ONCE):
                self._keep_some(runs[start : start + _AT_ONCE])

    def keep_run(self, run: PastRun) -> None:
        self.keep_runs([run])

    def _keep_some(self, found: Sequence[PastRun]) -> None:
        runs = self.meet_runs(found)
        self._db.put("runs", (self._as_row(run) for run in runs))
        keep_run_facts(self._db, self._scheduler, [run.job.id for run in runs])
        self._keep_sketches([(self._scheduler, run) for run in runs])
        self._db.run_many(
            "DELETE FROM tracking WHERE scheduler = ? AND job_id = ? AND attempt <= ?",
            ((self._scheduler, run.job.id, run.job.restarts) for run in runs),
        )

    def _as_row(self, run: PastRun) -> tuple[Any, ...]:
        job, marks = run.job, run.fingerprint
        return (
            self._scheduler,
            job.id,
            job.restarts,
            job.user,
            marks and marks.code,
            marks and marks.arguments,
            job.end_time or job.submit_time,
            dumps(run),
        )

    def run(self, job_id: JobId, attempt: int | None = None) -> PastRun | None:
        found = self._runs(
            "scheduler = ? AND job_id = ? AND (? IS NULL OR attempt = ?) ORDER BY attempt DESC",
            (self._scheduler, self.called(job_id), attempt, attempt),
            limit=1,
        )
        return found[0] if found else None

    def attempts_with_code(self) -> set[tuple[JobId, int]]:
        rows = self._db.rows(
            "SELECT job_id, attempt FROM runs WHERE scheduler = ? AND code IS NOT NULL",
            (self._scheduler,),
        )
        return {(job_id, attempt) for job_id, attempt in rows}

    def sources_of(self, job_id: JobId) -> list[str]:
        rows = self._db.rows(
            "SELECT scheduler FROM runs WHERE job_id = ?"
            " AND scheduler IN (SELECT DISTINCT scheduler FROM runs)"  # lets it use the index
            " GROUP BY scheduler ORDER BY max(end_time) DESC",
            (self.called(job_id),),
        )
        return [source for (source,) in rows]

    def runs_with_fingerprint(self, fingerprint: Fingerprint) -> list[PastRun]:
        return self._runs(
            "code = ? AND arguments = ? ORDER BY end_time DESC",
            (fingerprint.code, fingerprint.arguments),
            limit=MATCHES,
        )

    def runs_of_code(self, code: str) -> list[PastRun]:
        return self._runs("code = ? ORDER BY end_time DESC", (code,), limit=MATCHES)

    def recent_runs(self, *, user: str | None = None, limit: int = 1000) -> list[PastRun]:
        return self.page_of_runs(user=user, limit=limit, offset=0)

    def page_of_runs(
        self, *, user: str | None, reason: str | None = None, limit: int, offset: int
    ) -> list[PastRun]:
        where = {'"user" = ?': user, _DIED_OF: reason}
        stated = {part: value for part, value in where.items() if value is not None}
        chosen = " AND ".join(stated) or "TRUE"
        newest = f"{chosen} ORDER BY end_time DESC"
        return self._runs(newest, tuple(stated.values()), limit=limit, offset=offset)

    def _runs(
        self, where: str, values: tuple[Any, ...], *, limit: int, offset: int = 0
    ) -> list[PastRun]:
        # `where` is always one of the literals above
        query = f"SELECT body FROM runs WHERE {where} LIMIT ? OFFSET ?"  # noqa: S608
        return self._seen(body for (body,) in self._db.rows(query, (*values, limit, offset)))

    def node_runs(self, *, since: float, limit: int = 20_000) -> list[NodeRun]:
        rows = self._db.rows(NODE_RUNS, (self._scheduler, since, limit))
        return [node_run(row) for row in rows]

    # what is known of jobs on their way

    def keep_advice(self, job_id: JobId, kept: KeptAdvice) -> None:
        marks = None if kept.fingerprint is None else dumps(kept.fingerprint)
        with self.together():
            self._db.put("advice", [(self._scheduler, job_id, dumps(kept.advice), marks)])
            self._keep_prediction(job_id, kept.advice.prediction)

    def _keep_prediction(self, job_id: JobId, made: Prediction) -> None:
        """Where a run of it has ended already."""
        spread = made.duration_s
        quantiles = (None,) * 3 if spread is None else (spread.p10, spread.p50, spread.p90)
        self._db.run(
            "UPDATE run_facts SET basis = ?, p10 = ?, p50 = ?, p90 = ?"
            " WHERE scheduler = ? AND job_id = ?",
            (made.basis, *quantiles, self._scheduler, job_id),
        )

    def advice(self, job_id: JobId) -> KeptAdvice | None:
        row = self._db.one(
            "SELECT body, fingerprint FROM advice WHERE scheduler = ? AND job_id = ?",
            (self._scheduler, job_id),
        )
        if row is None:
            return None
        marks = None if row[1] is None else loads(Fingerprint, row[1])
        return KeptAdvice(shared_record(Advice, row[0]), marks)

    def keep_progress(self, job_id: JobId, attempt: int, progress: Progress, *, at: float) -> None:
        self._db.put("progress", [(self._scheduler, job_id, attempt, dumps(progress), at)])

    def progress(self, job_id: JobId, attempt: int) -> KeptProgress | None:
        row = self._db.one(
            "SELECT body, at FROM progress WHERE scheduler = ? AND job_id = ? AND attempt = ?",
            (self._scheduler, job_id, attempt),
        )
        return None if row is None else KeptProgress(loads(Progress, row[0]), row[1])

    def keep_tracking(self, job_id: JobId, attempt: int, state: str) -> None:
        self._db.put("tracking", [(self._scheduler, job_id, attempt, state)])

    def tracking(self, job_id: JobId, attempt: int) -> str | None:
        row = self._db.one(
            "SELECT state FROM tracking WHERE scheduler = ? AND job_id = ? AND attempt = ?",
            (self._scheduler, job_id, attempt),
        )
        return None if row is None else str(row[0])

    def keep_diagnosis(
        self,
        job_id: JobId,
        attempt: int,
        diagnosis: Diagnosis,
        *,
        correction: KeptCorrection | None = None,
    ) -> None:
        body = corrected_body(diagnosis, correction)
        self._db.put("diagnoses", [(self._scheduler, job_id, attempt, body)])

    def correction(self, job_id: JobId, attempt: int) -> KeptCorrection | None:
        row = self._db.one(
            "SELECT body FROM diagnoses WHERE scheduler = ? AND job_id = ? AND attempt = ?",
            (self._scheduler, job_id, attempt),
        )
        return None if row is None else correction_in(str(row[0]))

    def diagnoses(self, job_id: JobId) -> dict[int, Diagnosis]:
        rows = self._db.rows(
            "SELECT attempt, body FROM diagnoses WHERE scheduler = ? AND job_id = ?"
            " ORDER BY attempt",
            (self._scheduler, job_id),
        )
        return {attempt: loads(Diagnosis, body) for attempt, body in rows}

    def failure_reason(self, run: PastRun) -> str | None:
        found = self.diagnoses(run.job.id).get(run.job.restarts)
        return None if found is None else found.reason

    # intents and actions

    def intend(self, action: Action, *, at: float, state: ActionState = "intended") -> bool:
        changed = self._db.run(
            "INSERT INTO actions (scheduler, key, job_id, state, at, note, body)"
            " VALUES (?, ?, ?, ?, ?, '', ?) ON CONFLICT DO NOTHING",
            (self._scheduler, action.key, action.job_id, state, at, dumps(action)),
        )
        return changed == 1

    def settle(self, action: Action, state: ActionState, *, at: float, note: str = "") -> None:
        self._db.run(
            "UPDATE actions SET state = ?, at = ?, note = ? WHERE scheduler = ? AND key = ?",
            (state, at, note, self._scheduler, action.key),
        )

    def actions(
        self,
        *,
        job_id: JobId | None = None,
        state: ActionState | None = None,
        since: float | None = None,
    ) -> list[ActionRecord]:
        # what is not asked for is left out of the statement: an index serves the rest
        wanted = {"job_id = ?": job_id, "state = ?": state, "at >= ?": since}
        given = {term: value for term, value in wanted.items() if value is not None}
        rows = self._db.rows(
            " AND ".join((_ACTIONS, *given)) + " ORDER BY id", (self._scheduler, *given.values())
        )
        return [action_record(*row) for row in rows]

    def job_facts(self, job_ids: Sequence[JobId]) -> dict[JobId, StoredFacts]:
        return facts_of(self._db, self._scheduler, job_ids)

    def noticed(self, job_ids: Sequence[JobId]) -> set[JobId]:
        return noticed_in(self._db, self._scheduler, job_ids)

    # the event log

    def keep_events(
        self, events: Sequence[KeptEvent], *, most: int, head: str = "", handled: bool = True
    ) -> None:
        with self.together():
            self._db.run_many(
                "INSERT INTO events (scheduler, at, kind, job_id, handled, body)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (
                    (self._scheduler, each.at, each.kind, each.job_id, handled, each.body)
                    for each in events
                ),
            )
            last = int(self._db.one("SELECT max(id) FROM events")[0] or 0) - most
            self._db.run(
                "DELETE FROM events WHERE handled AND id <= ? AND id NOT IN"
                " (SELECT max(id) FROM events WHERE kind = ? AND id <= ? GROUP BY scheduler)",
                (last, head, last),
            )

    def events(self, *, after: int = 0, limit: int = 10_000) -> list[KeptEvent]:
        return self._events("id > ? AND handled", (after,), limit=limit)

    def unhandled_events(self) -> list[KeptEvent]:
        return self._events("NOT handled", (), limit=1000)

    def mark_handled(self, event_id: int) -> None:
        self._db.run("DELETE FROM events WHERE id = ? AND NOT handled", (event_id,))

    def _events(self, where: str, values: tuple[Any, ...], *, limit: int) -> list[KeptEvent]:
        # `where` is always one of the literals above
        columns = "SELECT id, at, kind, job_id, body FROM events"
        query = f"{columns} WHERE scheduler = ? AND {where} ORDER BY id LIMIT ?"
        return [
            KeptEvent(id=number, at=at, kind=kind, job_id=job_id, body=body)
            for number, at, kind, job_id, body in self._db.rows(
                query, (self._scheduler, *values, limit)
            )
        ]

    # caches and memories

    def cached_reading(self, key: str) -> str | None:
        row = self._db.one("SELECT body FROM workloads WHERE key = ?", (key,))
        return None if row is None else str(row[0])

    def cache_reading(self, key: str, reading: str) -> None:
        with self.together():
            self._db.put("workloads", [(key, reading)])
            self._db.run(  # what is written again gets a new number, so the oldest go
                "DELETE FROM workloads WHERE rowid <= (SELECT max(rowid) FROM workloads) - ?",
                (_READINGS,),
            )

    def learned_pattern(self, workload: str) -> LearnedPattern | None:
        row = self._db.one("SELECT body FROM formats WHERE workload = ?", (workload,))
        return None if row is None else loads(LearnedPattern, row[0])

    def learn_pattern(self, workload: str, pattern: LearnedPattern) -> None:
        self._db.put("formats", [(workload, dumps(pattern))])

    def unlearn_pattern(self, workload: str) -> None:
        self._db.run("DELETE FROM formats WHERE workload = ?", (workload,))
