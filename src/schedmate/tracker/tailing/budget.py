"""How much one look may read of the logs of a run, so that other runs get their turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

_LEAST_LINES, _LEAST_BYTES = 512, 32_768
"""Read whatever the time: the first lines of a process also compile its patterns."""


class ReadBudget:
    """Processor time of one look; an ordinary log never comes near it.

    A few lines are read in any case, so that every look gets further.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.thread_time) -> None:
        self._clock = clock
        self._until = clock() + seconds
        self._lines = self._bytes = 0
        self.taken = 0
        """How many of the lines last given to `allowed` it has let through."""

    @property
    def spent(self) -> bool:
        return self._clock() > self._until

    def allowed(self, lines: Sequence[bytes]) -> Iterator[bytes]:
        """Yield the lines until the time is up."""
        self.taken = 0
        for line in lines:
            if self._had_the_least and self.spent:
                return
            self.taken += 1
            self._lines += 1
            self._bytes += len(line)
            yield line

    @property
    def _had_the_least(self) -> bool:
        return self._lines >= _LEAST_LINES or self._bytes >= _LEAST_BYTES
