"""Copies of the store, the way back to one, and what it holds."""

from __future__ import annotations

import re
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedmate.disk.backup import backups_of, copy_to, format_of, restore
from schedmate.disk.lock import hold
from schedmate.model import BadInput, NotFound, UnusableStore
from schedmate.service.usecases.audit import record_act
from schedmate.service.wiring import (
    move_store,
    open_any_store,
    open_store,
    store_format,
    store_name,
)
from schedmate.store import MEND

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from schedmate.config import Settings
    from schedmate.store import Moved, OnTable

_CLUSTER = re.compile(r"[A-Za-z0-9][\w.-]{0,39}")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreState:
    path: str
    format: int
    """The number of the last step that brought it to its tables."""
    bytes: int
    rows: dict[str, int]
    backups: tuple[str, ...]
    cluster: str = ""
    """Whose jobs it holds, where the scheduler in use has clusters."""


def store_state(settings: Settings) -> StoreState:
    """What is in it, without bringing it to another format."""
    if settings.store_url:
        return _state_in_postgres(settings)
    path = settings.database
    try:
        version = format_of(path)
    except BadInput as error:
        raise UnusableStore(f"{error}; {MEND}") from error
    rows: dict[str, int] = {}
    cluster = None
    if version in (0, store_format(settings)):
        with closing(open_any_store(settings)) as store:
            rows, cluster = store.sizes(), store.cluster()
    return StoreState(
        cluster=cluster or "",
        path=str(path),
        format=version,
        bytes=path.stat().st_size,
        rows=rows,
        backups=tuple(str(one) for one in backups_of(path)),
    )


def _state_in_postgres(settings: Settings) -> StoreState:
    with closing(open_any_store(settings)) as store:
        return StoreState(
            cluster=store.cluster() or "",
            path=store_name(settings),
            format=store_format(settings),
            bytes=store.used_bytes(),
            rows=store.sizes(),
            backups=(),
        )


def move(settings: Settings, url: str, on_table: OnTable) -> Moved:
    """Copy the store in its file to a PostgreSQL database; the file stays."""
    _in_a_file(settings, "it is in PostgreSQL already")
    if not settings.database.is_file():
        raise NotFound(f"there is no store {settings.database}")
    with _no_daemon(settings):
        return move_store(settings, url, on_table)


def _in_a_file(settings: Settings, instead: str) -> None:
    if settings.store_url:
        raise BadInput(f"the store is no file: {instead}")


def back_up(settings: Settings, target: Path | None) -> Path:
    """A copy of the store as it is now; a daemon may go on."""
    _in_a_file(settings, "copy it with pg_dump --schema=schedmate")
    database = settings.database
    if not database.is_file():
        raise NotFound(f"there is no store {database}")
    if target is None:
        stamp = time.strftime("%Y-%m-%d-%H%M%S")
        target = database.with_name(f"{database.name}.backup-{stamp}")
    if target.exists():
        raise BadInput(f"{target} is there already; name another file")
    return copy_to(database, target)


def go_back(settings: Settings, source: Path | None) -> tuple[Path, Path | None]:
    """Put a copy in the store's place; returns it, and where the present store is kept."""
    _in_a_file(settings, "restore it with pg_restore")
    database = settings.database
    if source is None:
        usable = [one for one in backups_of(database) if format_of(one) <= store_format(settings)]
        if not usable:
            raise NotFound(f"no copy from before an upgrade is beside {database}; name a file")
        source = usable[0]
    with _no_daemon(settings):
        return source, restore(database, source, newest=store_format(settings))


def pin(settings: Settings, cluster: str) -> str | None:
    """Let the store go on with the jobs of this cluster; returns whose it held until now."""
    if not _CLUSTER.fullmatch(cluster):
        raise BadInput(f"{cluster!r} is no name of a cluster; see scontrol show config")
    with _no_daemon(settings), closing(open_any_store(settings)) as store:
        before = store.cluster()
        store.pin(cluster)
        record_act(store, "pin", f"cluster {cluster}", f"was {before}" if before else "")
    return before


def compact(settings: Settings) -> tuple[int, int]:
    """Give free space back to the disk; returns the bytes before and after."""
    before = _bytes(settings)
    with _no_daemon(settings), closing(open_store(settings)) as store:
        store.compact()
    return before, _bytes(settings)


def _bytes(settings: Settings) -> int:
    if settings.store_url:
        return store_state(settings).bytes
    return settings.database.stat().st_size if settings.database.is_file() else 0


@contextmanager
def _no_daemon(settings: Settings) -> Iterator[None]:
    lock = hold(settings.daemon_lock)
    if lock is None:
        raise BadInput(f"a daemon is serving {settings.state_dir}; stop it first")
    with lock:
        yield
