"""One SQLite file that several processes and threads may use at once."""

from __future__ import annotations

import sqlite3
import threading
import time
import weakref
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedmate.disk.backup import keep_backup
from schedmate.disk.private import create_private, private_directory, tighten
from schedmate.model import BadInput, StoreError, StoreUnavailable, UnusableStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_BUSY_S = 30.0
_CACHE_KB, _LARGE_CACHE_KB = 2048, 65_536
"""Of each connection: a daemon has several, and the system caches the file too.

The keys of many new runs lie all over a large file.
"""
_PRIMARY_CODE = 0xFF
_OF_THE_DISK = frozenset(
    (
        *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN),
        *(sqlite3.SQLITE_READONLY, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_PROTOCOL),
    )
)
"""What is wrong with the disk, not with a statement."""
_OF_THE_FILE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
AFRESH = "move it away to start afresh"
"""What a person can do about a damaged file that no copy is kept of."""
_EMPTY_S = 5.0
"""For so long a file may be empty that another process is about to fill."""
_BESIDE = ("-wal", "-shm", "-journal")
_NETWORK_FILE_SYSTEMS = {"nfs", "nfs4", "lustre", "cifs", "beegfs", "gpfs", "ceph", "fuse.sshfs"}


class Database:
    """Opens the file, brings it up to date, and runs statements in transactions.

    `mend` is what to do where it turns out to be damaged.
    """

    _mend = AFRESH

    def __init__(
        self, path: Path, migrations: Sequence[Sequence[str]], *, mend: str = AFRESH
    ) -> None:
        self._path = path
        self._lock = threading.RLock()
        self._mend = mend
        try:
            if path.is_dir():
                raise BadInput(
                    f"{path} cannot be opened (it is a directory); "
                    "set SCHEDMATE_STATE_DIR to another directory"
                )
            if _stays_empty(path):
                raise self._damaged("it is empty")
            _keep_private(path)
            self._connection = sqlite3.connect(
                path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
            )
            # a store that was not closed leaves no connection behind
            weakref.finalize(self, self._connection.close)
            self._prepare()
            self._migrate(migrations)
        except PermissionError as error:
            raise BadInput(
                f"{path} cannot be opened (permission denied); may you write there? "
                "Else set SCHEDMATE_STATE_DIR to a directory of your own"
            ) from error
        except sqlite3.OperationalError as error:
            raise BadInput(
                f"{path} cannot be opened ({error}); is there space, and may you write there?"
            ) from error
        except sqlite3.DatabaseError as error:
            raise self._damaged(str(error)) from error

    def check_integrity(self) -> None:
        """UnusableStore where the file is damaged; looks at all of it."""
        with self._in_words():
            verdict = self._connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise self._damaged(" ".join(str(verdict).replace("*", " ").split()))

    def _damaged(self, how: str) -> UnusableStore:
        return UnusableStore(f"{self._path} is damaged ({how}); {self._mend}")

    def _prepare(self) -> None:
        # the write-ahead log lives in shared memory, which network file systems do not share
        journal = "DELETE" if _on_network(self._path) else "WAL"
        _insist(self._connection, f"PRAGMA journal_mode = {journal}")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute(f"PRAGMA cache_size = -{_CACHE_KB}")

    def _migrate(self, migrations: Sequence[Sequence[str]]) -> None:
        with self._all_or_nothing():
            version = self._connection.execute("PRAGMA user_version").fetchone()[0]
            if version > len(migrations):
                raise BadInput(
                    f"{self._path} was made by a newer SchedMate (format {version}, "
                    f"this one knows {len(migrations)}); upgrade SchedMate, or go back to the copy "
                    "from before its upgrade: schedmate store restore"
                )
            if 0 < version < len(migrations):
                keep_backup(self._path, version)
            for number, statements in enumerate(migrations[version:], start=version + 1):
                for statement in statements:
                    self._connection.execute(statement)
                self._connection.execute(f"PRAGMA user_version = {number}")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; takes the write lock at once, so that what was read stays true.

        Within another one it is part of that.
        """
        with self._in_words():
            if self._connection.in_transaction:  # of this thread: it holds the lock
                yield
                return
            with self._all_or_nothing():
                yield

    def run(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Execute one statement and return how many rows it changed."""
        with self._in_words():
            return self._execute(statement, values).rowcount

    def run_many(self, statement: str, values: Iterable[Sequence[Any]]) -> None:
        """Execute one statement for each of those."""
        with self._in_words():
            self._connection.executemany(statement, (tuple(map(storable, row)) for row in values))

    def put(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        """Whole rows, each in the place of the one with the same key; they get a new rowid."""
        every = iter(rows)
        first = next(every, None)
        if first is not None:
            places = ", ".join("?" * len(first))
            statement = f"INSERT OR REPLACE INTO {table} VALUES ({places})"  # noqa: S608 - our own
            self.run_many(statement, chain([first], every))

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._in_words():
            return self._execute(statement, values).fetchall()

    def batches(self, statement: str, size: int) -> Iterator[list[tuple[Any, ...]]]:
        """All rows, so many at once, in one pass; within a transaction."""
        with self._in_words():
            cursor = self._connection.execute(statement)
            while rows := cursor.fetchmany(size):
                yield rows

    def one(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """The first row, or None."""
        with self._in_words():
            return self._execute(statement, values).fetchone()

    def _execute(self, statement: str, values: Sequence[Any]) -> sqlite3.Cursor:
        try:
            return self._connection.execute(statement, values)
        except UnicodeEncodeError:
            return self._connection.execute(statement, tuple(map(storable, values)))

    def used_bytes(self) -> int:
        """Without space that is free for new rows."""
        pages, free, size = (
            int(self.one(f"PRAGMA {name}")[0])
            for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * size

    def tables(self) -> list[str]:
        rows = self.rows(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            " ORDER BY name"
        )
        return [name for (name,) in rows]

    def columns(self, table: str) -> list[str]:
        rows = self.rows("SELECT name FROM pragma_table_info(?) ORDER BY cid", (table,))
        return [name for (name,) in rows]

    def renumber(self) -> None:
        """SQLite numbers new rows behind those that are there."""

    def compact(self) -> None:
        """Give free space back to the disk."""
        self.run("VACUUM")
        self.run("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def large_cache(self) -> Iterator[None]:
        """For writing very many rows at once."""
        self.run(f"PRAGMA cache_size = -{_LARGE_CACHE_KB}")
        try:
            yield
        finally:
            self.run(f"PRAGMA cache_size = -{_CACHE_KB}")

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # a full disk has rolled it back already
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """One thread at a time; what SQLite has to complain of becomes a sentence."""
        with self._lock:
            try:
                yield
            except sqlite3.Error as error:
                if _code_of(error) in _OF_THE_FILE:
                    raise self._damaged(str(error)) from error
                kind = StoreUnavailable if _code_of(error) in _OF_THE_DISK else StoreError
                raise kind(f"the database {self._path} failed: {error}") from error

    def close(self) -> None:
        with self._lock:
            self._connection.close()


def storable(value: Any) -> Any:
    """Names of files may be of bytes that are no text: these are kept as U+FFFD."""
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _code_of(error: sqlite3.Error) -> int:
    # errors of Python's own module have none
    return int(getattr(error, "sqlite_errorcode", 0)) & _PRIMARY_CODE


def _stays_empty(path: Path) -> bool:
    """A file that was there and lost all it had: a new one in its place would know nothing of
    what was done."""
    until = time.monotonic() + _EMPTY_S
    while path.is_file() and path.stat().st_size == 0:
        if time.monotonic() > until:
            return True
        time.sleep(0.05)
    return False


def _keep_private(path: Path) -> None:
    """Make the file before SQLite does; what SQLite makes beside it takes its mode from it."""
    private_directory(path.parent)
    create_private(path)
    for beside in _BESIDE:
        tighten(path.with_name(path.name + beside))


def _insist(connection: sqlite3.Connection, statement: str) -> None:
    """Changing the journal is refused at once, not waited for, while others open the file."""
    deadline = time.monotonic() + _BUSY_S
    while True:
        try:
            connection.execute(statement)
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorcode & _PRIMARY_CODE == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _on_network(path: Path) -> bool:
    """Look up the file system of the mount point that `path` lies below."""
    try:
        mounts = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    resolved = path.parent.resolve()
    found = [
        (len(fields[1]), fields[2])
        for fields in (line.split(" ") for line in mounts.splitlines())
        if len(fields) > 2 and resolved.is_relative_to(fields[1])  # noqa: PLR2004 - fstab(5)
    ]
    return bool(found) and max(found)[1] in _NETWORK_FILE_SYSTEMS


class ReadOnlyDatabase(Database):
    """A file that this user may read and not write to.

    It must be of this very version: nothing can be brought up to date here.
    """

    def __init__(self, path: Path, *, version: int, mend: str = AFRESH) -> None:
        self._path = path
        self._lock = threading.RLock()
        self._mend = mend
        try:
            self._connection = _connection_for_reading(path)
            weakref.finalize(self, self._connection.close)
            found = self._connection.execute("PRAGMA user_version").fetchone()[0]
        except sqlite3.Error as error:
            if _code_of(error) in _OF_THE_FILE:
                raise self._damaged(str(error)) from error
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
