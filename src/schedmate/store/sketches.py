"""Past runs by what they are: small rows to look through, found by the keys they share."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from schedmate.model import PastRun
from schedmate.model.sketch import SKETCH_VERSION, blocks, configuration, packed, sketch_of_run
from schedmate.model.wire import loads

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from schedmate.store.database import Database

Shown: TypeAlias = "Callable[[PastRun], PastRun]"
_Run: TypeAlias = tuple[str, str, int]
"""Scheduler, job and attempt."""
_NUMBER = 8
"""Bytes at the beginning of a row; in the table the number has a column of its own."""
_AT_ONCE = 5000
_REMADE = 100_000
"""Runs whose sketches are made anew, the newest first, when their shape has changed."""


class Sketches:
    """Fulfils the part of `History` that finds runs alike."""

    _db: Database
    _shown: Shown | None = None
    _sketches_checked = False
    _learnt: dict[str, tuple[float, str]]
    """By name: when it was learnt, and what."""

    def sketches(self, keys: Sequence[int], *, limit: int = 300) -> bytes:
        self._up_to_date()
        found: dict[int, bytes] = {}
        for key in keys:
            rows = self._db.rows(
                "SELECT run, sketch FROM run_blocks JOIN run_sketches USING (run)"
                " WHERE block = ? ORDER BY run_blocks.end_time DESC LIMIT ?",
                (key, limit),
            )
            found.update(rows)
        return _joined(found)

    def repeats(self, numbers: Sequence[int], *, limit: int) -> bytes:
        found: dict[int, bytes] = {}
        for number in numbers:
            rows = self._db.rows(
                "SELECT run, sketch FROM run_sketches WHERE config ="
                " (SELECT config FROM run_sketches WHERE run = ?) ORDER BY end_time DESC LIMIT ?",
                (number, limit),
            )
            found.update(rows)
        return _joined(found)

    def newest_sketches(self, limit: int) -> bytes:
        self._up_to_date()
        query = "SELECT run, sketch FROM run_sketches ORDER BY end_time DESC LIMIT ?"
        return _joined(dict(self._db.rows(query, (limit,))))

    def runs_numbered(self, numbers: Sequence[int]) -> list[PastRun]:
        rows = self._db.rows(
            "SELECT run, body FROM run_sketches JOIN runs USING (scheduler, job_id, attempt)"
            " WHERE run IN (SELECT CAST(value AS BIGINT) FROM json_each(?))",
            (json.dumps(list(numbers)),),
        )
        bodies = dict(rows)
        return self._seen(bodies[number] for number in numbers if number in bodies)

    def _seen(self, bodies: Iterable[str]) -> list[PastRun]:
        """The only way by which past runs leave the store."""
        runs = (loads(PastRun, body) for body in bodies)
        return [run if self._shown is None else self._shown(run) for run in runs]

    def learnt(self, name: str) -> str | None:
        """Read once: it is large, and asked for with each prediction."""
        row = self._db.one("SELECT at FROM learnt WHERE name = ?", (name,))
        if row is None:
            return None
        known = self._learnt.get(name)
        if known is None or known[0] != row[0]:
            found = self._db.one("SELECT at, body FROM learnt WHERE name = ?", (name,))
            known = self._learnt[name] = float(found[0]), str(found[1])
        return known[1]

    def keep_learnt(self, name: str, body: str, *, at: float) -> None:
        self._db.put("learnt", [(name, at, body)])
        self._learnt[name] = float(at), body

    def _keep_sketches(self, runs: Sequence[tuple[str, PastRun]]) -> None:
        """Of those runs of those schedulers.

        Keys of an earlier record of the same attempt stay; they lead to its new sketch.
        """
        made = [_made(scheduler, run) for scheduler, run in runs]
        self._db.run_many(
            "INSERT INTO run_sketches (scheduler, job_id, attempt, end_time, config, sketch)"
            " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (scheduler, job_id, attempt) DO UPDATE SET"
            " end_time = excluded.end_time, config = excluded.config, sketch = excluded.sketch",
            ((*each.run, each.end_time, each.config, each.row) for each in made),
        )
        numbers = self._numbers({each.run for each in made})
        keys = [
            (key, each.config, each.end_time, numbers[each.run])
            for each in made
            for key in each.keys
        ]
        self._db.run_many(
            "INSERT INTO run_blocks VALUES (?, ?, ?, ?) ON CONFLICT (block, config) DO UPDATE"
            " SET end_time = excluded.end_time, run = excluded.run"
            " WHERE excluded.end_time >= run_blocks.end_time",
            sorted(keys),
        )

    def _numbers(self, runs: Collection[_Run]) -> dict[_Run, int]:
        rows = self._db.rows(
            "SELECT scheduler, job_id, attempt, run FROM run_sketches"
            " JOIN json_each(?) AS wanted ON scheduler = json_extract(wanted.value, '$[0]')"
            " AND job_id = json_extract(wanted.value, '$[1]')"
            " AND attempt = CAST(json_extract(wanted.value, '$[2]') AS INTEGER)",
            (json.dumps(list(runs)),),
        )
        return {(scheduler, job_id, attempt): run for scheduler, job_id, attempt, run in rows}

    def _up_to_date(self) -> None:
        """Make sketches of runs that were kept before there were any, or when they were others."""
        if self._sketches_checked:
            return
        known = self._db.one("SELECT value FROM meta WHERE key = 'sketch_version'")
        if known is None or known[0] != str(SKETCH_VERSION):
            self._make_anew()
        self._sketches_checked = True

    def _make_anew(self) -> None:
        with self._db.transaction():
            self._db.run("DELETE FROM run_blocks")
            self._db.run("DELETE FROM run_sketches")
            query = "SELECT scheduler, body FROM runs ORDER BY end_time DESC LIMIT ?"
            found = self._db.rows(query, (_REMADE,))
            for start in range(0, len(found), _AT_ONCE):
                some = found[start : start + _AT_ONCE]
                self._keep_sketches([(where, loads(PastRun, body)) for where, body in some])
            self._db.put("meta", [("sketch_version", str(SKETCH_VERSION))])


class _Made(NamedTuple):
    run: _Run
    end_time: float
    config: int
    row: bytes
    keys: tuple[int, ...]


def _made(scheduler: str, run: PastRun) -> _Made:
    sketch, job = sketch_of_run(run), run.job
    row = packed(0, run, sketch)
    config = configuration(row)
    which = scheduler, job.id, job.restarts
    ended = job.end_time or job.submit_time
    return _Made(which, ended, config, row[_NUMBER:], blocks(sketch, config))


def _joined(found: dict[int, bytes]) -> bytes:
    return b"".join(number.to_bytes(_NUMBER, "little") + sketch for number, sketch in found.items())
