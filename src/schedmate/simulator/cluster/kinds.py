"""GPUs of several kinds, each in a cluster of its own: a job runs on one kind at a time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from schedmate.simulator.cluster.base import Cluster, Place


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

    def kind_of(self, place: Place) -> int:
        return self._of_node(place[0][0])

    def take(self, gpus: int, kind: int | None = None) -> Place | None:
        for each in self._asked(kind):
            place = self._parts[each].take(gpus)
            if place is not None:
                return tuple((node + self._first[each], count) for node, count in place)
        return None

    def fits(self, gpus: int, kind: int | None = None) -> bool:
        return any(self._parts[each].fits(gpus) for each in self._asked(kind))

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

    def _of_node(self, node: int) -> int:
        return bisect_right(self._first, node) - 1
