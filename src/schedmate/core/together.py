"""Work that one user submits together counts as one piece, however many jobs it is split into.

Otherwise whoever cuts a long job into short ones would stand before whoever does not. Each job
counts with those that came before it and cost no more than twice as much: the last of equal parts
stands where the whole would, and a short job does not stand behind a long one of its owner. What
of it has run already still counts.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from schedmate.model import array_of

if TYPE_CHECKING:
    from schedmate.model import Job, JobId

WITHIN_S = 3600.0
"""Of the first one of them. Parts a quarter of an hour apart still gain where it is ten minutes; a
longer one gains nothing, and costs the order more."""


@dataclass(frozen=True, slots=True)
class Share:
    """What a job counts with: that is known when it is first counted, and stays."""

    jobs: int
    cost: float


ALONE = Share(jobs=0, cost=0.0)


@dataclass(slots=True)
class _Batch:
    user: str
    since: float
    jobs: Counter[int] = field(default_factory=Counter)
    """By the power of two of their cost."""
    costs: defaultdict[int, float] = field(default_factory=lambda: defaultdict(float))
    members: dict[JobId, Share] = field(default_factory=dict)

    def count(self, job_id: JobId, cost: float, tasks: int) -> Share:
        power = math.frexp(cost)[1]
        within = [each for each in self.jobs if each <= power + 1]
        others = sum(self.jobs[each] for each in within)
        before = sum(self.costs[each] for each in within)
        self.jobs[power] += tasks
        self.costs[power] += cost * tasks
        share = Share(others + tasks - 1, before + cost * (tasks - 1))
        self.members[job_id] = share
        return share


class Batches:
    """Of all users; every job belongs to one from its first cost on."""

    def __init__(self) -> None:
        self._of_job: dict[JobId, _Batch] = {}
        self._of_user: dict[str, list[_Batch]] = {}

    def share_of(self, job: Job, cost: float) -> Share:
        """What it counts with beside its own cost."""
        for counted in (job.id, array_of(job.id) or ""):
            if counted in self._of_job:
                return self._of_job[counted].members[counted]
        batches = self._of_user.setdefault(job.user, [])
        near = (one for one in batches if abs(job.submit_time - one.since) <= WITHIN_S)
        batch = next(near, None)
        if batch is None:
            batch = _Batch(job.user, job.submit_time)
            batches.append(batch)
        self._of_job[job.id] = batch
        return batch.count(job.id, cost, max(1, job.tasks))

    def forget(self, job_id: JobId) -> None:
        batch = self._of_job.pop(job_id, None)
        if batch is None:
            return
        del batch.members[job_id]
        if not batch.members:
            left = [one for one in self._of_user.pop(batch.user) if one is not batch]
            if left:
                self._of_user[batch.user] = left
