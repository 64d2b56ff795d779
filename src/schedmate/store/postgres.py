"""The store of a site that outgrows one file: a PostgreSQL database, named by its URL."""

from __future__ import annotations

import threading
import weakref
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from schedmate.disk.database import storable
from schedmate.model import BadInput, StoreError, StoreUnavailable
from schedmate.model.extras import needs
from schedmate.store.lease import check_lease
from schedmate.store.postgres_tables import POSTGRES_MIGRATIONS, without_password
from schedmate.store.tables import TableStore

try:
    import psycopg
except ImportError as missing:
    raise BadInput(needs("a store in PostgreSQL needs", "psycopg")) from missing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from schedmate.model import Action, ActionState
    from schedmate.store.sketches import Shown

_SCHEMA = "schedmate"
_PARAMETERS = {
    "application_name": "schedmate",
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "options": f"-c search_path={_SCHEMA},pg_catalog -c lock_timeout=30s -c statement_timeout=120s",
}
_SAMPLED_BYTES = 1 << 20
_ROW_HEAD = 28
"""Bytes of a row beside its values."""
_WRITERS = "SELECT pg_advisory_xact_lock(hashtext(?))"


class PostgresDatabase:
    """One connection, made again after it was lost. Fulfils `Database`."""

    def __init__(self, url: str, migrations: Sequence[Sequence[str]] = POSTGRES_MIGRATIONS) -> None:
        self._url = url
        self.name = without_password(url)
        self._lock = threading.RLock()
        self._tables: dict[str, str] = {}
        try:
            self._connection = self._connect()
            self._migrate(migrations)
        except psycopg.Error as error:
            raise BadInput(
                f"the store {self.name} cannot be opened ({_first_line(error)}); "
                "is the server up, and may this account use the database?"
            ) from error

    def _connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        made = psycopg.connect(self._url, autocommit=True, **_PARAMETERS)  # type: ignore[arg-type]
        weakref.finalize(self, made.close)
        return made

    def _migrate(self, migrations: Sequence[Sequence[str]]) -> None:
        if self._format() == len(migrations):  # who may only read can do no more than this
            return
        with self._connection.transaction():
            self.run(_WRITERS, (f"{_SCHEMA}.format",))
            version = self._format()  # another may have done it meanwhile
            if version > len(migrations):
                raise BadInput(
                    f"{self.name} was made by a newer SchedMate (format {version}, "
                    f"this one knows {len(migrations)}); upgrade SchedMate"
                )
            if version == 0:
                self._connection.execute(f"CREATE SCHEMA IF NOT EXISTS {_SCHEMA}")
                self._connection.execute("CREATE TABLE format (number INTEGER NOT NULL)")
                self._connection.execute("INSERT INTO format VALUES (0)")
            for statements in migrations[version:]:
                for statement in statements:
                    self._connection.execute(statement.encode())
            self.run("UPDATE format SET number = ?", (len(migrations),))

    def _format(self) -> int:
        if self.one("SELECT to_regclass(?)", (f"{_SCHEMA}.format",))[0] is None:
            return 0
        return int(self.one("SELECT number FROM format")[0])

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; one writer at a time, so that what was read stays true."""
        with self._in_words():
            if self._connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                yield  # part of this thread's transaction: it holds the lock
                return
            with self._connection.transaction():
                self.run(_WRITERS, (f"{_SCHEMA}.writers",))
                yield

    def run(self, statement: str, values: Sequence[Any] = ()) -> int:
        return self._execute(statement, values).rowcount

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._execute(statement, values).fetchall()

    def batches(self, statement: str, size: int) -> Iterator[list[tuple[Any, ...]]]:
        with self._in_words(), self._connection.cursor("batches") as cursor:
            cursor.execute(_translated(statement))
            while rows := cursor.fetchmany(size):
                yield rows

    def one(self, statement: str, values: Sequence[Any] = ()) -> Any:
        return self._execute(statement, values).fetchone()

    def run_many(self, statement: str, values: Iterable[Sequence[Any]]) -> None:
        with self._in_words(), self._connection.cursor() as cursor:
            cursor.executemany(_translated(statement), map(_storable, values))

    def put(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        if table not in self._tables:
            self._tables[table] = self._statement_for(table)
        with self.transaction():
            self.run_many(self._tables[table], rows)

    def used_bytes(self) -> int:
        """Of the rows that are there: files do not become smaller where rows are dropped.

        Of a large table some pages are looked at, empty ones too.
        """
        sizes = self.rows(
            "SELECT relname, pg_relation_size(oid), pg_table_size(oid), pg_indexes_size(oid)"
            " FROM pg_class WHERE relkind = 'r' AND relnamespace = ?::regnamespace",
            (_SCHEMA,),
        )
        return sum(self._used_by(*one) for one in sizes)

    def _used_by(self, table: str, pages_size: int, size: int, indexes: int) -> int:
        share = min(1.0, _SAMPLED_BYTES / max(1, pages_size))
        stored = (f"coalesce(pg_column_size({one}), 0)" for one in map(_quote, self.columns(table)))
        rows = self.one(
            f"SELECT coalesce(sum({_ROW_HEAD} + {' + '.join(stored)}), 0) FROM {table}"  # noqa: S608
            " TABLESAMPLE SYSTEM (?) REPEATABLE (1)",
            (100 * share,),
        )
        used = min(float(size), float(rows[0]) / share)
        return int(used + indexes * used / max(1, size))

    def check_integrity(self) -> None:
        """The server's own concern."""

    def compact(self) -> None:
        for table in self.tables():
            self.run(f'VACUUM (FULL, ANALYZE) "{table}"')

    def tables(self) -> list[str]:
        every = "SELECT tablename FROM pg_tables WHERE schemaname = ? ORDER BY tablename"
        return [name for (name,) in self.rows(every, (_SCHEMA,))]

    def columns(self, table: str) -> list[str]:
        rows = self.rows(
            "SELECT attname FROM pg_attribute WHERE attrelid = ?::regclass AND attnum > 0"
            " AND NOT attisdropped ORDER BY attnum",
            (table,),
        )
        return [name for (name,) in rows if name != "rowid"]

    def renumber(self) -> None:
        """Number new rows behind those that were copied with their numbers."""
        rows = self.rows(
            "SELECT table_name, column_name FROM information_schema.columns"
            " WHERE table_schema = ? AND is_identity = 'YES'",
            (_SCHEMA,),
        )
        for table, column in rows:
            newest = f'SELECT coalesce(max("{column}"), 0) + 1 FROM "{table}"'  # noqa: S608
            self.run(
                f"SELECT setval(pg_get_serial_sequence(?, ?), ({newest}), false)",
                (f"{_SCHEMA}.{table}", column),
            )

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _execute(self, statement: str, values: Sequence[Any]) -> psycopg.Cursor[tuple[Any, ...]]:
        """Values are quoted here: the server could not tell the type of a lone NULL."""
        with self._in_words():
            cursor = psycopg.ClientCursor(self._connection)
            return cursor.execute(_translated(statement), _storable(values))

    def _statement_for(self, table: str) -> str:
        """To put a whole row, by the columns and the key that the table has."""
        keys = {
            name
            for (name,) in self.rows(
                "SELECT attname FROM pg_index JOIN pg_attribute ON attrelid = indrelid"
                " AND attnum = ANY (indkey) WHERE indrelid = ?::regclass AND indisprimary",
                (table,),
            )
        }
        aged = self.rows(
            "SELECT 1 FROM pg_attribute WHERE attrelid = ?::regclass AND attname = 'rowid'",
            (table,),
        )
        given = self.columns(table)
        changed = [f'"{name}" = excluded."{name}"' for name in given if name not in keys]
        changed += ["rowid = DEFAULT"] if aged else []
        what = f"UPDATE SET {', '.join(changed)}" if changed else "NOTHING"
        places = ", ".join("?" * len(given))
        insert = f"INSERT INTO {table} ({_quoted(given)}) VALUES ({places})"  # noqa: S608
        return f"{insert} ON CONFLICT ({_quoted(sorted(keys))}) DO {what}"

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """One thread at a time; a lost connection is made again at the next call."""
        with self._lock:
            try:
                if self._connection.closed:
                    self._connection = self._connect()
                yield
            except psycopg.Error as error:
                lost = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
                kind = StoreUnavailable if lost else StoreError
                raise kind(f"the store {self.name} failed: {_first_line(error)}") from error


class PostgresStore(TableStore):
    """Of several daemons only the `holder` of the lease writes down what it is about to do."""

    def __init__(
        self,
        url: str,
        *,
        scheduler: str = "local",
        shown: Shown | None = None,
        holder: str | None = None,
    ) -> None:
        super().__init__(PostgresDatabase(url), scheduler=scheduler, shown=shown)
        self._holder = holder

    def intend(self, action: Action, *, at: float, state: ActionState = "intended") -> bool:
        if self._holder is None:
            return super().intend(action, at=at, state=state)
        with self.together():
            check_lease(self._db, self._scheduler, self._holder)
            return super().intend(action, at=at, state=state)


@cache
def _translated(statement: str) -> bytes:
    return statement.replace("%", "%%").replace("?", "%s").encode()


def _storable(values: Sequence[Any]) -> list[Any]:
    """PostgreSQL's texts hold no NUL."""
    return [
        storable(value).replace("\0", "\N{REPLACEMENT CHARACTER}")
        if isinstance(value, str)
        else value
        for value in values
    ]


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(map(_quote, names))


def _quote(name: str) -> str:
    return f'"{name}"'


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).strip().partition("\n")[0]
