"""Files that the code itself writes its log to."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.idioms.base import Reading, Said
from schedmate.advisor.idioms.calls import calls_of, is_of, said, text_of

_HANDLERS = ("FileHandler", "RotatingFileHandler", "TimedRotatingFileHandler", "WatchedFileHandler")


def logging_to_files(reading: Reading) -> Iterator[Said]:
    """`logging.FileHandler(path)`, `logging.basicConfig(filename=path)`, loguru's `add(path)`."""
    for call in calls_of(reading, *_HANDLERS, "basicConfig", "logger.add"):
        if not call.certain or not is_of(call.callee, "logging", "loguru"):
            continue
        place = None if call.callee.endswith("basicConfig") else 0
        path = call.argument("filename", place) or call.argument("sink")
        if text_of(path):
            yield from said("log_files", path, call, confidence=0.85)
            return
