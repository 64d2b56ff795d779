"""Where the rest of a log is after it was rotated: under another name, or in a copy."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice

_MOST_ENTRIES = 20_000
_NUMBERED = re.compile(r"[.\-_]\d[\d.\-_:T]{0,40}")


def by_inode(path: str, inode: int) -> str | None:
    """The file of the same directory that was at `path` before it was renamed."""
    for entry in _beside(path):
        if entry.inode() == inode and entry.is_file():
            return entry.path
    return None


def copies(path: str, *, since_ns: int) -> list[str]:
    """Rotated copies that were written since then, the newest first."""
    found = [(at, copy) for at, copy in _numbered(path) if at >= since_ns]
    return [copy for _, copy in sorted(found, reverse=True)]


def successor(path: str, *, of: str) -> str | None:
    """The rotated file that was written next after one of them.

    Of two written in the same moment the one with the higher number is the older.
    """
    by_number = sorted(_numbered(path), key=lambda found: found[1], reverse=True)
    chain = [name for _, name in sorted(by_number, key=lambda found: found[0])]
    after = chain.index(of) + 1 if of in chain else len(chain)
    return chain[after] if after < len(chain) else None


def is_rotated(path: str, name: str) -> bool:
    """Whether a name is the log's with a number or a date behind it."""
    log, other = os.path.basename(path), os.path.basename(name)  # noqa: PTH119 - str is faster
    return other.startswith(log) and _NUMBERED.fullmatch(other, len(log)) is not None


def _numbered(path: str) -> Iterator[tuple[int, str]]:
    for entry in _beside(path):
        if is_rotated(path, entry.name) and entry.is_file():
            yield entry.stat().st_mtime_ns, entry.path


def _beside(path: str) -> Iterator[os.DirEntry[str]]:
    directory = os.path.dirname(path) or "."  # noqa: PTH120 - what scandir takes and gives is str
    with os.scandir(directory) as entries:
        yield from islice(entries, _MOST_ENTRIES)
