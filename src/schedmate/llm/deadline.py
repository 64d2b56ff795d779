"""One clock over everything a question takes: starting the server, asking, repairing."""

from __future__ import annotations

import threading
import time
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, TypeVar

from schedmate.model import ModelTooSlow

if TYPE_CHECKING:
    from collections.abc import Callable

R = TypeVar("R")


class Deadline:
    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._started = time.monotonic()

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._started

    def left(self) -> float:
        """Seconds that remain; raises `ModelTooSlow` when there are none."""
        left = self._seconds - self.elapsed
        if left <= 0:
            raise self.passed()
        return left

    def passed(self) -> ModelTooSlow:
        return ModelTooSlow(
            f"the language model gave no answer within {self._seconds:g} s "
            "(setting llm.deadline_s allows more)"
        )

    def hold(self, work: Callable[[], R]) -> R:
        """Do `work` in a thread of its own and stop waiting for it when time is up.

        A socket's time-out starts anew with every byte and a name look-up has none, so only a
        second thread keeps the promise whatever the other side does.
        """
        results: SimpleQueue[tuple[R, None] | tuple[None, BaseException]] = SimpleQueue()

        def run() -> None:
            try:
                results.put((work(), None))
            except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
                results.put((None, error))

        threading.Thread(target=run, name="schedmate-llm", daemon=True).start()
        try:
            value, error = results.get(timeout=self.left())
        except Empty:
            raise self.passed() from None
        if error is not None:
            raise error
        return value  # type: ignore[return-value]  # mypy loses the pairing of the tuple
