"""Which running jobs stop so that those ahead of them in the order can run.

All active jobs stand in one order; each that fits into what those before it leave is to run.
Running jobs that are not chosen are stopped, then the chosen ones are started, in order.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import inf, nextafter

import numpy as np
from numpy.typing import NDArray

from schedmate.policies.base import ClusterView, JobColumns, Policy

Ranked = tuple[float, int]
"""A key and a job: the order of all active jobs."""
_LAST: Ranked = (inf, 0)
_FEW = 8


class Preemptor:
    def __init__(self, cluster: ClusterView) -> None:
        self._cluster = cluster
        self._gpus = cluster.jobs.gpus
        self._heaps: dict[int, list[Ranked]] = {}
        self._key: dict[int, float] = {}

    @property
    def waiting(self) -> int:
        return len(self._key)

    def put(self, job: int, key: float) -> None:
        """Let it wait, or give it another key if it waits already."""
        self._key[job] = key
        heappush(self._heaps.setdefault(self._gpus[job], []), (key, job))

    def put_anew(self, key_of: Callable[[int], float]) -> None:
        """Give every waiting job a new key."""
        for job in list(self._key):
            self.put(job, key_of(job))

    def make_room(self, running: Sequence[Ranked]) -> tuple[list[int], list[int]]:
        """Stop and start jobs; `running` is in order. Returns those stopped and those started."""
        stop: list[Ranked] = []
        if self._all_fit():
            start = sorted((key, job) for job, key in self._key.items())
            self._key.clear()
        elif self._any_waiting_gains(running):
            stop, start = self._choose(running)
        else:
            return [], []
        for key, job in stop:
            self._cluster.stop(job)
            self.put(job, key)
        return [job for _, job in stop], [job for key, job in start if self._start(job, key)]

    def _start(self, job: int, key: float) -> bool:
        if self._cluster.start(job):
            return True
        self.put(job, key)  # enough GPUs, but fragmented
        return False

    def _all_fit(self) -> bool:
        """Whether all can run without a stop: only checked where few wait."""
        few = len(self._key) <= _FEW
        return few and sum(self._gpus[job] for job in self._key) <= self._cluster.free

    def _any_waiting_gains(self, running: Sequence[Ranked]) -> bool:
        """Whether a waiting job fits into what the running jobs before it leave."""
        for gpus, head in self._heads(self._cluster.gpus).items():
            room = self._cluster.free
            for placed in reversed(running):
                if room >= gpus or placed < head:
                    break
                room += self._gpus[placed[1]]
            if room >= gpus:
                return True
        return False

    def _choose(self, running: Sequence[Ranked]) -> tuple[list[Ranked], list[Ranked]]:
        stop: list[Ranked] = []
        start: list[Ranked] = []
        next_running, left = self._ahead_of_all_waiting(running)
        heads = self._heads(left)
        largest, first = max(heads, default=0), min(heads.values(), default=_LAST)
        while left and (heads or next_running < len(running)):
            if next_running < len(running) and running[next_running] < first:
                placed = running[next_running]
                next_running += 1
                gpus = self._gpus[placed[1]]
                if gpus > left:
                    stop.append(placed)
                    continue
            else:
                start.append(first)
                del self._key[first[1]]
                gpus, largest = self._gpus[first[1]], left
            left -= gpus
            if left < largest:
                heads = self._heads(left)
                largest, first = max(heads, default=0), min(heads.values(), default=_LAST)
        return [*stop, *running[next_running:]], start

    def _ahead_of_all_waiting(self, running: Sequence[Ranked]) -> tuple[int, int]:
        """How many running jobs stand before every waiting job that could fit, and what they
        leave: they keep running, as they fit together already."""
        count, left = 0, self._cluster.gpus
        while heads := self._heads(left):
            end = bisect_left(running, min(heads.values()), count)
            left -= sum([self._gpus[job] for _, job in running[count:end]])
            if end == count or left >= max(heads):
                return end, left
            count = end
        return count, left

    def _heads(self, most: int) -> dict[int, Ranked]:
        """The first of each size that is not too large."""
        found: dict[int, Ranked] = {}
        for gpus, heap in self._heaps.items():
            if gpus > most:
                continue
            while heap and self._key.get(heap[0][1]) != heap[0][0]:
                heappop(heap)
            if heap:
                found[gpus] = heap[0]
        return found


Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Stages:
    """A row a job. It enters stage `i + 1` once it was served for `bounds[i]` seconds, and its key
    is `keys[i]` while it is in stage `i`."""

    bounds: Matrix
    keys: Matrix


class Staged(Policy):
    """Jobs go through stages as they are served; each stage has its own key, and a lower key stops
    a higher one. Least attained service is one of these, and so is the Gittins index.

    A job enters its next stage at the very moment at which it has held GPUs for so many seconds.
    That moment is planned when the job is started, and never for now, so no rounding of what it was
    served for can repeat it.
    """

    kind = "asking"
    orders_by = "attained_service"
    preempts = True

    def stages(self, jobs: JobColumns) -> Stages:
        raise NotImplementedError

    def begin(self, cluster: ClusterView) -> None:
        self._cluster = cluster
        self._preemptor = Preemptor(cluster)
        stages = self.stages(cluster.jobs)
        self._bounds, self._keys = stages.bounds.tolist(), stages.keys.tolist()
        self._stage = [0] * len(self._keys)
        self._running: list[Ranked] = []
        self._due: dict[int, float] = {}
        self._changes: list[tuple[float, int]] = []

    def arrived(self, job: int) -> None:
        self._preemptor.put(job, self._key_of(job))

    def ended(self, job: int) -> None:
        self._leave(job)

    def evicted(self, job: int) -> None:
        self._leave(job)

    def decide(self) -> None:
        self._enter_next_stages()
        if not self._preemptor.waiting:
            return
        stopped, started = self._preemptor.make_room(self._running)
        for job in stopped:
            self._leave(job)
            self._stopped(job)
        for job in started:
            self._due.pop(job, None)
            self._plan_next_stage(job)
            insort(self._running, (self._running_key(job), job))

    def _key_of(self, job: int) -> float:
        key: float = self._keys[job][self._stage[job]]
        return key

    def _running_key(self, job: int) -> float:
        """While it runs, where that is another one."""
        return self._key_of(job)

    def _leave(self, job: int) -> None:
        del self._running[bisect_left(self._running, (self._running_key(job), job))]
        self._due.pop(job, None)

    def _stopped(self, job: int) -> None:
        """For subclasses that react when a job is stopped."""

    def _enter_next_stages(self) -> None:
        changes = self._changes
        while changes and changes[0][0] <= self._cluster.now:
            due, job = heappop(changes)
            if self._due.get(job) == due:
                self._leave(job)
                self._stage[job] += 1
                self._plan_next_stage(job)
                insort(self._running, (self._running_key(job), job))

    def _plan_next_stage(self, job: int) -> None:
        bounds, stage = self._bounds[job], self._stage[job]
        if stage < len(bounds):
            now = self._cluster.now
            due = max(now + (bounds[stage] - self._cluster.served(job)), nextafter(now, inf))
            self._due[job] = due
            heappush(self._changes, (due, job))
            self._cluster.wake_at(due)
