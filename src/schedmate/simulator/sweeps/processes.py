"""Questions answered on all cores of this machine."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, get_context

from schedmate.model import BadInput
from schedmate.simulator.sweeps.answering import Answer, answer
from schedmate.simulator.sweeps.question import Question, named


def in_processes(
    questions: Sequence[Question], reported: frozenset[int], workers: int
) -> Iterator[tuple[int, Answer]]:
    """Each with its number, as they come; all stop when one fails or the caller stops listening."""
    others = active_children()
    pool = ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=_ready_for_work
    )
    try:
        asked = {
            pool.submit(answer, question, reported=number in reported): number
            for number, question in enumerate(questions)
        }
        for done in as_completed(asked):
            with named(questions[asked[done]]):
                yield asked[done], _result(done)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in active_children():
            if worker not in others:
                worker.terminate()
        raise
    pool.shutdown()


def _result(done: Future[Answer]) -> Answer:
    try:
        return done.result()
    except BrokenProcessPool as error:
        raise BadInput(
            "a worker died, most likely for want of memory; try fewer --workers"
        ) from error


def _ready_for_work() -> None:
    """A worker ends at Ctrl-C without a word, and leaves the other cores to the other workers."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
