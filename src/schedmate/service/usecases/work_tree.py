"""Whether git shows that files are as they were: a checkout writes them anew, content unchanged.

Git itself is not started: a repository's configuration can make it run programs.
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schedmate.files import Reader

_MOST_BYTES = 16 << 20
_MOST_PARENTS = 30
_MOST_FILES = 3000
_HEADER = struct.Struct(">4sII")
_FIXED = 62
_EXTENDED = 0x4000
_READABLE = (2, 3)
"""Versions of the index; in the fourth, names are compressed."""
_MOVE = re.compile(rb"^[0-9a-f]{40} ([0-9a-f]{40}) .*?> (\d{1,12}) [+-]\d{4}(?:\t|$)", re.MULTILINE)
"""A line of the log of HEAD: from where, to where, by whom, when."""


@dataclass(frozen=True, slots=True)
class WorkTree:
    """A work tree at a commit; `written_at` is of the newest file that differs from the index."""

    written_at: float
    periods: tuple[tuple[float, float], ...]
    """When HEAD was at the commit at which it is now."""

    def was_checked_out(self, at: float) -> bool:
        return any(start <= at < end for start, end in self.periods)


def work_tree(reader: Reader, directory: Path, written: Mapping[Path, float]) -> WorkTree | None:
    """The tree around the directory; None where there is none, or none that can be read."""
    root = _root(reader, directory)
    if root is None or len(written) > _MOST_FILES:
        return None
    try:
        periods = _periods(_bytes(reader, f"{root}/.git/logs/HEAD"))
        blobs = _index(_bytes(reader, f"{root}/.git/index"))
    except (OSError, ValueError, struct.error):
        return None
    differing = (
        at for path, at in written.items() if not _is_as_in(reader, blobs, root, str(path))
    )
    return WorkTree(max(differing, default=0.0), periods)


def _root(reader: Reader, directory: Path) -> str | None:
    for place in (directory, *directory.parents[:_MOST_PARENTS]):
        with suppress(OSError):
            reader.stat(str(place / ".git/HEAD"))
            return str(place)
    return None


def _bytes(reader: Reader, path: str) -> bytes:
    with open(reader.open(path), "rb") as file:  # noqa: PTH123 - by descriptor
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise ValueError(f"{path} is too large")
    return data


def _periods(log: bytes) -> tuple[tuple[float, float], ...]:
    moves = [(commit, float(at)) for commit, at in _MOVE.findall(log)]
    ends = [at for _, at in moves[1:]] + [float("inf")]
    return tuple(
        (at, end) for (commit, at), end in zip(moves, ends, strict=True) if commit == moves[-1][0]
    )


def _index(data: bytes) -> dict[str, str]:
    """The hashes of the files that git tracks, by name."""
    magic, version, count = _HEADER.unpack_from(data)
    if magic != b"DIRC" or version not in _READABLE:
        raise ValueError("no index that can be read")
    found: dict[str, str] = {}
    at = _HEADER.size
    for _ in range(count):
        (flags,) = struct.unpack_from(">H", data, at + _FIXED - 2)
        begin = at + _FIXED + (2 if flags & _EXTENDED else 0)
        end = data.index(b"\0", begin)
        found[os.fsdecode(data[begin:end])] = data[at + 40 : at + 60].hex()
        at += (end - at + 8) // 8 * 8
    return found


def _is_as_in(reader: Reader, blobs: Mapping[str, str], root: str, path: str) -> bool:
    blob = blobs.get(os.path.relpath(path, root))
    if blob is None:
        return False
    try:
        data = _bytes(reader, path)
    except (OSError, ValueError):
        return False
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest() == blob  # noqa: S324 - git's
