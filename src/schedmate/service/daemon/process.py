"""How a process of many threads shares the interpreter and gives memory back."""

from __future__ import annotations

import ctypes
import gc
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_M_ARENA_MAX: Final = -8
_ARENAS: Final = 2
_TURN_S: Final = 0.0005
_TRIM_EVERY_S: Final = 5.0
"""Takes five milliseconds, without the interpreter."""
_COLLECT_EVERY_S: Final = 60.0
"""What lived shorter takes a millisecond or two; ..."""
_LOOKS_AT_ALL: Final = 10
"""... every so many times all else is looked at too, ten milliseconds for 60,000 objects."""
_NEW_OBJECTS: Final = 20_000
"""After so many the newest are collected: a page makes thousands, and hardly any in circles."""


def bound_arenas() -> None:
    """Let threads share two arenas; glibc would keep up to eight a core, each with its own holes.

    To be called before any thread begins. Other C libraries have no such setting.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, _ARENAS)


def take_short_turns() -> None:
    """Let a request go on after half a millisecond of what the daemon computes meanwhile.

    Each row that SQLite returns and each wait for the network hands the interpreter over; with the
    default of five milliseconds a page of a hundred rows waits half a second beside a busy thread.
    """
    sys.setswitchinterval(_TURN_S)


@contextmanager
def uncollected() -> Iterator[None]:
    """For a start: what it makes stays, and looking through it for garbage takes as long again.

    All that is there at the end is left out of later collections, which would stop every thread.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(_NEW_OBJECTS)
        gc.enable()


class MemoryTrim:
    """Collects garbage and gives memory that was freed back to the system, now and then.

    glibc keeps it otherwise. With so many new objects between two collections, a quiet daemon
    would keep connections that were closed, and code that was read, for an hour and more.
    """

    def __init__(self) -> None:
        self._trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        self._again_at = self._collect_at = 0.0
        self._collected = 0

    def consider(self) -> None:
        now = time.monotonic()
        if now >= self._collect_at:
            self._collect_at = now + _COLLECT_EVERY_S
            self._collected += 1
            gc.collect(1 if self._collected % _LOOKS_AT_ALL else 2)
        if self._trim is not None and now >= self._again_at:
            self._again_at = now + _TRIM_EVERY_S
            self._trim(0)
