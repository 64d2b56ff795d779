"""What models were asked: the bill, answers by content, every exchange, exams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.model.exam import EXAM_VERSION, ExamResult
from schedmate.model.ledger import Exchange, LlmCall
from schedmate.model.wire import loads
from schedmate.store.base import Spending
from schedmate.store.bodies import dumps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.store.database import Database

_LOGGED = "at, user_name, job_id, purpose, model, endpoint, outcome, sent, received"


class LedgerTables:
    """Part of the store; see `model.ports.Ledger`."""

    _db: Database

    def record_call(self, call: LlmCall) -> None:
        self._db.run(
            "INSERT INTO llm_calls (at, purpose, model, outcome, calls, prompt_tokens,"
            " answer_tokens, seconds) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                call.at,
                call.purpose,
                call.model,
                call.outcome,
                call.calls,
                call.prompt_tokens,
                call.answer_tokens,
                call.seconds,
            ),
        )

    def tokens_spent(self, *, since: float) -> int:
        row = self._db.one(
            "SELECT COALESCE(SUM(prompt_tokens + answer_tokens), 0) FROM llm_calls WHERE at >= ?",
            (since,),
        )
        return int(row[0])

    def cached_answer(self, key: str) -> str | None:
        row = self._db.one("SELECT answer FROM llm_answers WHERE key = ?", (key,))
        return None if row is None else str(row[0])

    def cache_answer(self, key: str, answer: str) -> None:
        self._db.put("llm_answers", [(key, answer)])

    def spending(self) -> Spending:
        row = self._db.one(
            "SELECT COUNT(*), COALESCE(SUM(calls), 0),"
            " COALESCE(SUM(prompt_tokens + answer_tokens), 0), COALESCE(SUM(seconds), 0)"
            " FROM llm_calls"
        )
        return Spending(questions=row[0], calls=row[1], tokens=row[2], seconds=row[3])

    def keep_exchange(self, exchange: Exchange) -> None:
        self._db.run(
            f"INSERT INTO model_log ({_LOGGED}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - as above
            (
                exchange.at,
                exchange.user,
                exchange.job_id,
                exchange.purpose,
                exchange.model,
                exchange.endpoint,
                exchange.outcome,
                exchange.sent.replace("\0", "\N{REPLACEMENT CHARACTER}"),
                exchange.received.replace("\0", "\N{REPLACEMENT CHARACTER}"),
            ),
        )

    def exchanges(
        self,
        *,
        user: str | None = None,
        job_id: str | None = None,
        purpose: str | None = None,
        limit: int = 20,
    ) -> Sequence[Exchange]:
        wanted = {"user_name": user, "job_id": job_id, "purpose": purpose}
        given = {name: value for name, value in wanted.items() if value is not None}
        where = " AND ".join(["id > 0", *(f"{name} = ?" for name in given)])
        rows = self._db.rows(
            f"SELECT {_LOGGED} FROM model_log WHERE {where} ORDER BY id DESC LIMIT ?",  # noqa: S608 - as above
            (*given.values(), limit),
        )
        return [
            Exchange(
                at=row[0],
                user=row[1],
                job_id=row[2],
                purpose=row[3],
                model=row[4],
                endpoint=row[5],
                outcome=row[6],
                sent=row[7],
                received=row[8],
            )
            for row in rows
        ]

    def exam_of(self, identity: str) -> ExamResult | None:
        row = self._db.one("SELECT body FROM learnt WHERE name = ?", (_exam(identity),))
        result = None if row is None else loads(ExamResult, row[0])
        return result if result is not None and result.version == EXAM_VERSION else None

    def keep_exam(self, result: ExamResult) -> None:
        self._db.put("learnt", [(_exam(result.identity), result.at, dumps(result))])


def _exam(identity: str) -> str:
    return f"exam of {identity}"
