"""Locks between processes; the kernel lets go of them when their holder dies."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from schedmate.disk.private import make_directory, open_private

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from io import TextIOWrapper
    from pathlib import Path

_SIGNED_WITHIN_S = 5.0
_LOOK_AGAIN_S = 0.02


@contextmanager
def locked(path: Path, left: Callable[[], float] | None = None) -> Iterator[None]:
    """Hold the lock; wait for it, but only while `left` says that there is time."""
    descriptor = open_lock(path)
    try:
        if left is None:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        else:
            while not _take(descriptor):
                time.sleep(min(_LOOK_AGAIN_S, left()))
        yield
    finally:
        os.close(descriptor)


@contextmanager
def lock_if_free(path: Path) -> Iterator[bool]:
    """Hold the lock where it is free; return whether it is held."""
    descriptor = open_lock(path)
    try:
        yield _take(descriptor)
    finally:
        os.close(descriptor)


def hold(path: Path) -> TextIOWrapper | None:
    """Take the lock, None when it is taken. Closing lets go, unless a child holds it on."""
    descriptor = open_lock(path)
    if not _take(descriptor):
        os.close(descriptor)
        return None
    os.truncate(descriptor, 0)  # the name of an earlier holder is stale
    return os.fdopen(descriptor, "a", encoding="ascii")


def sign(lock: TextIOWrapper) -> None:
    """Write the holder into the lock."""
    lock.truncate(0)
    lock.write(str(os.getpid()))
    lock.flush()


def is_held(path: Path) -> bool:
    """Whether a living process holds the lock."""
    if not path.exists():
        return False
    descriptor = open_lock(path)
    try:
        return not _take(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def lock_holder(path: Path) -> int | None:
    """The process that holds the lock, as it wrote itself into it; None when it is free."""
    deadline = time.monotonic() + _SIGNED_WITHIN_S
    while is_held(path) and time.monotonic() < deadline:
        text = path.read_text("ascii")
        if text:
            return int(text)
        time.sleep(_LOOK_AGAIN_S)  # it has only just begun
    return None


def open_lock(path: Path) -> int:
    make_directory(path.parent)
    return open_private(path, os.O_RDWR)


def _take(descriptor: int, kind: int = fcntl.LOCK_EX) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
