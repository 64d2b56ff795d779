"""Figures that take long to compute: made once for all readers, shown until there are newer."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Generic, TypeVar

from schedmate.model import SchedMateError

if TYPE_CHECKING:
    from collections.abc import Callable

K = TypeVar("K")
T = TypeVar("T")
_MOST_KEPT = 64
_FIRST_WITHIN_S = 2.0
_log = logging.getLogger("schedmate.web")


class Measured(Generic[T]):
    """One computation at a time, in a thread of its own."""

    def __init__(self, make: Callable[[float], T], nothing: T, *, fresh_s: float) -> None:
        self._make, self._value, self._fresh_s = make, nothing, fresh_s
        self._at = float("-inf")
        self._lock = threading.Lock()
        self._running = False
        self._made = threading.Event()

    def value(self, now: float, *, patience_s: float = _FIRST_WITHIN_S) -> T:
        """The newest one; at first it is waited for, as long as a reader has patience."""
        with self._lock:
            begins = now - self._at >= self._fresh_s and not self._running
            self._running |= begins
        if begins:
            threading.Thread(target=self._renew, args=(now,), name="figures", daemon=True).start()
        self._made.wait(patience_s)
        return self._value

    def _renew(self, now: float) -> None:
        try:
            self._value = self._make(now)
        except SchedMateError as error:
            _log.warning("figures are as they were before: %s", error)
        except Exception:  # noqa: BLE001 - as with a page, the log has the reason
            _log.exception("figures are as they were before")
        finally:
            with self._lock:
                self._at, self._running = now, False
            self._made.set()  # no one waits again for what failed


class Shared(Generic[K, T]):
    """Values by key: one reader makes a value, others wait for it, all share it for a while."""

    def __init__(self, make: Callable[[K, float], T], *, fresh_s: Callable[[K], float]) -> None:
        self._make, self._fresh_s = make, fresh_s
        self._lock = threading.Lock()
        self._made: dict[K, tuple[float, T]] = {}
        self._making: dict[K, threading.Lock] = {}

    def value(self, key: K, now: float) -> T:
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
        try:
            with making:
                made = self._made.get(key)
                if made is None or now - made[0] >= self._fresh_s(key):
                    made = now, self._make(key, now)
                    self._keep(key, made)
                return made[1]
        finally:
            with self._lock:
                if self._making.get(key) is making:
                    del self._making[key]

    def _keep(self, key: K, made: tuple[float, T]) -> None:
        """Without those that are too old to be shown again: a key may be large too."""
        with self._lock:
            self._made.pop(key, None)
            self._made[key] = made  # the last: the first is the one that was made longest ago
            for one, (at, _) in list(self._made.items()):
                if made[0] - at >= self._fresh_s(one) or len(self._made) > _MOST_KEPT:
                    del self._made[one]
