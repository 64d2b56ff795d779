"""Tasks run on all cores of this machine."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context

from schedmate.model import BadInput
from schedmate.simulator.sweeps.execution import SimulationResult, run_task
from schedmate.simulator.sweeps.pace import Pace
from schedmate.simulator.sweeps.tasks import SimulationTask, named


def in_processes(
    tasks: Sequence[SimulationTask],
    reported: frozenset[int],
    workers: int,
    pace: Pace | None = None,
) -> Iterator[tuple[int, SimulationResult]]:
    """Each with its number, as they come; all stop when one fails or the caller stops listening.
    The first reports to `pace`, in its own process."""
    others = active_children()
    pool = ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=_ready_for_work
    )
    try:
        with _uninterrupted():
            asked = {
                pool.submit(
                    run_task,
                    task,
                    reported=number in reported,
                    on_progress=None if number else pace,
                ): number
                for number, task in enumerate(tasks)
            }
        for done in as_completed(asked):
            with named(tasks[asked[done]]):
                yield asked[done], _result(done)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in active_children():
            if worker not in others:
                worker.terminate()
        raise
    pool.shutdown()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C waits: a worker that is half started can neither be ended nor end in silence.

    Workers inherit the mask, so that it also waits for their imports.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        if came:  # another thread, which does not block it, was told
            signal.raise_signal(signal.SIGINT)


def _result(done: Future[SimulationResult]) -> SimulationResult:
    try:
        return done.result()
    except BrokenProcessPool as error:
        raise BadInput(
            "a worker died, most likely for want of memory; try fewer --workers"
        ) from error


def _ready_for_work() -> None:
    """A worker ends at Ctrl-C without a word, and leaves the other cores to the other workers."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    os.environ.setdefault("OMP_NUM_THREADS", "1")
