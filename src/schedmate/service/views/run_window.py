"""The runs that ended in the last months, in memory: what the pages about the site count.

Only what is new is read again, so that a page costs the same however long the history is.
"""

from __future__ import annotations

import threading
from contextlib import closing
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedmate.model import JobId
    from schedmate.store import RunSummary, Store

DAY_S: Final = 86400.0
WINDOW_S: Final = 90 * DAY_S
_FRESH_S: Final = 15.0
_AGAIN_S: Final = 3600.0
"""A diagnosis or a correction may come that long after a run has ended."""


class RunWindow:
    """`open_store` opens one for each read: the first reads months, and no one waits for it."""

    def __init__(self, open_store: Callable[[], Store]) -> None:
        self._open_store = open_store
        self._runs: dict[tuple[JobId, int], RunSummary] = {}
        self._read_at = float("-inf")
        self._lock = threading.Lock()

    def runs(self, now: float, *, days: float = 90.0) -> list[RunSummary]:
        """Oldest first."""
        with self._lock:
            if now - self._read_at >= _FRESH_S:
                self._read(now)
            since = now - days * DAY_S
            return [run for run in self._runs.values() if run.ended_at >= since]

    def _read(self, now: float) -> None:
        newest = max((run.ended_at for run in self._runs.values()), default=0.0)
        since = max(now - WINDOW_S, newest - _AGAIN_S)
        kept = {
            key: run for key, run in self._runs.items() if now - WINDOW_S <= run.ended_at < since
        }
        with closing(self._open_store()) as store:
            found = store.run_summaries(since=since)
        self._runs = kept | {(run.job_id, run.attempt): run for run in found}
        self._read_at = now
