"""Code read in processes of its own, each piece of it with bounds.

A network's disk can hang and a parser can be driven into the ground: then one process is given up
and one run stays without its code. A busy machine is no reason: what computes is bounded by the
processor time it takes, what waits by the time without progress.
"""

from __future__ import annotations

import signal
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import wait
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate.service.usecases.code_reading import CacheInMemory, ReadCode, Unread, read_code

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

    from schedmate.advisor import Target

MOST_S, STUCK_S = 60.0, 60.0
"""Of the processor for one piece; by the clock without any progress."""
_FEW = 4
"""So few are read here: a process takes longer to start."""
_END_S = 2.0


@dataclass(frozen=True, slots=True)
class ReadingTask:
    """Code to read, and when the first of its runs started."""

    target: Target
    earliest: float


def read_all(
    tasks: Sequence[ReadingTask], *, workers: int, most_s: float = MOST_S, stuck_s: float = STUCK_S
) -> Iterator[tuple[int, ReadCode | Unread]]:
    """Each result with the number of its task, as they come; 0 workers: in this process."""
    if workers == 0 or len(tasks) <= _FEW:
        cache = CacheInMemory()
        for number, task in enumerate(tasks):
            yield number, read_code(task.target, task.earliest, cache)
        return
    pool = _Pool(tasks, min(workers, len(tasks)), most_s, stuck_s)
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
    ticks: tuple[str, ...] = ()
    """Of the processor, when it was last seen to get on."""
    progressed_at: float = 0.0

    def is_stuck(self, stuck_s: float) -> bool:
        ticks, now = _processor_ticks(self.process.pid), time.monotonic()
        if ticks != self.ticks:
            self.ticks, self.progressed_at = ticks, now
        return now - self.progressed_at > stuck_s


class _Pool:
    def __init__(
        self, tasks: Sequence[ReadingTask], workers: int, most_s: float, stuck_s: float
    ) -> None:
        self._tasks = tasks
        self._open = deque(range(len(tasks)))
        self._most_s, self._stuck_s = most_s, stuck_s
        self._workers = [_started(most_s) for _ in range(workers)]

    def results(self) -> Iterator[tuple[int, ReadCode | Unread]]:
        self._hand_out()
        while busy := [worker for worker in self._workers if worker.number >= 0]:
            ready = wait([worker.channel for worker in busy], timeout=0.5)
            for worker in busy:
                if worker.channel in ready:
                    yield worker.number, self._received(worker)
                elif worker.is_stuck(self._stuck_s):
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
            worker.number, worker.progressed_at = number, time.monotonic()
            self._open.popleft()
        return None

    def _received(self, worker: _Worker) -> ReadCode | Unread:
        try:
            answer: ReadCode | Unread = worker.channel.recv()
        except (EOFError, OSError):
            worker.process.join(_END_S)
            is_slow = worker.process.exitcode == -signal.SIGPROF
            return self._replaced(worker, Unread.TOO_SLOW if is_slow else Unread.CRASHED)
        worker.number = -1
        return answer

    def _replaced(self, worker: _Worker, why: Unread) -> Unread:
        _end(worker)
        self._workers[self._workers.index(worker)] = _started(self._most_s)
        return why


def _started(most_s: float) -> _Worker:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, most_s), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _processor_ticks(pid: int | None) -> tuple[str, ...]:
    """What it has used up to now, as user and as kernel."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return ()
    return tuple(stat.rpartition(")")[2].split()[11:13])


def _end(worker: _Worker) -> None:
    worker.channel.close()
    worker.process.kill()
    worker.process.join(_END_S)  # one that waits for a disk ends when that answers


def _serve(channel: Connection, most_s: float) -> None:
    """Answer until the channel is closed: then the import is over, or was killed.

    What takes more than `most_s` of the processor ends the process, in compiled code too.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with the process that started it
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    cache = CacheInMemory()
    with suppress(EOFError, OSError):
        while True:
            task: ReadingTask = channel.recv()
            signal.setitimer(signal.ITIMER_PROF, most_s)
            channel.send(read_code(task.target, task.earliest, cache))
