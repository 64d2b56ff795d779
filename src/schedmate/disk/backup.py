"""Copies of a database: before it is brought to a newer format, on demand, and the way back."""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from schedmate.disk.private import create_private
from schedmate.model import BadInput, NotFound

if TYPE_CHECKING:
    from pathlib import Path

_KEPT = 2
"""Copies of earlier formats that are kept."""
_BESIDE = ("-wal", "-shm", "-journal")
_REPLACED = ".replaced"


def keep_backup(database: Path, version: int) -> Path:
    """A copy of a database that is about to leave this format; the oldest ones go."""
    copy = copy_to(database, database.with_name(f"{database.name}.format-{version}"))
    for old in backups_of(database)[_KEPT:]:
        old.unlink()
    return copy


def backups_of(database: Path) -> list[Path]:
    """Copies that were made before an upgrade, that of the newest format first."""
    name = re.compile(rf"{re.escape(database.name)}\.format-(\d+)")
    found = ((name.fullmatch(path.name), path) for path in database.parent.iterdir())
    known = [(int(match[1]), path) for match, path in found if match is not None]
    return [path for _, path in sorted(known, reverse=True)]


def copy_to(database: Path, target: Path) -> Path:
    """A consistent copy of a database that may be in use; all of it or none."""
    unfinished = target.with_name(f"{target.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    create_private(unfinished)
    try:
        with (
            closing(_for_reading(database)) as source,
            closing(sqlite3.connect(unfinished)) as made,
        ):
            source.backup(made)
        _flush(unfinished)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    return target


def restore(database: Path, source: Path, *, newest: int) -> Path | None:
    """Put a copy in the place of a database that is not in use.

    What was there is kept beside it; returns where, None where there was nothing.
    """
    version = format_of(source)
    if not 0 < version <= newest:
        raise BadInput(f"{source} has format {version}, this SchedMate reads 1 to {newest}")
    arriving = copy_to(source, database.with_name(f"{database.name}.restored"))
    replaced = database.with_name(database.name + _REPLACED)
    was_there = database.exists()
    for end in ("", *_BESIDE):
        replaced.with_name(replaced.name + end).unlink(missing_ok=True)
        there = database.with_name(database.name + end)
        if there.exists():
            there.replace(replaced.with_name(replaced.name + end))
    arriving.replace(database)
    return replaced if was_there else None


def format_of(database: Path) -> int:
    """The number of the last step that brought it to its tables; BadInput where it is damaged."""
    if not database.is_file():
        raise NotFound(f"there is no file {database}")
    try:
        with closing(_for_reading(database)) as opened:
            (verdict,) = opened.execute("PRAGMA quick_check(1)").fetchone()
            version = int(opened.execute("PRAGMA user_version").fetchone()[0])
    except sqlite3.Error as error:
        raise BadInput(f"{database} is damaged ({error})") from error
    if verdict != "ok":
        raise BadInput(f"{database} is damaged ({verdict})")
    return version


def _for_reading(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)


def _flush(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
