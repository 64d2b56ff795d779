"""Reading a finished log once, from its beginning, plain or compressed, in bounded memory."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO

from schedmate.files import INVOKER, Reader
from schedmate.logs.decoding import unpacker_for
from schedmate.model import BadInput, NotFound, SchedMateError
from schedmate.tracker.tailing.backlog import HEAD, sample_last_lines, sample_lines
from schedmate.tracker.tailing.lines import LineCutter, lines_in

_CHUNK = 2 << 20


def open_log(path: Path, reader: Reader = INVOKER) -> BinaryIO:
    """Open a log for reading, or say in one sentence why it cannot be."""
    try:
        _check_kind(path, reader)
        return os.fdopen(reader.open(str(path)), "rb")
    except FileNotFoundError:
        raise NotFound(f"there is no log {path}") from None
    except PermissionError:
        whom = f"user {reader.user}" if reader.user else "this user"
        raise SchedMateError(f"the log {path} may not be read by {whom}") from None
    except (OSError, ValueError) as error:
        raise SchedMateError(f"the log {str(path)!r} cannot be read: {error}") from error


def _check_kind(path: Path, reader: Reader) -> None:
    """Opening a pipe may wait for ever, and a device may never end."""
    mode = reader.stat(str(path)).st_mode
    if stat.S_ISDIR(mode):
        raise BadInput(f"{path} is a directory; name the log files in it")
    if not stat.S_ISREG(mode):
        raise BadInput(f"{path} is no file; pipe it into `-` to have it read to its end")


def lines_of(stream: IO[bytes]) -> Iterator[list[bytes]]:
    """Yield the lines, piece by piece; a damaged archive ends where the damage begins.

    The head and the tail are read in full; between them only informative lines.
    """
    cutter, read = LineCutter(), 0
    held = b""
    for chunk in _chunks(stream):
        ended = cutter.cut(chunk)
        if read < HEAD:
            yield lines_in(ended)
        else:
            yield sample_lines(held, before=read - len(held))
            held = ended
        read += len(chunk)
    yield sample_last_lines(held, before=read - len(held))
    yield cutter.finish()


def _chunks(stream: IO[bytes]) -> Iterator[bytes]:
    chunk = stream.read(HEAD)
    unpacker = unpacker_for(chunk)
    while chunk:
        if unpacker is None:
            yield chunk
        else:
            yield from unpacker.feed(chunk)
        chunk = stream.read(_CHUNK)
