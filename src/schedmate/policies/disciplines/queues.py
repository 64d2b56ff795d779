"""Queues in an order that does not change: by a key, then by submission."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush, heappushpop
from typing import Literal, Protocol

from schedmate.policies.base import ClusterView, KernelSpec, OrdersBy, Policy

UNKNOWN_S = 3600.0
"""Stands for a job of unknown run time before any run time was predicted."""


class ExpectedDurations:
    """A job of unknown run time gets the median of the predictions before it: behind the short
    half, before the long half."""

    def __init__(self, expected: Sequence[float]) -> None:
        self._expected = expected
        self._stand_in: dict[int, float] = {}
        self._counted: set[int] = set()
        self._median = RunningMedian()

    def submitted(self, job: int) -> float:
        """Called for each job in order; a job that comes again changes nothing."""
        expected = self._expected[job]
        if expected == expected:  # noqa: PLR0124 - false for nan alone, and there are millions
            if job not in self._counted:
                self._counted.add(job)
                self._median.add(expected)
            return expected
        return self._stand_in.setdefault(job, self._median.value)

    def stand_in(self, job: int) -> float:
        """The run time assumed for a job that had no prediction when it came."""
        return self._stand_in[job]


class RunningMedian:
    """The lower one of the two in the middle, so that it is always a predicted value."""

    def __init__(self) -> None:
        self._low: list[float] = []  # negated: its largest is first
        self._high: list[float] = []

    @property
    def value(self) -> float:
        return -self._low[0] if self._low else UNKNOWN_S

    def add(self, seconds: float) -> None:
        if len(self._low) > len(self._high):
            heappush(self._high, -heappushpop(self._low, -seconds))
        else:
            heappush(self._low, -heappushpop(self._high, seconds))


class Queue(Protocol):
    def put(self, job: int, key: float) -> None:
        """It waits from now on, or has another key."""

    def start_fitting(self) -> None: ...

    def waits(self, job: int) -> bool: ...


class StrictQueue:
    """No job overtakes the head of the queue."""

    def __init__(self, cluster: ClusterView) -> None:
        self._cluster = cluster
        self._heap: list[tuple[float, int]] = []
        self._key: dict[int, float] = {}
        """Of waiting jobs; an entry of the heap with another key is out of date."""

    def put(self, job: int, key: float) -> None:
        self._key[job] = key
        heappush(self._heap, (key, job))

    def waits(self, job: int) -> bool:
        return job in self._key

    def start_fitting(self) -> None:
        heap, keys, start = self._heap, self._key, self._cluster.start
        while heap:
            key, job = heap[0]
            if keys.get(job) == key:
                if not start(job):
                    return
                del keys[job]
            heappop(heap)


class FirstFitQueue:
    """A job that fits may overtake those that do not: one heap for each number of GPUs."""

    def __init__(self, cluster: ClusterView) -> None:
        self._cluster = cluster
        self._heaps: dict[int, list[tuple[float, int]]] = {}
        self._key: dict[int, float] = {}

    def put(self, job: int, key: float) -> None:
        self._key[job] = key
        heappush(self._heaps.setdefault(self._cluster.jobs.gpus[job], []), (key, job))

    def waits(self, job: int) -> bool:
        return job in self._key

    def start_fitting(self) -> None:
        cluster = self._cluster
        free = cluster.free
        if not free:
            return
        fitting = [
            (head, gpus)
            for gpus, heap in self._heaps.items()
            if gpus <= free and (head := self._head(heap)) is not None
        ]
        while fitting:
            first = min(fitting)
            (_, job), gpus = first
            fitting.remove(first)
            if cluster.start(job):  # else enough GPUs, but fragmented: no job of that size fits
                del self._key[job]
                head = self._head(self._heaps[gpus])
                if head is not None:
                    fitting.append((head, gpus))
                fitting = [one for one in fitting if one[1] <= cluster.free]

    def _head(self, heap: list[tuple[float, int]]) -> tuple[float, int] | None:
        keys = self._key
        while heap and keys.get(heap[0][1]) != heap[0][0]:
            heappop(heap)
        return heap[0] if heap else None


class StaticOrder(Policy):
    """A policy that is a queue and nothing else: by `orders_by`, ties by submission; `discipline`
    is which jobs may overtake one that does not fit."""

    def __init__(self, *, discipline: Literal["strict", "first_fit"] = "strict") -> None:
        self.kernel = KernelSpec("static", discipline)
        self._first_fit = discipline == "first_fit"

    def begin(self, cluster: ClusterView) -> None:
        self._gpus = cluster.jobs.gpus
        self._expectation = ExpectedDurations(cluster.jobs.expected)
        keys: dict[OrdersBy, Callable[[int], float]] = {
            "submission": cluster.jobs.queue_key.__getitem__,
            "duration": self._expectation.submitted,
            "service": self._expected_service,
        }
        self._key_of = keys[self.orders_by]
        self._queue: Queue = FirstFitQueue(cluster) if self._first_fit else StrictQueue(cluster)

    def arrived(self, job: int) -> None:
        self._queue.put(job, self._key_of(job))

    def changed(self, job: int) -> None:
        if self._queue.waits(job):
            self._queue.put(job, self._key_of(job))

    def ended(self, job: int) -> None:
        """The GPUs are free again; there is nothing else to note."""

    def evicted(self, job: int) -> None:
        """It arrives again when it can."""

    def decide(self) -> None:
        self._queue.start_fitting()

    def _expected_service(self, job: int) -> float:
        return self._expectation.submitted(job) * self._gpus[job]
