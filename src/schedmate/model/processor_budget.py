"""How long a piece of work may take: by the processor, so that a busy machine answers the same."""

from __future__ import annotations

import time


class ProcessorBudget:
    """Processor time of this thread; and a wide bound on waiting, as a file system can hang."""

    def __init__(self, seconds: float, wait_s: float) -> None:
        self._processor_until = time.thread_time() + seconds
        self._wait_until = time.monotonic() + wait_s

    @property
    def is_spent(self) -> bool:
        return time.thread_time() > self._processor_until or time.monotonic() > self._wait_until
