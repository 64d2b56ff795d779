"""A store that this user may only read: reads answer as usual, writes are dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.disk.reading import ReadOnlyDatabase
from schedmate.store.migrations import MIGRATIONS
from schedmate.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from pathlib import Path

    from schedmate.model.lessons import LearnedRule, PastFailure
    from schedmate.store.sketches import Shown


class ReadOnlyStore(SqliteStore):
    """Fulfils `Experience`; any other attempt to write is refused by the database."""

    def __init__(self, path: Path, *, scheduler: str = "local", shown: Shown | None = None) -> None:
        self._db = ReadOnlyDatabase(path, version=len(MIGRATIONS))
        self._scheduler = scheduler
        self._shown = shown

    def count_rule_hit(self, rule_id: str, *, at: float) -> None: ...

    def remember_failure(self, failure: PastFailure) -> None: ...

    def keep_rule(self, rule: LearnedRule) -> None: ...
