"""A warning about something that lasts: a line a minute, however often it is met."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import logging

EVERY_S = 60.0


class RareWarning:
    """Of one kind, in one log; what comes sooner than a minute after a line is left out."""

    def __init__(self, log: logging.Logger, text: str) -> None:
        self._log, self._text = log, text
        self._lock = threading.Lock()
        self._quiet_until = 0.0

    def __call__(self, *values: object) -> None:
        now = time.monotonic()
        with self._lock:
            if now < self._quiet_until:
                return
            self._quiet_until = now + EVERY_S
        self._log.warning(self._text, *values)
