"""A lock file that says a daemon is alive; the lock goes with the process that holds it."""

from __future__ import annotations

import fcntl
import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from io import TextIOWrapper
    from pathlib import Path

_SIGNED_WITHIN_S = 5.0


def hold(path: Path) -> TextIOWrapper | None:
    """Take the lock, None when somebody has it. Closing lets go, unless a child holds it on."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("a", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    file.truncate(0)  # the name of an earlier holder says nothing any more
    return file


def lock_holder(path: Path) -> int | None:
    """The process that holds the lock, as it wrote itself into it; None when nobody does."""
    deadline = time.monotonic() + _SIGNED_WITHIN_S
    while time.monotonic() < deadline:
        free = hold(path)
        if free is not None:
            free.close()
            return None
        text = path.read_text("ascii")
        if text:
            return int(text)
        time.sleep(0.05)  # it has only just begun
    return None


def sign(lock: TextIOWrapper) -> None:
    """Write down who holds the lock."""
    lock.truncate(0)
    lock.write(str(os.getpid()))
    lock.flush()
