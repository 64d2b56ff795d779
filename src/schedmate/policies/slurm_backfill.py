"""What Slurm's backfill plans with in one cycle: free GPUs in time, and reservations.

A reservation takes whole nodes, as in Slurm's `node_space` table; a job that shares a node may
start there only if its limit ends before the reservation begins. Running jobs end at their limits,
in windows that double: within one, the last end counts for all of them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from schedmate.policies.disciplines import FreeProfile

_FIRST_WINDOW_S = 30.0
Place = Sequence[tuple[int, int]]
"""Node and GPUs on it."""


def first_of_shortest_run(nodes: Sequence[int]) -> int:
    """Which of several nodes, in order, Slurm takes for a job of one node: of the groups of
    neighbouring ones the smallest, equal ones in order, and its first."""
    best, begin = (math.inf, nodes[0]), 0
    for place, node in enumerate(nodes):
        if place + 1 == len(nodes) or nodes[place + 1] != node + 1:
            length = place + 1 - begin
            if length < best[0]:
                best = (length, nodes[begin])
            begin = place + 1
    return best[1]


class BackfillPlan(Protocol):
    """One cycle's plan."""

    def earliest(self, gpus: int, limit_s: float) -> tuple[float, frozenset[int]]:
        """When so many GPUs are planned to be free for so long, and on which nodes; infinite and
        none where that is never. Without nodes the set is empty."""

    def closed(self, limit_s: float) -> Collection[int]:
        """Nodes on which a job of that limit may not start now."""

    def reserve(self, gpus: int, nodes: frozenset[int], begin: float, end: float) -> None: ...

    def started(self, gpus: int, place: Place, ends: float) -> None:
        """A job was started in this cycle."""


class NodePlan:
    """Of a cluster with nodes."""

    def __init__(
        self, now: float, node_gpus: Sequence[int], running: Sequence[tuple[float, Place]]
    ) -> None:
        self._now = now
        self._sizes = np.asarray(node_gpus, dtype=np.int64)
        self._largest = int(self._sizes.max(initial=0))
        self._running = list(running)
        self._reserved: list[tuple[float, float, NDArray[np.bool_]]] = []
        self._build()

    def _build(self) -> None:
        """How many GPUs are free on each node, now and after each window of ends."""
        free = self._sizes.copy()
        for _, place in self._running:
            for node, gpus in place:
                free[node] -= gpus
        self._times, self._free = [self._now], [free.copy()]
        window, base = _FIRST_WINDOW_S, -math.inf
        ends = sorted(self._running, key=lambda each: each[0])
        for position, (end, place) in enumerate(ends):
            if base == -math.inf:
                base = (end // window + 1) * window
            for node, gpus in place:
                free[node] += gpus
            last = position + 1 == len(ends)
            if last or ends[position + 1][0] > base + window:
                self._times.append(max(end, self._now))
                self._free.append(free.copy())
                window *= 2
                while not last and ends[position + 1][0] > base + window:
                    window *= 2

    def earliest(self, gpus: int, limit_s: float) -> tuple[float, frozenset[int]]:
        begin = self._now
        while True:
            usable = self._usable(begin, begin + limit_s)
            start, nodes = self._will_run(gpus, usable)
            later = self._next_change(begin)
            if later == math.inf or start <= max(later, self._now):
                return start, nodes
            begin = later

    def _usable(self, begin: float, end: float) -> NDArray[np.bool_]:
        usable = self._sizes > 0
        for since, until, nodes in self._reserved:
            if since <= end and until > begin:
                usable &= ~nodes
        return usable

    def _will_run(self, gpus: int, usable: NDArray[np.bool_]) -> tuple[float, frozenset[int]]:
        for time, free in zip(self._times, self._free, strict=True):
            nodes = self._fitting(gpus, np.where(usable, free, 0))
            if nodes is not None:
                return time, nodes
        return math.inf, frozenset()

    def _fitting(self, gpus: int, free: NDArray[np.int64]) -> frozenset[int] | None:
        if gpus <= self._largest:
            enough = np.flatnonzero(free >= gpus).tolist()
            return frozenset({first_of_shortest_run(enough)}) if enough else None
        whole = np.flatnonzero((free == self._sizes) & (free == self._largest))
        needed = math.ceil(gpus / self._largest)
        return frozenset(whole[:needed].tolist()) if len(whole) >= needed else None

    def _next_change(self, begin: float) -> float:
        """When the next reservation ends: other nodes are usable then."""
        return min((until for _, until, _ in self._reserved if until > begin), default=math.inf)

    def closed(self, limit_s: float) -> Collection[int]:
        return np.flatnonzero(~self._usable(self._now, self._now + limit_s)).tolist()

    def reserve(self, gpus: int, nodes: frozenset[int], begin: float, end: float) -> None:  # noqa: ARG002
        taken = np.zeros(len(self._sizes), dtype=np.bool_)
        taken[list(nodes)] = True
        self._reserved.append((begin, end, taken))

    def started(self, gpus: int, place: Place, ends: float) -> None:  # noqa: ARG002 - in the place
        self._running.append((ends, place))
        self._build()


class PoolPlan:
    """Of GPUs without nodes: reservations take the GPUs that were asked for."""

    def __init__(self, now: float, free: int, running: Sequence[tuple[float, int]]) -> None:
        self._now = now
        freed = sorted((max(end, now), gpus) for end, gpus in running)
        self._profile = FreeProfile(now, free, freed)

    def earliest(self, gpus: int, limit_s: float) -> tuple[float, frozenset[int]]:
        return self._profile.earliest(gpus, limit_s), frozenset()

    def closed(self, limit_s: float) -> Collection[int]:  # noqa: ARG002 - there are no nodes
        return ()

    def reserve(self, gpus: int, nodes: frozenset[int], begin: float, end: float) -> None:  # noqa: ARG002
        # of rounded times GPUs may be taken that another reservation has for some seconds
        self._profile.reserve(gpus, max(begin, self._now), max(end, self._now))

    def started(self, gpus: int, place: Place, ends: float) -> None:  # noqa: ARG002
        self._profile.reserve(gpus, self._now, ends)
