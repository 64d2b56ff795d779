"""Where simulated jobs run, and how fast: a pool of GPUs, nodes that can fail, GPUs of several
kinds.

GPUs are handed out by the gang and come back as they went.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Collection, Sequence
from typing import Protocol

from schedmate.policies.slurm_backfill import first_of_shortest_run

Place = tuple[tuple[int, int], ...]
"""Node and GPUs on it, for every node that a job is on."""


class Cluster(Protocol):
    @property
    def gpus(self) -> int:
        """GPUs that work, used or not."""

    @property
    def free(self) -> int: ...

    @property
    def kinds(self) -> Sequence[int]:
        """GPUs that work, by kind; one number where all are alike."""

    @property
    def node_gpus(self) -> Sequence[int]:
        """GPUs that work on each node; none where there are no nodes."""

    def kind_of(self, place: Place) -> int: ...

    def take(
        self, gpus: int, kind: int | None = None, excluded: Collection[int] = ()
    ) -> Place | None:
        """All of them, or None where they cannot be had together; of the first kind that has
        them where none is named, and on none of the excluded nodes."""

    def fits(self, gpus: int, kind: int | None = None, excluded: Collection[int] = ()) -> bool: ...

    def nodes_for(self, gpus: int) -> Sequence[int]:
        """Those that are up and large enough for a part of a job of that size."""

    def is_scattered(self, place: Place) -> bool:
        """Whether it is on more nodes than it need be."""

    def give_back(self, place: Place) -> None: ...

    def fail(self, node: int) -> None:
        """No job is placed there until it is repaired; those on it have been taken off."""

    def repair(self, node: int) -> None: ...


class _OneKind:
    """GPUs that are all alike."""

    gpus: int

    @property
    def kinds(self) -> Sequence[int]:
        return (self.gpus,)

    def kind_of(self, place: Place) -> int:  # noqa: ARG002 - all are alike
        return 0


class GpuPool(_OneKind):
    node_gpus: Sequence[int] = ()

    def __init__(self, gpus: int) -> None:
        self.gpus = gpus
        self.free = gpus

    def take(
        self,
        gpus: int,
        kind: int | None = None,  # noqa: ARG002 - all are alike
        excluded: Collection[int] = (),  # noqa: ARG002 - there are no nodes
    ) -> Place | None:
        if gpus > self.free:
            return None
        self.free -= gpus
        return ((0, gpus),)

    def fits(
        self,
        gpus: int,
        kind: int | None = None,  # noqa: ARG002 - all are alike
        excluded: Collection[int] = (),  # noqa: ARG002 - there are no nodes
    ) -> bool:
        return gpus <= self.free

    def nodes_for(self, gpus: int) -> Sequence[int]:  # noqa: ARG002 - there are no nodes
        return ()

    def is_scattered(self, place: Place) -> bool:  # noqa: ARG002 - there is one place to be
        return False

    def give_back(self, place: Place) -> None:
        self.free += place[0][1]

    def fail(self, node: int) -> None:
        raise ValueError(f"a pool has no node {node} that could fail")

    def repair(self, node: int) -> None:
        raise ValueError(f"a pool has no node {node} that could be repaired")


class Nodes(_OneKind):
    def __init__(self, sizes: Sequence[int], *, spread: bool = False) -> None:
        if not sizes or min(sizes) < 1:
            raise ValueError("a cluster needs nodes with at least one GPU each")
        self._sizes = tuple(sizes)
        self._left = list(sizes)
        self._down: set[int] = set()
        self._spread = spread
        self._largest = max(sizes)
        self.gpus = sum(sizes)
        self.free = self.gpus

    @property
    def node_gpus(self) -> Sequence[int]:
        return [0 if node in self._down else size for node, size in enumerate(self._sizes)]

    def take(
        self,
        gpus: int,
        kind: int | None = None,  # noqa: ARG002 - all are alike
        excluded: Collection[int] = (),
    ) -> Place | None:
        place = self._find(gpus, excluded)
        if place is not None:
            for node, count in place:
                self._left[node] -= count
            self.free -= gpus
        return place

    def fits(
        self,
        gpus: int,
        kind: int | None = None,  # noqa: ARG002 - all are alike
        excluded: Collection[int] = (),
    ) -> bool:
        return self._find(gpus, excluded) is not None

    def nodes_for(self, gpus: int) -> Sequence[int]:
        least = min(gpus, self._largest)
        return [
            node
            for node, size in enumerate(self._sizes)
            if size >= least and node not in self._down
        ]

    def is_scattered(self, place: Place) -> bool:
        gpus = sum(count for _, count in place)
        return len(place) > math.ceil(gpus / self._largest)

    def give_back(self, place: Place) -> None:
        for node, count in place:
            self._left[node] += count
            if node not in self._down:
                self.free += count

    def fail(self, node: int) -> None:
        if node not in self._down:
            self._down.add(node)
            self.gpus -= self._sizes[node]
            self.free -= self._left[node]

    def repair(self, node: int) -> None:
        if node in self._down:
            self._down.remove(node)
            self.gpus += self._sizes[node]
            self.free += self._left[node]

    def _find(self, gpus: int, excluded: Collection[int] = ()) -> Place | None:
        if gpus > self.free:
            return None
        shut = self._down.union(excluded) if excluded else self._down
        if gpus <= self._largest:
            together = self._on_one(gpus, shut)
        else:
            together = self._on_whole_ones(gpus, shut)
        return together or (self._collected(gpus, shut) if self._spread else None)

    def _on_one(self, gpus: int, shut: set[int]) -> Place | None:
        fitting = [
            (left, node)
            for node, left in enumerate(self._left)
            if left >= gpus and node not in shut
        ]
        return ((min(fitting)[1], gpus),) if fitting else None

    def _on_whole_ones(self, gpus: int, shut: set[int]) -> Place | None:
        place: list[tuple[int, int]] = []
        for node, left in enumerate(self._left):
            if gpus >= self._sizes[node] == left and node not in shut:
                place.append((node, left))
                gpus -= left
        if not gpus:
            return tuple(place)
        used = {node for node, _ in place}
        rest = [
            (left, node)
            for node, left in enumerate(self._left)
            if left >= gpus and node not in used and node not in shut
        ]
        return (*place, (min(rest)[1], gpus)) if rest else None

    def _collected(self, gpus: int, shut: set[int]) -> Place | None:
        fitting = sorted(
            (-left, node) for node, left in enumerate(self._left) if left and node not in shut
        )
        place = []
        for negative, node in fitting:
            count = min(gpus, -negative)
            place.append((node, count))
            gpus -= count
            if not gpus:
                return tuple(place)
        return None


class SlurmNodes(Nodes):
    """Placed as Slurm's select/cons_tres does by default, which is no best fit."""

    def _on_one(self, gpus: int, shut: set[int]) -> Place | None:
        fitting = [
            node for node, left in enumerate(self._left) if left >= gpus and node not in shut
        ]
        return ((first_of_shortest_run(fitting), gpus),) if fitting else None


class Kinds:
    """`parts` with the number of nodes of each; nodes are numbered through."""

    def __init__(self, parts: Sequence[tuple[Cluster, int]]) -> None:
        self._parts = [part for part, _ in parts]
        self._first = [sum(nodes for _, nodes in parts[:kind]) for kind in range(len(parts))]

    @property
    def gpus(self) -> int:
        return sum(part.gpus for part in self._parts)

    @property
    def free(self) -> int:
        return sum(part.free for part in self._parts)

    @property
    def kinds(self) -> Sequence[int]:
        return tuple(part.gpus for part in self._parts)

    @property
    def node_gpus(self) -> Sequence[int]:
        return [gpus for part in self._parts for gpus in part.node_gpus]

    def kind_of(self, place: Place) -> int:
        return self._of_node(place[0][0])

    def take(
        self, gpus: int, kind: int | None = None, excluded: Collection[int] = ()
    ) -> Place | None:
        for each in self._asked(kind):
            place = self._parts[each].take(gpus, None, self._within(each, excluded))
            if place is not None:
                return tuple((node + self._first[each], count) for node, count in place)
        return None

    def fits(self, gpus: int, kind: int | None = None, excluded: Collection[int] = ()) -> bool:
        return any(
            self._parts[each].fits(gpus, None, self._within(each, excluded))
            for each in self._asked(kind)
        )

    def nodes_for(self, gpus: int) -> Sequence[int]:
        return [
            node + first
            for part, first in zip(self._parts, self._first, strict=True)
            for node in part.nodes_for(gpus)
        ]

    def is_scattered(self, place: Place) -> bool:
        return self._parts[self.kind_of(place)].is_scattered(place)

    def give_back(self, place: Place) -> None:
        kind = self.kind_of(place)
        first = self._first[kind]
        self._parts[kind].give_back(tuple((node - first, count) for node, count in place))

    def fail(self, node: int) -> None:
        kind = self._of_node(node)
        self._parts[kind].fail(node - self._first[kind])

    def repair(self, node: int) -> None:
        kind = self._of_node(node)
        self._parts[kind].repair(node - self._first[kind])

    def _asked(self, kind: int | None) -> Sequence[int]:
        return range(len(self._parts)) if kind is None else (kind,)

    def _within(self, kind: int, nodes: Collection[int]) -> Collection[int]:
        return [node - self._first[kind] for node in nodes] if nodes else ()

    def _of_node(self, node: int) -> int:
        return bisect_right(self._first, node) - 1


class Physics(Protocol):
    def pace(self, job: int, gpus: int, companion: int | None, *, scattered: bool) -> float:
        """Work done in a second, 1 being alone and together on the GPUs it asked for."""

    def utilization(self, job: int) -> float:
        """The share of its GPUs' time that it uses when alone."""

    def memory_share(self, job: int) -> float:
        """The share of its GPUs' memory that it needs."""


_SCALING, _SHARED, _SCATTERED = 0.9, 0.5, 0.9
PLAIN_PACE = (
    "how a job fares on other GPUs than it asked for is unknown: its pace goes with their number "
    f"to the power of {_SCALING:g}, and a shared GPU gives each half"
)


class Plain:
    """Nothing is known of the jobs but their size.

    Fewer or more GPUs than asked for count with diminishing returns; a shared GPU is shared
    fairly with nothing gained; a scattered gang talks more slowly.
    """

    def __init__(self, gpus: Sequence[int], *, scaling: float = _SCALING) -> None:
        self._gpus = gpus
        self._scaling = scaling

    def pace(self, job: int, gpus: int, companion: int | None, *, scattered: bool) -> float:
        asked = self._gpus[job]
        pace = 1.0 if gpus == asked else float((gpus / asked) ** self._scaling)
        if companion is not None:
            pace *= _SHARED
        return pace * _SCATTERED if scattered else pace

    def utilization(self, job: int) -> float:  # noqa: ARG002 - the same of every job
        return 1.0

    def memory_share(self, job: int) -> float:  # noqa: ARG002 - the same of every job
        return 1.0
