"""Where the rest of a log is after it was rotated: under another name, or in a copy."""

from __future__ import annotations

import os
from collections.abc import Iterator

from schedmate.files import DirectoryEntry, Reader, entries, is_file
from schedmate.logs.lazy_patterns import lazy_pattern

_MAX_ENTRIES = 20_000
_NUMBERED = lazy_pattern(r"[.\-_]\d[\d.\-_:T]{0,40}")


def by_inode(path: str, reader: Reader, inode: int) -> str | None:
    """The file of the same directory that was at `path` before it was renamed."""
    directory = _directory(path)
    for entry in _beside(directory, reader):
        if entry.inode == inode and is_file(reader, directory, entry):
            return os.path.join(directory, entry.name)  # noqa: PTH118 - names here are str
    return None


def copies(path: str, reader: Reader, *, since_ns: int) -> list[str]:
    """Rotated copies that were written since then, the newest first."""
    found = [(at, copy) for at, copy in _numbered(path, reader) if at >= since_ns]
    return [copy for _, copy in sorted(found, reverse=True)]


def successor(path: str, reader: Reader, *, of: str) -> str | None:
    """The rotated file that was written next after one of them.

    Of two written in the same moment the one with the higher number is the older.
    """
    by_number = sorted(_numbered(path, reader), key=lambda found: found[1], reverse=True)
    chain = [name for _, name in sorted(by_number, key=lambda found: found[0])]
    after = chain.index(of) + 1 if of in chain else len(chain)
    return chain[after] if after < len(chain) else None


def is_rotated(path: str, name: str) -> bool:
    """Whether a name is the log's with a number or a date behind it."""
    log, other = os.path.basename(path), os.path.basename(name)  # noqa: PTH119 - str is faster
    return other.startswith(log) and _NUMBERED.fullmatch(other, len(log)) is not None


def _numbered(path: str, reader: Reader) -> Iterator[tuple[int, str]]:
    directory = _directory(path)
    for entry in _beside(directory, reader):
        if is_rotated(path, entry.name) and is_file(reader, directory, entry):
            name = os.path.join(directory, entry.name)  # noqa: PTH118 - names here are str
            yield reader.stat(name).st_mtime_ns, name


def _directory(path: str) -> str:
    return os.path.dirname(path) or "."  # noqa: PTH120 - names here are str


def _beside(directory: str, reader: Reader) -> list[DirectoryEntry]:
    """None where a directory may be entered, but not listed."""
    try:
        return entries(reader, directory, _MAX_ENTRIES)
    except OSError:
        return []
