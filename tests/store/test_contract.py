"""The embedded store keeps the contract of all stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.store.sqlite import SqliteStore
from schedmate.testing.store_contract import StoreContract

if TYPE_CHECKING:
    from pathlib import Path

    from schedmate.store import Store


class TestSqlite(StoreContract):
    def open(self, path: Path, scheduler: str) -> Store:
        return SqliteStore(path, scheduler=scheduler)
