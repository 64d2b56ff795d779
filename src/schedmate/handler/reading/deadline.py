"""Until when logs may be read, for callers that have others to look after."""

from __future__ import annotations

import time


class TakesLong(Exception):
    """The logs cannot be read in the time that was given."""


class Deadline:
    """Never over without a number of seconds."""

    def __init__(self, within_s: float | None = None) -> None:
        self._until = None if within_s is None else time.monotonic() + within_s

    def check(self) -> None:
        if self._until is not None and time.monotonic() > self._until:
            raise TakesLong
