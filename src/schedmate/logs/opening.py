"""Opening a log without being held up: a pipe waits for its writer, a device may never end."""

from __future__ import annotations

from io import FileIO
from pathlib import Path

from schedmate.files import INVOKER, Reader


def open_regular(path: Path, reader: Reader = INVOKER) -> FileIO:
    """Open a file, unbuffered; an OSError where it cannot be, or is no regular file."""
    return FileIO(reader.open(str(path)), closefd=True)
