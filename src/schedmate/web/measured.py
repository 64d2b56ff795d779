"""Figures that take long to compute: made beside the requests, shown until there are newer ones."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Generic, TypeVar

from schedmate.model import SchedMateError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
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

    def value(self, now: float) -> T:
        """The newest one; at first it is waited for, as long as a reader has patience."""
        with self._lock:
            begins = now - self._at >= self._fresh_s and not self._running
            self._running |= begins
        if begins:
            threading.Thread(target=self._renew, args=(now,), name="figures", daemon=True).start()
        self._made.wait(_FIRST_WITHIN_S)
        return self._value

    def _renew(self, now: float) -> None:
        try:
            self._value = self._make(now)
        except SchedMateError as error:
            _log.warning("figures are as they were before: %s", error)
        finally:
            with self._lock:
                self._at, self._running = now, False
            self._made.set()  # no one waits again for what failed
