"""How much reading a job may cost."""

from __future__ import annotations

import time
from dataclasses import dataclass

_CLOCK_EVERY = 512


class Exhausted(Exception):
    """The budget ran out before the code did."""


class JobRaises(Exception):
    """The job's own code would raise here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    steps: int = 240_000
    afterwards: int = 40_000
    """Steps for the code that nobody is seen to call."""
    seconds: float = 2.0
    call_depth: int = 40
    calls_of_one: int = 20
    recursion: int = 3
    """How often a function is followed inside itself."""
    files: int = 400
    total_bytes: int = 8_000_000
    records: int = 40_000


class Budget:
    """Counts steps, and looks at the clock now and then."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._left = limits.steps
        self._deadline = time.monotonic() + limits.seconds

    def tick(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise Exhausted
        if self._left % _CLOCK_EVERY == 0 and time.monotonic() > self._deadline:
            raise Exhausted

    def allow(self, steps: int) -> None:
        self._left = steps

    @property
    def late(self) -> bool:
        return time.monotonic() > self._deadline
