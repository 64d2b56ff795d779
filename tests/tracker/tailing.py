"""What tests of followed logs share."""

from __future__ import annotations

from pathlib import Path

from schedmate.model.wire import dumps, loads
from schedmate.tracker.tailing.tailer import LogPosition, LogTailer


def news(tailer: LogTailer) -> list[bytes]:
    return [line for lines in tailer.read_new() for line in lines]


def append(log: Path, data: bytes) -> None:
    with log.open("ab") as file:
        file.write(data)


def restarted(tailer: LogTailer) -> LogTailer:
    """Another tailer that goes on from what was kept of this one."""
    kept = loads(LogPosition, dumps(tailer.position))
    assert kept == tailer.position
    return LogTailer(tailer.path, kept)
