"""Which waiting jobs start before which, and how many jobs a waiting one competes with."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

from schedmate.model import Job, JobState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schedmate.model import JobId

    Turn = tuple[float, float, tuple[int, ...]]

NEVER = {
    "DependencyNeverSatisfied": "never starts: a job that it depends on did not end as it asks",
    "BadConstraints": "never starts: no node has what it asks for",
}
OWN_CONDITION = {
    "Dependency": "for another job that it depends on",
    "BeginTime": "for its start time",
}
"""Reasons that have nothing to do with the queue."""


class QueueOrder:
    """The queue at one time, sorted once for all who ask for their place in it."""

    def __init__(self, queue: Iterable[Job], now: float) -> None:
        self._running: Counter[frozenset[str]] = Counter()
        self._turns: dict[frozenset[str], list[Turn]] = defaultdict(list)
        for job in queue:
            if job.state is JobState.RUNNING:
                self._running[_partitions(job.request.partition)] += 1
            elif may_start(job, now):
                self._turns[_partitions(job.request.partition)].append(turn(job))
        for turns in self._turns.values():
            turns.sort()

    def before(self, job: Job) -> tuple[int, int]:
        """How many jobs run and wait before a waiting job, in the partitions that it names.

        A scheduler with priorities has partitions, a local queue none. A job may name several and
        starts in the first that has room.
        """
        own = None if job.priority is None else _partitions(job.request.partition)

        def compete(other: frozenset[str]) -> bool:
            return own is None or not own.isdisjoint(other)

        place = turn(job)
        running = sum(count for named, count in self._running.items() if compete(named))
        rivals = (turns for named, turns in self._turns.items() if compete(named))
        return running, sum(bisect_left(turns, place) for turns in rivals)


@lru_cache(maxsize=1000)
def _partitions(named: str | None) -> frozenset[str]:
    return frozenset((named or "").split(","))


def may_start(job: Job, now: float) -> bool:
    """Whether it waits for its turn and nothing else."""
    own_condition = bool(job.dependency) or job.reason in OWN_CONDITION or job.reason in NEVER
    later = job.eligible_time is not None and job.eligible_time > now
    return job.state is JobState.PENDING and not (job.held or own_condition or later)


def turn(job: Job) -> Turn:
    """Smaller ones start first; ids decide between jobs of the same second."""
    first = job.nice if job.priority is None else -job.priority
    return first, job.submit_time, numbers_in(job.id)


@lru_cache(maxsize=20_000)
def numbers_in(job_id: JobId) -> tuple[int, ...]:
    """By which ids are sorted: 9 before 10, 10_2 before 10_10."""
    return tuple(map(int, re.findall("[0-9]+", job_id)))


def queue_place(job: Job) -> tuple[object, ...]:
    """The key of a queue: what runs by its start, what waits by its turn, then the newest end."""
    if job.state is JobState.RUNNING:
        return 0, job.start_time or 0.0, numbers_in(job.id)
    if job.state is JobState.PENDING:
        return 1, *turn(job)
    return 2, -(job.end_time or job.submit_time), numbers_in(job.id)
