"""Advisory locks between processes; the kernel lets go of them when a process dies."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from schedmate.llm.deadline import Deadline

_LOOK_AGAIN_S = 0.02


@contextmanager
def locked(path: Path, deadline: Deadline | None = None) -> Iterator[None]:
    """Hold the lock; wait for it, but not past the deadline."""
    descriptor = open_lock(path)
    try:
        if deadline is None:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        else:
            while not take(descriptor):
                time.sleep(min(_LOOK_AGAIN_S, deadline.left()))
        yield
    finally:
        os.close(descriptor)


@contextmanager
def lock_if_free(path: Path) -> Iterator[bool]:
    """Hold the lock where nobody has it; says whether it is held."""
    descriptor = open_lock(path)
    try:
        yield take(descriptor)
    finally:
        os.close(descriptor)


def is_held(path: Path) -> bool:
    """Whether a living process holds the lock."""
    if not path.exists():
        return False
    descriptor = open_lock(path)
    try:
        return not take(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def open_lock(path: Path) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def take(descriptor: int, kind: int = fcntl.LOCK_EX) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
