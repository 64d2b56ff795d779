"""A whole store from one database into another, and the proof that it is all there."""

from __future__ import annotations

import hashlib
from contextlib import closing
from typing import TYPE_CHECKING, Any

from schedmate.disk.database import Database as SqliteDatabase
from schedmate.model import BadInput, SchedMateError
from schedmate.store.base import Moved
from schedmate.store.migrations import MIGRATIONS
from schedmate.store.postgres import PostgresDatabase

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from schedmate.store.base import OnTable
    from schedmate.store.database import Database

_AT_ONCE = 1000
_NOT_COPIED = frozenset({"changes", "format", "leases"})
"""Of the daemon that runs now."""
_AGED = frozenset(
    {
        *("runs", "advice", "progress", "tracking", "diagnoses"),
        *("workloads", "llm_answers", "past_failures", "learned_rules"),
    }
)
"""Tables whose rows are dropped in the order in which they were put."""


def move_to_postgres(path: Path, url: str, on_table: OnTable) -> Moved:
    """Copy the file's rows; the file stays as it is."""

    with (
        closing(SqliteDatabase(path, MIGRATIONS)) as source,
        closing(PostgresDatabase(url)) as target,
    ):
        if any(_count(target, table) for table in ("runs", "actions", "events", "listed_jobs")):
            raise BadInput(f"{target.name} is in use already; name an empty database")
        return _copy(source, target, on_table)


def copied_to_file(url: str, path: Path) -> Moved:
    """The other way, into a new file."""

    with (
        closing(PostgresDatabase(url)) as source,
        closing(SqliteDatabase(path, MIGRATIONS)) as target,
    ):
        return _copy(source, target, lambda *_: None)


def _copy(source: Database, target: Database, on_table: OnTable) -> Moved:
    tables = [name for name in target.tables() if name in source.tables()]
    tables = [name for name in tables if name not in _NOT_COPIED]
    counts: dict[str, int] = {}
    with source.transaction(), target.transaction():
        for table in tables:
            target.run(f"DELETE FROM {table}")  # noqa: S608 - named by the database itself
            counts[table] = _copy_table(source, target, table, on_table)
        target.renumber()
        for table in tables:
            if _digest(source, table) != _digest(target, table):
                raise SchedMateError(f"the rows of {table} differ after copying; nothing was moved")
    return Moved(counts)


def _copy_table(source: Database, target: Database, table: str, on_table: OnTable) -> int:
    total, done = _count(source, table), 0
    columns = source.columns(table)
    names, places = _quoted(columns), ", ".join("?" * len(columns))
    insert = f"INSERT INTO {table} ({names}) VALUES ({places})"  # noqa: S608
    on_table(table, 0, total)
    for rows in _batches(source, table, columns, in_order=table in _AGED):
        target.run_many(insert, rows)
        done += len(rows)
        on_table(table, done, total)
    return done


def _batches(
    db: Database, table: str, columns: list[str], *, in_order: bool = False
) -> Iterator[list[tuple[Any, ...]]]:
    order = " ORDER BY rowid" if in_order else ""
    query = f"SELECT {_quoted(columns)} FROM {table}{order}"  # noqa: S608
    for rows in db.batches(query, _AT_ONCE):
        yield [_plain(table, columns, row) for row in rows]


def _plain(table: str, columns: list[str], row: tuple[Any, ...]) -> tuple[Any, ...]:
    """What is true or false in one database is a number in the other."""
    if table != "events":
        return row
    at = columns.index("handled")
    return (*row[:at], bool(row[at]), *row[at + 1 :])


def _digest(db: Database, table: str) -> int:
    """Of all rows in whichever order."""
    columns = sorted(db.columns(table))
    found = 0
    for rows in _batches(db, table, columns):
        for row in rows:
            text = repr(tuple(_clean(value) for value in row)).encode("utf-8", "replace")
            found ^= int.from_bytes(hashlib.blake2b(text, digest_size=16).digest(), "big")
    return found


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return bytes(value) if isinstance(value, memoryview) else value


def _count(db: Database, table: str) -> int:
    return int(db.one(f"SELECT count(*) FROM {table}")[0])  # noqa: S608


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
