"""What pages show of many runs at once, picked out of the bodies by the database."""

from __future__ import annotations

import json
from dataclasses import dataclass
from sys import intern
from typing import TYPE_CHECKING, Any, Protocol

from schedmate.model import JobState, LlmCall, Spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.model import JobId
    from schedmate.store.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """One ended attempt: when, how large, what was predicted, what it died of."""

    job_id: JobId
    attempt: int
    user: str
    partition: str
    gpus: int
    state: JobState
    submitted_at: float
    started_at: float | None
    ended_at: float
    basis: str = ""
    predicted_s: Spread | None = None
    reason: str = ""
    confidence: float = 0.0
    source: str = ""

    @property
    def run_time_s(self) -> float | None:
        return None if self.started_at is None else max(0.0, self.ended_at - self.started_at)


@dataclass(frozen=True, slots=True)
class EtaSeen:
    """What a log showed at a time to be left of a run."""

    job_id: JobId
    at: float
    left_s: Spread


@dataclass(frozen=True, slots=True)
class CountSeen:
    """How much a run had done at a time."""

    at: float
    unit: str
    done: float


@dataclass(frozen=True, slots=True)
class DoneAction:
    """One that was carried out, without its reasons."""

    job_id: JobId
    attempt: int
    kind: str
    value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonsAct:
    """What a person did, by a page, the API or a verb."""

    at: float
    user: str
    action: str
    about: str
    """`job 12`, `rule r1a2b3c`, `node gpu041`."""
    detail: str = ""


class Overviews(Protocol):
    """For those who look at the whole of a site."""

    def run_summaries(self, *, since: float, limit: int = 50_000) -> Sequence[RunSummary]:
        """Of this scheduler's runs that ended since then, oldest first."""

    def done_actions(self, *, since: float, limit: int = 200_000) -> Sequence[DoneAction]:
        """The newest ones that were carried out since then, oldest first; not what undid one."""

    def etas_seen(self, *, since: float, limit: int = 20_000) -> Sequence[EtaSeen]:
        """The newest ones in the event log, oldest first."""

    def counts_seen(self, job_id: JobId, *, limit: int = 2000) -> Sequence[CountSeen]:
        """Of one job, the newest ones in the event log, oldest first."""

    def model_calls(self, *, since: float, limit: int = 50_000) -> Sequence[LlmCall]:
        """The newest questions to a language model, oldest first."""

    def record_act(self, act: PersonsAct, *, newest: int | None = None) -> None:
        """With `newest`, only so many of the same action are kept."""

    def acts(
        self,
        *,
        about: str | None = None,
        user: str | None = None,
        action: str | None = None,
        limit: int = 200,
        offset: int = 0,
    ) -> Sequence[PersonsAct]:
        """Newest first."""


_RUNS = """
SELECT job_id, attempt, "user", "partition", gpus, state, submitted_at, started_at, end_time, basis,
    p10, p50, p90, json_extract(body, '$.reason'),
    CAST(json_extract(body, '$.confidence') AS DOUBLE PRECISION), json_extract(body, '$.source')
FROM (
    SELECT * FROM run_facts WHERE scheduler = ? AND end_time >= ? ORDER BY end_time DESC LIMIT ?
) AS newest LEFT JOIN diagnoses USING (scheduler, job_id, attempt) ORDER BY end_time
"""
_ETAS = """
SELECT job_id, at, eta FROM (
    SELECT id, job_id, at, json_extract(body, '$.progress.eta_s') AS eta
    FROM events WHERE scheduler = ? AND kind = 'ProgressSeen' AND at >= ?
) AS seen WHERE eta IS NOT NULL ORDER BY id DESC LIMIT ?
"""
# the kind of an event is no key here: a planner without statistics takes its index for the better
_COUNTS = """
SELECT at, unit, CAST(done AS DOUBLE PRECISION) FROM (
    SELECT id, at, json_extract(body, '$.progress.unit') AS unit,
        json_extract(body, '$.progress.current') AS done
    FROM events WHERE scheduler = ? AND job_id = ? AND kind || '' = 'ProgressSeen'
) AS seen WHERE done IS NOT NULL ORDER BY id DESC LIMIT ?
"""
_DONE = """
SELECT job_id, json_extract(body, '$.attempt'), json_extract(body, '$.kind'),
    json_extract(body, '$.value')
FROM actions WHERE scheduler = ? AND state = 'done' AND at >= ?
    AND coalesce(json_extract(body, '$.reason.code'), '') <> 'reverted' ORDER BY id DESC LIMIT ?
"""


class Overview:
    """Part of the store as tables; see `Overviews`."""

    _db: Database
    _scheduler: str

    def run_summaries(self, *, since: float, limit: int = 50_000) -> list[RunSummary]:
        rows = self._db.rows(_RUNS, (self._scheduler, since, limit))
        return [_summary(row) for row in rows]

    def done_actions(self, *, since: float, limit: int = 200_000) -> list[DoneAction]:
        rows = self._db.rows(_DONE, (self._scheduler, since, limit))
        return [
            DoneAction(job_id, int(attempt), kind, None if value is None else float(value))
            for job_id, attempt, kind, value in reversed(list(rows))
        ]

    def etas_seen(self, *, since: float, limit: int = 20_000) -> list[EtaSeen]:
        rows = self._db.rows(_ETAS, (self._scheduler, since, limit))
        return [
            EtaSeen(job_id, at, Spread(**json.loads(left)))
            for job_id, at, left in reversed(list(rows))
        ]

    def counts_seen(self, job_id: JobId, *, limit: int = 2000) -> list[CountSeen]:
        rows = self._db.rows(_COUNTS, (self._scheduler, job_id, limit))
        return [CountSeen(at, unit, done) for at, unit, done in reversed(list(rows))]

    def model_calls(self, *, since: float, limit: int = 50_000) -> list[LlmCall]:
        rows = self._db.rows(
            "SELECT at, purpose, model, outcome, calls, prompt_tokens, answer_tokens, seconds"
            " FROM llm_calls WHERE at >= ? ORDER BY id DESC LIMIT ?",
            (since, limit),
        )
        return [
            LlmCall(
                at=at,
                purpose=purpose,
                model=model,
                outcome=outcome,
                calls=calls,
                prompt_tokens=asked,
                answer_tokens=answered,
                seconds=seconds,
            )
            for at, purpose, model, outcome, calls, asked, answered, seconds in reversed(list(rows))
        ]

    def record_act(self, act: PersonsAct, *, newest: int | None = None) -> None:
        self._db.run(
            'INSERT INTO audit (scheduler, at, "user", action, about, detail)'
            " VALUES (?, ?, ?, ?, ?, ?)",
            (self._scheduler, act.at, act.user, act.action, act.about, act.detail),
        )
        if newest is not None:
            self._db.run(
                "DELETE FROM audit WHERE scheduler = ? AND action = ? AND id <= (SELECT id FROM"
                " audit WHERE scheduler = ? AND action = ? ORDER BY id DESC LIMIT 1 OFFSET ?)",
                (self._scheduler, act.action, self._scheduler, act.action, newest),
            )

    def acts(
        self,
        *,
        about: str | None = None,
        user: str | None = None,
        action: str | None = None,
        limit: int = 200,
        offset: int = 0,
    ) -> list[PersonsAct]:
        stated = {"about": about, '"user"': user, "action": action}
        wanted = {name: value for name, value in stated.items() if value is not None}
        # the names are those above
        fitting = "".join(f" AND {name} = ?" for name in wanted)
        rows = self._db.rows(
            'SELECT at, "user", action, about, detail FROM audit WHERE scheduler = ?'  # noqa: S608
            f"{fitting} ORDER BY id DESC LIMIT ? OFFSET ?",
            (self._scheduler, *wanted.values(), limit, offset),
        )
        return [
            PersonsAct(at=at, user=user, action=action, about=what, detail=detail)
            for at, user, action, what, detail in rows
        ]


def _summary(row: Sequence[Any]) -> RunSummary:
    """Words that many runs share are kept once."""
    job_id, attempt, user, partition, gpus, state, submitted_at, started_at, ended_at, *rest = row
    basis, p10, p50, p90, reason, confidence, source = rest
    return RunSummary(
        job_id=job_id,
        attempt=attempt,
        user=intern(user),
        partition=intern(partition),
        gpus=gpus,
        state=JobState(state),
        submitted_at=submitted_at,
        started_at=started_at,
        ended_at=ended_at,
        basis=intern(basis),
        predicted_s=None if p50 is None else Spread(p10, p50, p90),
        reason=intern(reason or ""),
        confidence=confidence or 0.0,
        source=intern(source or ""),
    )
