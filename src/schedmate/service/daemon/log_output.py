"""Where the daemon's own log goes: stderr, which a journal rotates, or a bounded file.

A line for people, or a JSON object; in both no secret, and nothing of a log or a name that could
move the cursor or begin a line of its own.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from datetime import UTC, datetime
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Final, Literal

from schedmate.disk.private import open_private
from schedmate.model.legible import legible
from schedmate.model.redaction import redact

_LONGEST_FILE = 10 * 2**20
_KEPT_FILES = 3
_LINE = "%(name)s %(message)s"
LogFormat = Literal["text", "json"]
FIELDS: Final = ("job", "node", "user", "action", "outcome", "channel")
"""What a line may be about, where its writer names it (`extra={"job": …}`)."""


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


class TextLines(logging.Formatter):
    """One line a record; a traceback follows in lines of its own."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - of the library
        return legible(redact(super().formatMessage(record)))

    def formatException(self, ei: object) -> str:  # noqa: N802 - of the library
        lines = super().formatException(ei).split("\n")  # type: ignore[arg-type] # as it is given
        return "\n".join(legible(redact(line)) for line in lines)


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, logger, event, and what it is about."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        fields: dict[str, object] = {
            "time": at.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": redact(record.getMessage()),
        }
        about = {name: getattr(record, name, None) for name in FIELDS}
        fields |= {name: redact(str(value)) for name, value in about.items() if value}
        if record.exc_info:
            fields["error"] = redact(self.formatException(record.exc_info))
        return json.dumps(fields)


def begin_logging(path: Path | None, form: LogFormat = "text") -> None:
    """To this file, else to stderr; a journal has times of its own."""
    handler: logging.Handler = logging.StreamHandler() if path is None else LogFile(path)
    dated = path is not None or "JOURNAL_STREAM" not in os.environ
    text = TextLines(f"%(asctime)s {_LINE}" if dated else _LINE)
    handler.setFormatter(JsonLines() if form == "json" else text)
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    if form == "json":
        _log_all_else()


def _log_all_else() -> None:
    """What Python itself would print on stderr becomes a line as well."""
    log = logging.getLogger("schedmate")
    logging.captureWarnings(capture=True)

    def in_a_thread(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            caught = (args.exc_type, args.exc_value, args.exc_traceback)
            log.error("a thread ended", exc_info=caught)

    threading.excepthook = in_a_thread
    sys.excepthook = lambda kind, value, trace: log.error("it ended", exc_info=(kind, value, trace))


def reopen_logs() -> None:
    for handler in logging.getLogger().handlers:
        if isinstance(handler, LogFile):
            handler.reopen()
