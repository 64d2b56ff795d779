"""What is kept for how long, in steps so small that they fit beside the daemon's loop.

Ended runs are the history that predictions come from: they stay, but old ones without the lines of
code that show where each value was read. What was found out about a job on its way goes once it has
been over for long enough. Jobs that the scheduler still lists are never touched: what was done to
them must not be forgotten, else it would be done again.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from schedmate.model import JobId
    from schedmate.store.base import Keep
    from schedmate.store.database import Database

_DAY_S = 86_400.0
_FACTS = ("advice", "progress", "tracking", "diagnoses")
_ANSWERS = 20_000
"""How many of the newest answers of a model are kept."""
_SPARED_EVENTS = 2000
"""More than are ever left for a daemon, or kept as the beginning of a log."""
_SHORTEST_DAYS = 7.0
"""Of what is known about ended jobs so much stays, however little space there is."""
_COUNTED = ("runs", "actions", "events", "llm_calls", *_FACTS)


class Retention:
    """Fulfils the part of `Store` that keeps it small."""

    _db: Database

    def sizes(self) -> dict[str, int]:
        """How many rows there are of each kind."""
        # the names are those above
        return {
            name: int(self._db.one(f"SELECT count(*) FROM {name}")[0])  # noqa: S608
            for name in _COUNTED
        }

    def used_bytes(self) -> int:
        return self._db.used_bytes()

    def drop_old(self, keep: Keep, *, head: str, listed: Collection[JobId], now: float) -> bool:
        """One small step; whether there may be more to do.

        `head` is the kind of event of which the newest stays, `listed` are the jobs that the
        scheduler still knows.
        """
        days = keep.days
        with self._db.transaction():
            if self._drop(keep, now - days * _DAY_S, head, listed):
                return True
            if self._db.used_bytes() <= keep.bytes:
                return False
            if self._drop_first_events(keep.step, head):
                return True
            while days > _SHORTEST_DAYS:
                days = max(_SHORTEST_DAYS, days / 2)
                if self._drop(keep, now - days * _DAY_S, head, listed):
                    return True
            return self._drop_first_runs(keep.step)

    def _drop(self, keep: Keep, before: float, head: str, listed: Collection[JobId]) -> bool:
        spared = json.dumps(sorted(listed))
        facts = (
            lambda table=table: self._drop_facts(table, before, keep.step, spared)
            for table in _FACTS
        )
        cuts: tuple[Callable[[], int], ...] = (
            lambda: self._drop_events(before, keep.step, head),
            lambda: self._drop_actions(before, keep.step, spared),
            *facts,
            lambda: self._drop_answers(keep.step),
            lambda: self._compact_runs(before, keep.step),
        )
        return any(cut() > 0 for cut in cuts)

    def _drop_events(self, before: float, most: int, head: str) -> int:
        """Events are numbered as they come: only the first are looked at, not the whole log."""
        return self._db.run(
            "DELETE FROM events WHERE id IN (SELECT id FROM"
            " (SELECT id, at, handled FROM events ORDER BY id LIMIT ?) AS first"
            " WHERE handled AND at < ? AND id NOT IN"
            " (SELECT max(id) FROM events WHERE kind = ? GROUP BY scheduler) ORDER BY id LIMIT ?)",
            (most + _SPARED_EVENTS, before, head, most),
        )

    def _drop_first_events(self, most: int, head: str) -> int:
        return self._drop_events(float("inf"), most, head)

    def _drop_actions(self, before: float, most: int, spared: str) -> int:
        return self._db.run(
            "DELETE FROM actions WHERE id IN (SELECT id FROM actions AS old WHERE at < ?"
            " AND state <> 'intended' AND job_id NOT IN (SELECT value FROM json_each(?))"
            " AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.scheduler = old.scheduler"
            " AND runs.job_id = old.job_id AND end_time >= ?) ORDER BY id LIMIT ?)",
            (before, spared, before, most),
        )

    def _drop_facts(self, table: str, before: float, most: int, spared: str) -> int:
        """Rows are numbered as they come: what came before a row of a job that was over then is
        older still, also where no end was ever seen."""
        # `table` is one of the names above
        youngest = (
            f"SELECT max({table}.rowid) FROM {table} JOIN runs USING (scheduler, job_id)"  # noqa: S608
            " WHERE runs.end_time < ?"
        )
        return self._db.run(
            f"DELETE FROM {table} WHERE rowid IN (SELECT rowid FROM {table} AS old"  # noqa: S608
            f" WHERE rowid <= ({youngest}) AND job_id NOT IN (SELECT value FROM json_each(?))"
            " AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.scheduler = old.scheduler"
            " AND runs.job_id = old.job_id AND end_time >= ?) LIMIT ?)",
            (before, spared, before, most),
        )

    def _drop_answers(self, most: int) -> int:
        return self._db.run(
            "DELETE FROM llm_answers WHERE rowid IN (SELECT rowid FROM llm_answers"
            " WHERE rowid <= (SELECT max(rowid) FROM llm_answers) - ? LIMIT ?)",
            (_ANSWERS, most),
        )

    def _drop_first_runs(self, most: int) -> bool:
        """The last resort of a store that is too large."""
        oldest = "SELECT scheduler, job_id, attempt FROM runs ORDER BY end_time LIMIT ?"
        numbers = [
            number
            for (number,) in self._db.rows(
                f"SELECT run FROM run_sketches WHERE (scheduler, job_id, attempt) IN ({oldest})",  # noqa: S608
                (most,),
            )
        ]
        wanted = json.dumps(numbers)
        for table in ("run_blocks", "run_sketches"):
            # `table` is one of these two
            self._db.run(
                f"DELETE FROM {table} WHERE run IN"  # noqa: S608
                " (SELECT CAST(value AS BIGINT) FROM json_each(?))",
                (wanted,),
            )
        self._db.run(
            f"DELETE FROM run_facts WHERE (scheduler, job_id, attempt) IN ({oldest})",  # noqa: S608
            (most,),
        )
        dropped = self._db.run(
            f"DELETE FROM runs WHERE (scheduler, job_id, attempt) IN ({oldest})",  # noqa: S608
            (most,),
        )
        return dropped > 0

    def _compact_runs(self, before: float, most: int) -> int:
        row = self._db.one("SELECT value FROM meta WHERE key = 'compact_until'")
        done = -1.0 if row is None else float(row[0])
        rows = self._db.rows(
            "SELECT rowid, end_time, body FROM runs WHERE end_time > ? AND end_time < ?"
            " ORDER BY end_time LIMIT ?",
            (done, before, most),
        )
        if not rows:
            return 0
        last = rows[-1][1]
        # others that ended in this very moment belong to the same step
        rows += self._db.rows(
            "SELECT rowid, end_time, body FROM runs WHERE end_time = ? AND rowid NOT IN"
            " (SELECT CAST(value AS BIGINT) FROM json_each(?))",
            (last, json.dumps([number for number, *_ in rows])),
        )
        self._db.run_many(
            "UPDATE runs SET body = ? WHERE rowid = ?",
            ((_compact(body), number) for number, _, body in rows),
        )
        self._db.put("meta", [("compact_until", repr(last))])
        return len(rows)


def _compact(body: str) -> str:
    """Without what is unknown, and without the lines that its values were read from."""
    return json.dumps(_without(json.loads(body)), separators=(",", ":"), ensure_ascii=False)


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {name: one for name, one in value.items() if one is not None and name != "evidence"}
        return {name: _without(one) for name, one in kept.items()}
    return [_without(one) for one in value] if isinstance(value, list) else value
