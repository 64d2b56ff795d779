"""Who answers many questions: this process, all cores of this machine, or a Ray cluster.

Answers come back in the order of the questions and are the same whoever gave them.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import active_children, get_context
from pathlib import Path
from socket import create_connection
from typing import Any

from schedmate.model import BadInput, SchedMateError
from schedmate.simulator.sweeps.answering import Answer, OnProgress, answer
from schedmate.simulator.sweeps.question import Question

OnDone = Callable[[int, int], None]
_KNOCK_S = 10.0
_OUR_CODE = str(Path(__file__).parents[2])
"""Sent along, so that every machine runs the same version."""


class FailedSetting(SchedMateError):
    """One setting of a sweep could not be simulated."""


def answers(
    questions: Sequence[Question],
    *,
    reported: frozenset[int] = frozenset(),
    workers: int | None = None,
    ray_address: str | None = None,
    on_done: OnDone | None = None,
    on_progress: OnProgress | None = None,
) -> list[Answer]:
    """All of them; those numbered in `reported` with what a report needs.

    `on_done` hears how many of how many are answered; `on_progress` how far one is, where they
    are answered in this process.
    """
    hands = min(workers or os.cpu_count() or 1, len(questions))
    if ray_address is not None:
        given = _on_ray(questions, reported, ray_address)
    elif hands > 1:
        given = _in_processes(questions, reported, hands)
    else:
        given = _here(questions, reported, on_progress)
    found: dict[int, Answer] = {}
    for number, each in given:
        found[number] = each
        if on_done is not None:
            on_done(len(found), len(questions))
    return [found[number] for number in range(len(questions))]


def _here(
    questions: Sequence[Question], reported: frozenset[int], on_progress: OnProgress | None
) -> Iterator[tuple[int, Answer]]:
    for number, question in enumerate(questions):
        with _named(question):
            yield number, answer(question, reported=number in reported, on_progress=on_progress)


def _in_processes(
    questions: Sequence[Question], reported: frozenset[int], workers: int
) -> Iterator[tuple[int, Answer]]:
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
            with _named(questions[asked[done]]):
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


def _on_ray(
    questions: Sequence[Question], reported: frozenset[int], address: str
) -> Iterator[tuple[int, Answer]]:
    ray = _connected(address)
    remote = ray.remote(answer)
    asked = {
        remote.remote(question, reported=number in reported): number
        for number, question in enumerate(questions)
    }
    try:
        while asked:
            [done], _ = ray.wait(list(asked), num_returns=1)
            number = asked.pop(done)
            with _named(questions[number]):
                yield number, _ray_result(ray, done)
    finally:
        for left in asked:
            ray.cancel(left, force=True)
        ray.shutdown()


def _ray_result(ray: Any, done: Any) -> Answer:
    """What went wrong on another machine is told as it would be on this one."""
    try:
        found: Answer = ray.get(done)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from error
    return found


def _connected(address: str) -> Any:
    try:
        ray = import_module("ray")
    except ImportError as error:
        raise BadInput(
            "--ray needs the package ray: pip install ray, or leave --ray out to use the cores of "
            "this machine"
        ) from error
    try:
        _knock(address)
        ray.init(
            address=address,
            log_to_driver=False,
            logging_level="ERROR",
            runtime_env={"py_modules": [_OUR_CODE], "excludes": ["__pycache__"]},
        )
    except (OSError, RuntimeError, ValueError) as error:
        raise BadInput(
            f"there is no Ray cluster at {address}: {error}; `ray status` says what there is"
        ) from error
    return ray


def _knock(address: str) -> None:
    """Ray itself would wait for minutes for a host that is not there."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host:
        create_connection((host, int(port)), timeout=_KNOCK_S).close()


@contextmanager
def _named(question: Question) -> Iterator[None]:
    """What goes wrong in a sweep says in which setting."""
    try:
        yield
    except SchedMateError as error:
        if not question.swept:
            raise
        failed = FailedSetting(f"{question.title}: {error}")
        failed.exit_code = error.exit_code
        raise failed from error
    except Exception as error:
        if not question.swept:
            raise
        raise FailedSetting(f"{question.title} failed: {type(error).__name__}: {error}") from error
