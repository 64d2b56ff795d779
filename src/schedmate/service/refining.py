"""Asks the model about what rules left open, beside the loop and never in its way."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from schedmate.model import ModelError, ModelUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedmate.handler import Case, Handler
    from schedmate.model import Diagnosis, Job

_ASK_AGAIN_S = 5.0
_GIVE_UP_S = 3600.0
_log = logging.getLogger("schedmate.refining")


@dataclass(frozen=True, slots=True)
class _Question:
    job: Job
    case: Case
    diagnosis: Diagnosis
    until: float


class Refining:
    """One question at a time: a small model on a shared machine has no more to give.

    The thread is a daemon's, so that nobody who wants to stop waits for an answer. A question
    that no model is there for is kept for a while: one may be installed, or come back.
    """

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._questions: SimpleQueue[_Question | None] = SimpleQueue()
        self._answers: SimpleQueue[tuple[Job, Diagnosis]] = SimpleQueue()
        self._closing = threading.Event()
        threading.Thread(target=self._work, name="refining", daemon=True).start()

    def ask(self, job: Job, case: Case, diagnosis: Diagnosis) -> None:
        if self._handler.leaves_open(diagnosis):
            self._questions.put(_Question(job, case, diagnosis, time.monotonic() + _GIVE_UP_S))

    def answered(self) -> Iterator[tuple[Job, Diagnosis]]:
        """Better diagnoses that have come in since the last look."""
        while True:
            try:
                yield self._answers.get_nowait()
            except Empty:
                return

    def close(self) -> None:
        self._closing.set()
        self._questions.put(None)

    def _work(self) -> None:
        while (question := self._questions.get()) is not None and not self._closing.is_set():
            try:
                self._answer(question)
            except ModelUnavailable:
                self._closing.wait(_ASK_AGAIN_S)
                if time.monotonic() < question.until:
                    self._questions.put(question)
            except ModelError as error:
                _log.info("no better diagnosis of job %s: %s", question.job.id, error)
            except Exception:  # noqa: BLE001 - one question that fails must not end the thread
                _log.warning("no better diagnosis of job %s", question.job.id, exc_info=True)

    def _answer(self, question: _Question) -> None:
        refined = self._handler.ask_model(question.case, question.diagnosis)
        if refined.reason != question.diagnosis.reason:
            self._answers.put((question.job, refined))
