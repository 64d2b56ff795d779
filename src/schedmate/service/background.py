"""Asks the model about what rules left open, beside the loop and never in its way."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from schedmate.model import ModelError, ModelUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_ASK_AGAIN_S = 5.0
_GIVE_UP_S = 3600.0
_log = logging.getLogger("schedmate.background")


@dataclass(frozen=True, slots=True)
class _Question:
    about: str
    ask: Callable[[], Any]
    then: Callable[[Any, float], None]
    until: float


class BackgroundQueue:
    """One question at a time: a small model on a shared machine has no more to give.

    The thread is a daemon's, so that nobody who wants to stop waits for an answer. A question
    that no model is there for is kept for a while: one may be installed, or come back.
    """

    def __init__(self) -> None:
        self._questions: SimpleQueue[_Question | None] = SimpleQueue()
        self._answers: SimpleQueue[tuple[_Question, Any]] = SimpleQueue()
        self._closing = threading.Event()
        threading.Thread(target=self._work, name="background", daemon=True).start()

    def ask(self, about: str, ask: Callable[[], T], then: Callable[[T, float], None]) -> None:
        """`ask` is called in the other thread, `then` in the one that calls `hear`."""
        until = time.monotonic() + _GIVE_UP_S
        self._questions.put(_Question(about, ask, then, until))

    def hear(self, now: float) -> None:
        """Hand over the answers that have come in since the last time."""
        while True:
            try:
                question, answer = self._answers.get_nowait()
            except Empty:
                return
            question.then(answer, now)

    def close(self) -> None:
        self._closing.set()
        self._questions.put(None)

    def _work(self) -> None:
        while (question := self._questions.get()) is not None and not self._closing.is_set():
            try:
                self._answers.put((question, question.ask()))
            except ModelUnavailable:
                self._closing.wait(_ASK_AGAIN_S)
                if time.monotonic() < question.until:
                    self._questions.put(question)
            except ModelError as error:
                _log.info("no answer about %s: %s", question.about, error)
            except Exception:  # noqa: BLE001 - one question that fails must not end the thread
                _log.warning("no answer about %s", question.about, exc_info=True)
