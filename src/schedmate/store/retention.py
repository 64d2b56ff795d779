"""What is kept for how long, in steps so small that they fit beside the daemon's loop.

Ended runs are the history that predictions come from: they stay, but old ones without the lines of
code that show where each value was read. What was found out about a job on its way goes once it has
been over for long enough. Jobs that the scheduler still lists are never touched: what was done to
them must not be forgotten, else it would be done again.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from schedmate.model import JobId
    from schedmate.store.base import Keep
    from schedmate.store.database import Database

    _Cut = Callable[[], int]

_DAY_S = 86_400.0
_FACTS = ("advice", "progress", "tracking", "diagnoses")
_ANSWERS = 20_000
"""How many of the newest answers of a model are kept."""
_EXCHANGES = 5000
"""The same of whole requests, which are far larger."""
_SPARED_EVENTS = 2000
"""More than are ever left for a daemon, or kept as the beginning of a log."""
_LAST = 2**62
"""A number that no event has."""
_RECENT_EVENTS = 10_000
"""So many of the newest events stay, however little space there is ..."""
_RECENT_SHARE = 0.1
"""... but never more than fit into this share of it."""
_EVENT_BYTES = 1000.0
"""What an event takes, with its indexes."""
_BATCHES = 10
"""Deletions of one step that make a store smaller which is too large."""
_SHORTEST_DAYS = 7.0
"""Of what is known about ended jobs so much stays, however little space there is."""
_COUNTED = ("runs", "actions", "events", "llm_calls", "model_log", *_FACTS)


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

        Each kind has its turn in each step: a queue that moves writes events all the time, and
        these must not keep the rest from being dropped. `head` is the kind of event of which the
        newest stays, `listed` are the jobs that the scheduler still knows.
        """
        spared = json.dumps(sorted(listed))
        before = now - keep.days * _DAY_S
        aged: list[_Cut] = [
            lambda: self._drop_events(before, keep.step, head),
            *self._cuts_of_jobs(before, keep.step, spared),
        ]
        dropped = [self._cut(cut) for cut in aged]
        more_by_size = self._shrink(keep, head, spared, now)
        return more_by_size or any(rows >= keep.step for rows in dropped)

    def _shrink(self, keep: Keep, head: str, spared: str, now: float) -> bool:
        """Drop in the order of what is missed least, until the store is small enough.

        Whether it is still too large, and more could go in the next step.
        """
        if self._db.used_bytes() <= keep.bytes:
            return False
        recent = min(_RECENT_EVENTS, int(keep.bytes * _RECENT_SHARE / _EVENT_BYTES))
        cuts: list[_Cut] = [lambda: self._drop_first_events(recent, keep.step, head)]
        days = keep.days
        while days > _SHORTEST_DAYS:
            days = max(_SHORTEST_DAYS, days / 2)
            cuts += self._cuts_of_jobs(now - days * _DAY_S, keep.step, spared)
        cuts.append(lambda: self._drop_first_runs(keep.step))
        left = _BATCHES
        for cut in cuts:
            rows = keep.step
            while rows >= keep.step:
                if left == 0:
                    return True
                rows = self._cut(cut)
                left -= rows > 0
                if rows > 0 and self._db.used_bytes() <= keep.bytes:
                    return False
        return left < _BATCHES

    def _cut(self, cut: _Cut) -> int:
        with self._db.transaction():
            return cut()

    def _cuts_of_jobs(self, before: float, most: int, spared: str) -> list[_Cut]:
        """What is known of jobs that ended before then, and answers of a model."""
        return [
            lambda: self._drop_actions(before, most, spared),
            *(partial(self._drop_facts, table, before, most, spared) for table in _FACTS),
            lambda: self._drop_answers(most),
            lambda: self._drop_exchanges(before, most),
            lambda: self._compact_runs(before, most),
        ]

    def _drop_events(self, before: float, most: int, head: str, upto: int | None = None) -> int:
        """Events are numbered as they come: only the first are looked at, not the whole log."""
        return self._db.run(
            "DELETE FROM events WHERE id IN (SELECT id FROM"
            " (SELECT id, at, handled FROM events ORDER BY id LIMIT ?) AS first"
            " WHERE handled AND at < ? AND id <= ? AND id NOT IN"
            " (SELECT max(id) FROM events WHERE kind = ? GROUP BY scheduler) ORDER BY id LIMIT ?)",
            (most + _SPARED_EVENTS, before, _LAST if upto is None else upto, head, most),
        )

    def _drop_first_events(self, recent: int, most: int, head: str) -> int:
        """All but so many recent ones, which a replay needs."""
        row = self._db.one("SELECT id FROM events ORDER BY id DESC LIMIT 1 OFFSET ?", (recent,))
        return 0 if row is None else self._drop_events(float("inf"), most, head, int(row[0]))

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

    def _drop_exchanges(self, before: float, most: int) -> int:
        return self._db.run(
            "DELETE FROM model_log WHERE id IN (SELECT id FROM model_log"
            " WHERE at < ? OR id <= (SELECT max(id) FROM model_log) - ? ORDER BY id LIMIT ?)",
            (before, _EXCHANGES, most),
        )

    def _drop_first_runs(self, most: int) -> int:
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
        jobs = f"SELECT scheduler, job_id FROM ({oldest}) AS oldest"  # noqa: S608
        listed = "SELECT scheduler, job_id FROM listed_jobs"
        key = "(scheduler, job_id)"
        self._db.run(
            f"DELETE FROM submissions WHERE {key} IN ({jobs}) AND {key} NOT IN ({listed})",  # noqa: S608
            (most,),
        )
        return self._db.run(
            f"DELETE FROM runs WHERE (scheduler, job_id, attempt) IN ({oldest})",  # noqa: S608
            (most,),
        )

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
