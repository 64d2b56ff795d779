"""How long tasks take at the pace of the first seconds, which no table of policies could say: some
decide in microseconds, some solve a linear program each time."""

from __future__ import annotations

import time
from collections.abc import Callable

_ENOUGH_S = 10.0


class Pace:
    """Gets the progress of runs and calls `warn` with the seconds that all would take, until that
    answers that it has warned. It can be sent to another process where `warn` can."""

    def __init__(
        self,
        warn: Callable[[float], bool],
        *,
        settings: int = 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._warn = warn
        self._settings = settings
        """How often the same is run, one after the other."""
        self._clock = clock
        self._run: tuple[str, int, int] | None = None
        self._began = 0.0
        self._warned = False

    def __call__(self, name: str, done: int, total: int) -> None:
        now = self._clock()
        if self._run is None or self._run[::2] != (name, total) or done < self._run[1]:
            self._began = now
        self._run = name, done, total
        spent = now - self._began
        if not self._warned and 0 < done < total and spent >= _ENOUGH_S:
            self._warned = self._warn(spent * total / done * self._settings)
