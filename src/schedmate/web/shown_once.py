"""What a page shows a single time, after the form that made it: reloading makes nothing anew."""

from __future__ import annotations

import threading
import time

_KEPT_S = 60.0
_MOST = 1000


class ShownOnce:
    """In memory alone, for a minute, by user and name."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], tuple[float, str]] = {}
        self._lock = threading.Lock()

    def keep(self, user: str, name: str, text: str) -> None:
        now = time.monotonic()
        with self._lock:
            fresh = {key: one for key, one in self._kept.items() if now - one[0] < _KEPT_S}
            while len(fresh) >= _MOST:
                del fresh[next(iter(fresh))]
            self._kept = {**fresh, (user, name): (now, text)}

    def take(self, user: str, name: str) -> str:
        """Empty where it was taken before, or is too old."""
        with self._lock:
            at, text = self._kept.pop((user, name), (0.0, ""))
        return text if time.monotonic() - at < _KEPT_S else ""
