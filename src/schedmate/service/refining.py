"""Asks the model about what rules left open, beside the loop and never in its way."""

from __future__ import annotations

import logging
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedmate.handler import Case, Handler
    from schedmate.model import Diagnosis, Job

_log = logging.getLogger("schedmate.refining")


class Refining:
    """One question at a time: a small model on a shared machine has no more to give."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="refining")
        self._asked: list[tuple[Job, Diagnosis, Future[Diagnosis]]] = []

    def ask(self, job: Job, case: Case, diagnosis: Diagnosis) -> None:
        future = self._thread.submit(self._handler.refine, case, diagnosis)
        self._asked.append((job, diagnosis, future))

    def answered(self) -> Iterator[tuple[Job, Diagnosis]]:
        """Better diagnoses that have come in since the last look."""
        ready = [asked for asked in self._asked if asked[2].done()]
        self._asked = [asked for asked in self._asked if not asked[2].done()]
        for job, before, future in ready:
            error = future.exception()
            if error is not None:
                _log.warning("no better diagnosis of job %s", job.id, exc_info=error)
            elif future.result() != before:
                yield job, future.result()

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)
