"""The embedded store: one SQLite file on a local disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.disk.database import Database, ReadOnlyDatabase
from schedmate.store.base import MEND
from schedmate.store.migrations import MIGRATIONS
from schedmate.store.tables import TableStore

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from schedmate.model import PastRun
    from schedmate.model.lessons import LearnedRule, PastFailure
    from schedmate.store.sketches import Shown

_MANY = 1000


class SqliteStore(TableStore):
    def __init__(self, path: Path, *, scheduler: str = "local", shown: Shown | None = None) -> None:
        self._file = Database(path, MIGRATIONS, mend=MEND)
        super().__init__(self._file, scheduler=scheduler, shown=shown)

    def keep_runs(self, runs: Sequence[PastRun]) -> None:
        if len(runs) < _MANY:
            super().keep_runs(runs)
            return
        with self._file.large_cache():
            super().keep_runs(runs)


class ReadOnlyStore(TableStore):
    """Of a user who may only read it: reads answer as usual, writes are dropped.

    Fulfils `Experience`; any other attempt to write is refused by the database.
    """

    def __init__(self, path: Path, *, scheduler: str = "local", shown: Shown | None = None) -> None:
        db = ReadOnlyDatabase(path, version=len(MIGRATIONS), mend=MEND)
        super().__init__(db, scheduler=scheduler, shown=shown)

    def count_rule_hit(self, rule_id: str, *, at: float) -> None: ...

    def remember_failure(self, failure: PastFailure) -> None: ...

    def keep_rule(self, rule: LearnedRule) -> None: ...
