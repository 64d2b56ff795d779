"""Reading a finished log once, from its beginning, plain or compressed, in bounded memory."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO

from schedmate.model import BadInput, NotFound, SchedMateError
from schedmate.tracker.follow import CHUNK
from schedmate.tracker.lines import LineCutter

_GZIP = b"\x1f\x8b"


def open_log(path: Path) -> BinaryIO:
    """Open a log for reading, or say in one sentence why it cannot be."""
    try:
        if path.is_dir():
            raise BadInput(f"{path} is a directory; name the log files in it")
        return path.open("rb")
    except FileNotFoundError:
        raise NotFound(f"there is no log {path}") from None
    except PermissionError:
        raise SchedMateError(f"the log {path} may not be read by this user") from None
    except (OSError, ValueError) as error:
        raise SchedMateError(f"the log {str(path)!r} cannot be read: {error}") from error


def is_compressed(stream: IO[bytes]) -> bool:
    """Whether a stream, at its beginning, is a gzip archive that can be read from there."""
    if not stream.seekable():
        return False
    start = stream.read(len(_GZIP))
    stream.seek(0)
    return start == _GZIP


def lines_of(stream: IO[bytes]) -> Iterator[list[bytes]]:
    """Yield all lines, chunk by chunk; a damaged archive ends where the damage begins."""
    cutter = LineCutter()
    for chunk in _chunks(stream):
        yield cutter.feed(chunk)
    yield cutter.finish()


def _chunks(stream: IO[bytes]) -> Iterator[bytes]:
    if is_compressed(stream):
        yield from _unpacked(stream)
        return
    while chunk := stream.read(CHUNK):
        yield chunk


def _unpacked(stream: IO[bytes]) -> Iterator[bytes]:
    with gzip.open(stream) as unpacked:
        try:
            while chunk := unpacked.read1(CHUNK):
                yield chunk
        except (EOFError, OSError, zlib.error):
            return
