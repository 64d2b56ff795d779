"""What the store asks of a database, and in which language.

Statements are those that SQLite and PostgreSQL both read: `?` stands for a value, `"user"` is
quoted, `INSERT ... ON CONFLICT (columns)` names its key. Lists travel as JSON: `json_each(?)` has a
column `value` of texts, and `json_extract(body, '$.a.b')` is a text, or is cast. Tables whose rows
are dropped by age have a `rowid` that grows with every row that is put.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager


class Database(Protocol):
    def transaction(self) -> AbstractContextManager[None]:
        """All or nothing, one writer at a time; within another one it is part of that."""

    def run(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Execute one statement and return how many rows it changed."""

    def run_many(self, statement: str, values: Iterable[Sequence[Any]]) -> None:
        """Execute one statement for each of those."""

    def put(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        """Whole rows, each in the place of the one with the same key."""

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]: ...

    def batches(self, statement: str, size: int) -> Iterator[list[tuple[Any, ...]]]:
        """All rows, so many at once, in one pass; within a transaction."""

    def one(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """The first row, or None."""

    def used_bytes(self) -> int:
        """Without space that is free for new rows."""

    def tables(self) -> list[str]: ...

    def columns(self, table: str) -> list[str]:
        """In the order in which rows are put, without the rowid."""

    def renumber(self) -> None:
        """Number new rows behind those that were copied with their numbers."""

    def check_integrity(self) -> None:
        """UnusableStore where it is damaged, as far as one can tell from here."""

    def compact(self) -> None:
        """Give free space back to the disk."""

    def close(self) -> None: ...
