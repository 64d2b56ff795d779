"""Files that the code itself writes its log to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import calls_of, claim, is_of, text_of
from schedmate.advisor.settle.claim import Claim

_LOG = re.compile(
    r"(?:^|[/_.-])(?:log|logs|train_?log|training_?log|stats|stdout|history)\.(?:txt|log|jsonl|csv)$"
    r"|\.log$"
)
_KEPT = re.compile(r"\.(?:csv|log|txt|jsonl|tsv)$")
_HANDLERS = ("FileHandler", "RotatingFileHandler", "TimedRotatingFileHandler", "WatchedFileHandler")


def logging_to_files(reading: Reading) -> Iterator[Claim]:
    """`logging.FileHandler(path)`, `logging.basicConfig(filename=path)`, loguru's `add(path)`."""
    for call in calls_of(reading, *_HANDLERS, "basicConfig", "logger.add"):
        if not call.certain or not is_of(call.callee, "logging", "loguru"):
            continue
        place = None if call.callee.endswith("basicConfig") else 0
        path = call.argument("filename", place) or call.argument("sink")
        if text_of(path):
            yield from claim("log_files", path, call, confidence=0.85)
            return
    yield from (*_by_hand(reading), *_by_own_loggers(reading))


def _by_own_loggers(reading: Reading) -> Iterator[Claim]:
    """`CSVLogger(columns, "logs/fold0.csv")` of a class of the job's own."""
    for each in reading.trace.instances:
        if each.certain and each.of.name.endswith("Logger"):
            paths = (one for one in each.arguments.values() if _KEPT.search(text_of(one) or ""))
            yield from claim("log_files", next(paths, None), each, confidence=0.75)
            return


def _by_hand(reading: Reading) -> Iterator[Claim]:
    """`open(os.path.join(out, "log.txt"), "a")` by the process that writes for all."""
    for call in calls_of(reading, "open"):
        path, mode = call.argument("file", 0), text_of(call.argument("mode", 1)) or ""
        if call.certain and mode[:1] in ("a", "w") and _LOG.search(text_of(path) or ""):
            yield from claim("log_files", path, call, confidence=0.8)
            return
