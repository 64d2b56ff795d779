"""How much reading a job may cost."""

from __future__ import annotations

from dataclasses import dataclass

from schedmate.model.processor_budget import ProcessorBudget

_CLOCK_EVERY = 512


class Exhausted(Exception):
    """The budget ran out before the code did."""


class JobRaises(Exception):
    """The job's own code would raise here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    steps: int = 95_000
    """About a second's worth, and what counts: the same job is read the same way everywhere."""
    afterwards: int = 40_000
    """Of those, at most for code that no line is seen to call."""
    code_per_step: int = 16
    """Characters of code that are parsed in the time of a step."""
    config_per_step: int = 4
    per_file: int = 20_000
    """Steps that one file costs at most: of what is too large little is built."""
    seconds: float = 3.0
    """Of the processor: only for what steps do not measure."""
    wait_s: float = 60.0
    """By the clock: only for a file system that hangs."""
    generous: int = 20_000
    """Steps after which only what is new is worth interpreting."""
    call_depth: int = 40
    calls_of_one: int = 20
    calls_when_thrifty: int = 4
    recursion: int = 3
    """How often a function is interpreted inside itself."""
    files: int = 400
    total_bytes: int = 8_000_000
    records: int = 40_000


class Budget:
    """Counts steps, and looks at the clock now and then."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._left = limits.steps
        self._taken = 0
        self._generous_until = limits.steps - limits.generous
        self._time = ProcessorBudget(limits.seconds, limits.wait_s)

    def tick(self) -> None:
        self._left -= 1
        if self._left < self._taken:
            raise Exhausted
        if self._left % _CLOCK_EVERY == 0:
            self.look_at_the_clock()

    def parse(self, text: str, *, config: bool = False) -> None:
        """Count what reading a file costs; it says nothing of how much code was interpreted."""
        per_step = self.limits.config_per_step if config else self.limits.code_per_step
        self._taken += min(len(text) // per_step, self.limits.per_file)

    def look_at_the_clock(self) -> None:
        if self.late:
            raise Exhausted

    def allow(self, steps: int) -> None:
        """So many from now on, if there are as many, and no more generously than up to now."""
        allowed = min(steps, max(0, self._left - self._taken))
        self._generous_until += allowed - self._left
        self._left, self._taken = allowed, 0

    @property
    def left(self) -> int:
        return self._left

    @property
    def thrifty(self) -> bool:
        """Much is spent: the same again, or how a model computes, would say little more."""
        return self._left < self._generous_until

    @property
    def calls_of_one(self) -> int:
        return self.limits.calls_when_thrifty if self.thrifty else self.limits.calls_of_one

    @property
    def late(self) -> bool:
        return self._time.is_spent
