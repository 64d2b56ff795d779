"""The bytes of a log from its beginning to where it ended when it was opened."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from io import FileIO
from typing import Final

CHUNK_BYTES: Final = 1 << 19
_LINE_BYTES: Final = 1 << 16
_NULS: Final = bytes(CHUNK_BYTES)


def chunks_of(stream: FileIO) -> Iterator[bytes]:
    """Half a megabyte at a time; who writes faster than we read is not followed for ever.

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
