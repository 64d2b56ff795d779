"""Who waits, by standing, and the first of a size who would be done by a time.

For each number of GPUs a tree of the shortest plans, so that nobody walks through a long line.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from schedmate.policies.disciplines.plans import plan_s
from schedmate.policies.disciplines.standing import Standing
from schedmate.policies.world import Seen


class ShortEnough:
    def __init__(self, jobs: Seen, standing: Standing) -> None:
        self._gpus = jobs.gpus
        self._planned = jobs.planned
        members: dict[int, list[int]] = {}
        self._place = [0] * len(jobs.gpus)
        for job in standing.job_at:
            same = members.setdefault(jobs.gpus[job], [])
            self._place[job] = len(same)
            same.append(job)
        self._members = members
        self._trees = {gpus: _ShortestTree(len(same)) for gpus, same in members.items()}

    def put(self, job: int) -> None:
        self._trees[self._gpus[job]].set(self._place[job], plan_s(self._planned[job]))

    def remove(self, job: int) -> None:
        self._trees[self._gpus[job]].set(self._place[job], math.inf)

    def sizes(self, most: int) -> Iterable[int]:
        """Those of which somebody waits, up to so many GPUs."""
        return [
            gpus for gpus, tree in self._trees.items() if gpus <= most and tree.shortest < math.inf
        ]

    def first(self, gpus: int, now: float, by: float) -> int | None:
        """The first of that size who, started now, would be done by then."""
        place = self._trees[gpus].first(now, by)
        return None if place is None else self._members[gpus][place]

    def first_of_all(self, gpus: int) -> int | None:
        return self.first(gpus, 0.0, 1e300)


class _ShortestTree:
    """A binary tree in a list: the root at 1, a plan for each who waits at the leaves."""

    def __init__(self, count: int) -> None:
        self._leaves = 1 << max(0, count - 1).bit_length()
        self._least = [math.inf] * (2 * self._leaves)

    @property
    def shortest(self) -> float:
        return self._least[1]

    def set(self, place: int, plan: float) -> None:
        least = self._least
        node = place + self._leaves
        least[node] = plan
        while node > 1:
            node >>= 1
            shorter = min(least[2 * node], least[2 * node + 1])
            if least[node] == shorter:
                return
            least[node] = shorter

    def first(self, now: float, by: float) -> int | None:
        least = self._least
        if now + least[1] > by:
            return None
        node = 1
        while node < self._leaves:
            node *= 2
            if now + least[node] > by:
                node += 1
        return node - self._leaves
