"""A pipe in the state directory by which clients and runs wake the daemon."""

from __future__ import annotations

import os
import select
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_MOST_READ = 65_536


def wake(path: Path) -> None:
    """Where nobody listens, or it is full, there is nothing to add."""
    with suppress(OSError):
        pipe = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            os.write(pipe, b"c")
        finally:
            os.close(pipe)


class WakeUp:
    """The daemon's end. A daemon that is killed leaves its pipe behind, one that goes does not."""

    def __init__(self, path: Path) -> None:
        self._path = path
        if path.exists() and not stat.S_ISFIFO(path.stat().st_mode):
            path.unlink()
        with suppress(FileExistsError):
            os.mkfifo(path, 0o600)
        # for writing, too: it would be at its end whenever no client has it open
        self._pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)

    def wait(self, seconds: float) -> None:
        """Until somebody calls, or for so long."""
        select.select([self._pipe], [], [], max(0.0, seconds))
        with suppress(BlockingIOError):
            os.read(self._pipe, _MOST_READ)

    def close(self) -> None:
        with suppress(OSError):
            self._path.unlink()
        os.close(self._pipe)
