"""A SQLite file that this user may read and not write to."""

from __future__ import annotations

import sqlite3
import threading
import weakref
from typing import TYPE_CHECKING

from schedmate.disk.database import Database
from schedmate.model import BadInput

if TYPE_CHECKING:
    from pathlib import Path


class ReadOnlyDatabase(Database):
    """It must be of this very version: nothing can be brought up to date here."""

    def __init__(self, path: Path, *, version: int) -> None:
        self._path = path
        self._lock = threading.RLock()
        try:
            self._connection = _connection_for_reading(path)
            weakref.finalize(self, self._connection.close)
            found = self._connection.execute("PRAGMA user_version").fetchone()[0]
        except sqlite3.Error as error:
            raise BadInput(f"{path} cannot be read ({error})") from error
        if found != version:
            raise BadInput(f"{path} has format {found}, this SchedMate reads {version}")


def _connection_for_reading(path: Path) -> sqlite3.Connection:
    """Without the right to write beside it, a write-ahead log that is not there cannot be made."""
    where = path.resolve().as_uri()
    for mode in ("mode=ro", "mode=ro&immutable=1"):
        made = sqlite3.connect(f"{where}?{mode}", uri=True, check_same_thread=False)
        try:
            made.execute("SELECT count(*) FROM sqlite_schema")
        except sqlite3.OperationalError as error:
            made.close()
            failed = error
        else:
            return made
    raise failed
