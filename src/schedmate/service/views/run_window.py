"""The runs that ended in the last months, in memory: what the pages about the site count.

Only what is new is read again, so that a page costs the same however long the history is.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from contextlib import closing
from operator import attrgetter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedmate.store import RunSummary, Store

DAY_S: Final = 86400.0
WINDOW_S: Final = 90 * DAY_S
_FRESH_S: Final = 15.0
_AGAIN_S: Final = 3600.0
"""A diagnosis or a correction may come that long after a run has ended."""
_MOST_RUNS: Final = 50_000
"""The newest, some 400 bytes each."""
_ended_at = attrgetter("ended_at")
_which = attrgetter("job_id", "attempt", "submitted_at")


class RunWindow:
    """`open_store` opens one for each read: the first reads months, and no one waits for it."""

    def __init__(self, open_store: Callable[[], Store]) -> None:
        self._open_store = open_store
        self._runs: list[RunSummary] = []
        self._read_at = float("-inf")
        self._lock = threading.Lock()

    def runs(self, now: float, *, days: float = 90.0) -> list[RunSummary]:
        """Oldest first."""
        with self._lock:
            if now - self._read_at >= _FRESH_S:
                self._read(now)
            begin = bisect_left(self._runs, now - days * DAY_S, key=_ended_at)
            return self._runs[begin:]

    def _read(self, now: float) -> None:
        newest = self._runs[-1].ended_at if self._runs else 0.0
        since = max(now - WINDOW_S, newest - _AGAIN_S)
        with closing(self._open_store()) as store:
            found = store.run_summaries(since=since, limit=_MOST_RUNS)
        again = {_which(run) for run in found}
        begin = bisect_left(self._runs, now - WINDOW_S, key=_ended_at)
        end = bisect_left(self._runs, since, key=_ended_at)
        before = self._runs[begin:end]
        self._runs = [run for run in before if _which(run) not in again]
        self._runs = [*self._runs, *found][-_MOST_RUNS:]
        self._read_at = now
