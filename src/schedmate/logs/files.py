"""The log files of one job, and their bytes as far as they went when opened."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Final

from schedmate.files import INVOKER, Reader, entries, is_file, mode_of
from schedmate.model import BadInput, NotFound

_LOG_NAME = re.compile(
    r"\.(?:log|out|err|txt|stdout|stderr|[oe]\d{1,12})(?:\.\d{1,4})?$|^(?:stdout|stderr|log)\b",
    re.IGNORECASE,
)
_MAX_LOGS = 10_000
_MAX_FILES = 100_000


def logs_at(path: Path, reader: Reader = INVOKER) -> tuple[Path, ...]:
    """The file itself, or every log below a directory in the order of its ranks."""
    mode = mode_of(reader, str(path))
    if not mode:
        raise NotFound(f"no such log: {path}")
    if not stat.S_ISDIR(mode):
        return (path,)
    found = sorted(_logs_below(path, reader), key=_natural)
    if not found:
        raise NotFound(f"no log in {path}: looked for *.log, *.out, *.err, *.txt, stdout, stderr")
    return tuple(found[:_MAX_LOGS])


def _logs_below(top: Path, reader: Reader) -> Iterator[Path]:
    """All of them, as long as it can be the directory of one job; links to others are left."""
    seen, waiting = 0, [str(top)]
    while waiting:
        place = waiting.pop()
        try:
            found = entries(reader, place, _MAX_FILES + 1)
        except OSError:
            continue
        seen += len(found)
        if seen > _MAX_FILES:
            raise BadInput(
                f"{top} has more than {_MAX_FILES:,} files below it: name the directory of one job"
            )
        waiting += [f"{place}/{entry.name}" for entry in found if entry.kind == "directory"]
        for entry in found:
            if _LOG_NAME.search(entry.name) and is_file(reader, place, entry):
                yield Path(place, entry.name)


def _natural(path: Path) -> list[tuple[int, str]]:
    """`rank_2` before `rank_10`."""
    parts = re.findall(r"\d{1,18}|\D{1,200}", str(path))
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def open_regular(path: Path, reader: Reader = INVOKER) -> FileIO:
    """Open a file, unbuffered; an OSError where it cannot be, or is no regular file."""
    return FileIO(reader.open(str(path)), closefd=True)


CHUNK_BYTES: Final = 1 << 19
_LINE_BYTES: Final = 1 << 16
_NULS: Final = bytes(CHUNK_BYTES)


def chunks_of(stream: FileIO) -> Iterator[bytes]:
    """Half a megabyte at a time; a file that grows faster than it is read has an end all the same.

    The line that was being written is read as far as it goes. Holes are left out.
    """
    size, at, last = os.fstat(stream.fileno()).st_size, 0, b"\n"
    while at < size and (chunk := stream.read(min(CHUNK_BYTES, size - at))):
        at += len(chunk)
        if chunk == _NULS:
            at = _next_data(stream, at, size)
        else:
            last = chunk[-1:]
            yield chunk
    if last != b"\n":
        line, feed, _ = stream.read(_LINE_BYTES).partition(b"\n")
        yield line + feed


def pieces_of(content: bytes) -> Iterator[bytes]:
    """Of a log that is in memory already."""
    return (content[at : at + CHUNK_BYTES] for at in range(0, len(content), CHUNK_BYTES))


def _next_data(stream: FileIO, at: int, size: int) -> int:
    try:
        return stream.seek(at, os.SEEK_DATA)
    except OSError as error:
        return size if error.errno == errno.ENXIO else at
