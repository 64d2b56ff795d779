"""Where the daemon's own log goes: stderr, which a journal rotates, or a bounded file."""

from __future__ import annotations

import logging
import os
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from schedmate.disk.private import open_private

_LONGEST_FILE = 10 * 2**20
_KEPT_FILES = 3
_LINE = "%(name)s %(message)s"


class LogFile(RotatingFileHandler):
    """For its owner only, begun anew when it is long, reopened after something else moved it."""

    def __init__(self, path: Path, *, longest: int = _LONGEST_FILE) -> None:
        super().__init__(path, maxBytes=longest, backupCount=_KEPT_FILES, encoding="utf-8")

    def _open(self) -> TextIOWrapper:
        descriptor = open_private(Path(self.baseFilename), os.O_WRONLY | os.O_APPEND)
        return os.fdopen(descriptor, "a", encoding="utf-8")

    def reopen(self) -> None:
        self.acquire()
        try:
            if self.stream is not None:
                self.stream.close()
            self.stream = self._open()
        finally:
            self.release()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - of the library
        """A full disk loses lines of the log, and is no reason for tracebacks about it."""


def begin_logging(path: Path | None) -> None:
    """To this file, else to stderr; a journal has times of its own."""
    handler: logging.Handler = logging.StreamHandler() if path is None else LogFile(path)
    dated = path is not None or "JOURNAL_STREAM" not in os.environ
    handler.setFormatter(logging.Formatter(f"%(asctime)s {_LINE}" if dated else _LINE))
    logging.basicConfig(level=logging.INFO, handlers=[handler])


def reopen_logs() -> None:
    for handler in logging.getLogger().handlers:
        if isinstance(handler, LogFile):
            handler.reopen()
