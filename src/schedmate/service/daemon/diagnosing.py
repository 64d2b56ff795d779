"""Diagnoses that hold up no other job: long ones go on beside the loop of the daemon."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Final

from schedmate.handler import TakesLong
from schedmate.service.daemon.background import BackgroundQueue

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedmate.handler import Case, Handler
    from schedmate.model import Diagnosis

_AT_ONCE_S: Final = 0.25
"""Of the processor and of one look, for all diagnoses in it: enough for dozens of usual ones."""
_LEAST_S: Final = 0.02
"""Of each, so that a usual one is made at once even behind a long one."""
_TURN_S: Final = 0.0005


class Diagnosing:
    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._queue = BackgroundQueue()
        self._spent_s = 0.0

    def diagnose(
        self, case: Case, about: str, then: Callable[[Diagnosis, float], None]
    ) -> Diagnosis | None:
        """The diagnosis; None where its logs take long, and `then` is called in a later look."""
        begun = time.thread_time()
        try:
            return self._handler.diagnose(case, within_s=max(_LEAST_S, _AT_ONCE_S - self._spent_s))
        except TakesLong:
            self._queue.submit(about, lambda: self._slowly(case), then)
            return None
        finally:
            self._spent_s += time.thread_time() - begun

    def _slowly(self, case: Case) -> Diagnosis:
        """In the other thread, which lets the loop have its turn more often meanwhile."""
        before = sys.getswitchinterval()
        sys.setswitchinterval(_TURN_S)
        try:
            return self._handler.diagnose(case)
        finally:
            sys.setswitchinterval(before)

    def deliver(self, now: float) -> None:
        """Hand over those that are made by now; a new look begins."""
        self._spent_s = 0.0
        self._queue.deliver(now)

    def finish(self, now: float) -> None:
        """Wait for all of them and hand them over; none is taken any more."""
        self._queue.finish()
        self._queue.deliver(now)

    def close(self) -> None:
        self._queue.close()


def is_unread(diagnosis: Diagnosis) -> bool:
    """What a person or a memory answered does not depend on the log any more."""
    return bool(diagnosis.unread_logs) and diagnosis.source != "memory"
