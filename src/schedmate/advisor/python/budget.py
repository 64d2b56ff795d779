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
    seconds: float = 0.9
    """Of the processor: what is read must not depend on how busy the machine is."""
    wall_seconds: float = 3.0
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
        self._cpu = time.thread_time() + limits.seconds
        self._clock = time.monotonic() + limits.wall_seconds

    def tick(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise Exhausted
        if self._left % _CLOCK_EVERY == 0 and self.late:
            raise Exhausted

    def allow(self, steps: int) -> None:
        self._left = steps

    @property
    def late(self) -> bool:
        return time.thread_time() > self._cpu or time.monotonic() > self._clock
