"""Slow work beside the loop of the daemon: questions to a language model, training."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from schedmate.model import ModelError, ModelUnavailable, NoConsent, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_TRY_AGAIN_S = 5.0
_GIVE_UP_S = 3600.0
_MOST_KEPT = _GIVE_UP_S / _TRY_AGAIN_S
"""As many as are tried again before they are given up."""
_LONGEST_JOIN_S = 5.0
THREAD = "schedmate-background"
_log = logging.getLogger("schedmate.background")


@dataclass(frozen=True, slots=True)
class _Task:
    about: str
    work: Callable[[], Any]
    then: Callable[[Any, float], None]
    until: float


class BackgroundQueue:
    """One task at a time, in one thread: a small model on a shared machine can do no more.

    A process that stops waits only a little for the thread, see `is_working`. A task that finds
    no model is kept for a while: one may be installed, or come back.
    """

    def __init__(self) -> None:
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._results: SimpleQueue[tuple[_Task, Any]] = SimpleQueue()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name=THREAD, daemon=True)
        self._thread.start()

    def submit(self, about: str, work: Callable[[], T], then: Callable[[T, float], None]) -> None:
        """`work` is called in the other thread, `then` in the one that calls `deliver`."""
        until = time.monotonic() + _GIVE_UP_S
        self._tasks.put(_Task(about, work, then, until))

    def deliver(self, now: float) -> None:
        """Hand over the results that have come in since the last time."""
        while True:
            try:
                task, result = self._results.get_nowait()
            except Empty:
                return
            task.then(result, now)

    def finish(self) -> None:
        """Wait for every task, however long; none is taken any more."""
        self._tasks.put(None)
        self._thread.join()

    def close(self) -> None:
        """Wait a little for the task that is under way; what waits behind it is dropped."""
        self._closing.set()
        self._tasks.put(None)
        self._thread.join(_LONGEST_JOIN_S)

    def _work(self) -> None:
        while self._did_one():
            pass

    def _did_one(self) -> bool:
        """Nothing of it is kept while the next one is waited for."""
        task = self._tasks.get()
        if task is None or self._closing.is_set():
            return False
        try:
            self._results.put((task, task.work()))
        except NoConsent as error:
            _log.debug("no model is asked about %s: %s", task.about, error)
        except ModelUnavailable:
            self._closing.wait(_TRY_AGAIN_S)
            if time.monotonic() < task.until and self._tasks.qsize() < _MOST_KEPT:
                self._tasks.put(task)
        except (ModelError, StoreUnavailable) as error:
            _log.info("no result about %s: %s", task.about, error)
        except Exception:  # noqa: BLE001 - one task that fails must not end the thread
            _log.warning("no result about %s", task.about, exc_info=True)
        return True


def is_working() -> bool:
    """Whether a task is still under way in this process.

    The interpreter must not be shut down around it: SQLite or a model's client would crash.
    """
    return any(thread.name == THREAD and thread.is_alive() for thread in threading.enumerate())
