"""What tests of followed logs share."""

from __future__ import annotations

from pathlib import Path

from schedmate.model.wire import dumps, loads
from schedmate.tracker.tailing.tailer import LogFollower, LogPosition


def news(follower: LogFollower) -> list[bytes]:
    return [line for lines in follower.look() for line in lines]


def append(log: Path, data: bytes) -> None:
    with log.open("ab") as file:
        file.write(data)


def restarted(follower: LogFollower) -> LogFollower:
    """Another follower that goes on from what was kept of this one."""
    kept = loads(LogPosition, dumps(follower.position))
    assert kept == follower.position
    return LogFollower(follower.path, kept)
