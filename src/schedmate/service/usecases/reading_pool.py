"""Code read in processes of its own, each piece of it with a deadline.

A network's disk can hang and a parser can be driven into the ground: then one process is given up
and one run stays without its code.
"""

from __future__ import annotations

import signal
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import wait
from typing import TYPE_CHECKING

from schedmate.service.usecases.code_reading import CacheInMemory, ReadCode, Unread, read_code

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

    from schedmate.advisor import Target

DEADLINE_S = 60.0
_FEW = 4
"""So few are read here: a process takes longer to start."""
_END_S = 2.0


@dataclass(frozen=True, slots=True)
class ReadingTask:
    """Code to read, and when the first of its runs started."""

    target: Target
    earliest: float


def read_all(
    tasks: Sequence[ReadingTask], *, workers: int, deadline_s: float = DEADLINE_S
) -> Iterator[tuple[int, ReadCode | Unread]]:
    """Each result with the number of its task, as they come; 0 workers: in this process."""
    if workers == 0 or len(tasks) <= _FEW:
        cache = CacheInMemory()
        for number, task in enumerate(tasks):
            yield number, read_code(task.target, task.earliest, cache)
        return
    pool = _Pool(tasks, min(workers, len(tasks)), deadline_s)
    try:
        yield from pool.results()
    finally:
        pool.close()


@dataclass(eq=False, slots=True)
class _Worker:
    process: SpawnProcess
    channel: Connection
    number: int = -1
    """Of the task that it has; -1: none."""
    until: float = 0.0


class _Pool:
    def __init__(self, tasks: Sequence[ReadingTask], workers: int, deadline_s: float) -> None:
        self._tasks = tasks
        self._open = deque(range(len(tasks)))
        self._deadline_s = deadline_s
        self._workers = [_started() for _ in range(workers)]

    def results(self) -> Iterator[tuple[int, ReadCode | Unread]]:
        self._hand_out()
        while busy := [worker for worker in self._workers if worker.number >= 0]:
            ready = wait([worker.channel for worker in busy], timeout=0.5)
            for worker in busy:
                if worker.channel in ready:
                    yield worker.number, self._received(worker)
                elif time.monotonic() > worker.until:
                    yield worker.number, self._replaced(worker, Unread.TOO_SLOW)
            self._hand_out()

    def close(self) -> None:
        for worker in self._workers:
            _end(worker)

    def _hand_out(self) -> None:
        for worker in self._workers.copy():
            if worker.number >= 0 or not self._open:
                continue
            number = self._open[0]
            try:
                worker.channel.send(self._tasks[number])
            except OSError:  # it has died since its last answer
                self._replaced(worker, Unread.CRASHED)
                return self._hand_out()
            worker.number, worker.until = number, time.monotonic() + self._deadline_s
            self._open.popleft()
        return None

    def _received(self, worker: _Worker) -> ReadCode | Unread:
        try:
            answer: ReadCode | Unread = worker.channel.recv()
        except (EOFError, OSError):
            return self._replaced(worker, Unread.CRASHED)
        worker.number = -1
        return answer

    def _replaced(self, worker: _Worker, why: Unread) -> Unread:
        _end(worker)
        self._workers[self._workers.index(worker)] = _started()
        return why


def _started() -> _Worker:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _end(worker: _Worker) -> None:
    worker.channel.close()
    worker.process.kill()
    worker.process.join(_END_S)  # one that waits for a disk ends when that answers


def _serve(channel: Connection) -> None:
    """Answer until the channel is closed: then the import is over, or was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with the process that started it
    cache = CacheInMemory()
    with suppress(EOFError, OSError):
        while True:
            task: ReadingTask = channel.recv()
            channel.send(read_code(task.target, task.earliest, cache))
