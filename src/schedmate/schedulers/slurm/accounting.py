"""Patience with slurmdbd: one that does not answer is left alone for a while."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

from schedmate.model import SchedulerError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 30.0, 600.0
"""Before accounting that did not answer is asked again, twice as long each time."""


class Accounting:
    """Each question may take long, so after one that failed there is a pause."""

    def __init__(self) -> None:
        self._pause_s = 0.0
        self._ask_at = 0.0

    @property
    def pausing(self) -> bool:
        return time.monotonic() < self._ask_at

    def answer(self, ask: Callable[[], T]) -> T:
        try:
            answer = ask()
        except SchedulerError:
            self._pause_s = min(max(_FIRST_PAUSE_S, 2 * self._pause_s), _LONGEST_PAUSE_S)
            self._ask_at = time.monotonic() + self._pause_s
            raise
        self._pause_s = 0.0
        return answer
