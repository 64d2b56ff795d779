"""Nodes with GPUs: a gang is kept together, and a node can fail.

A job that a node can hold gets a part of one node, the one it fills best; a larger one gets whole
nodes and a part of one more. With `spread`, what cannot be had together is collected from the
emptiest nodes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from schedmate.simulator.cluster.base import Place


class Nodes:
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
    def kinds(self) -> Sequence[int]:
        return (self.gpus,)

    def kind_of(self, place: Place) -> int:  # noqa: ARG002 - all are alike
        return 0

    def take(self, gpus: int, kind: int | None = None) -> Place | None:  # noqa: ARG002 - all are alike
        place = self._find(gpus)
        if place is not None:
            for node, count in place:
                self._left[node] -= count
            self.free -= gpus
        return place

    def fits(self, gpus: int, kind: int | None = None) -> bool:  # noqa: ARG002 - all are alike
        return self._find(gpus) is not None

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

    def _find(self, gpus: int) -> Place | None:
        if gpus > self.free:
            return None
        together = self._on_one(gpus) if gpus <= self._largest else self._on_whole_ones(gpus)
        return together or (self._collected(gpus) if self._spread else None)

    def _on_one(self, gpus: int) -> Place | None:
        rooms = [
            (left, node)
            for node, left in enumerate(self._left)
            if left >= gpus and node not in self._down
        ]
        return ((min(rooms)[1], gpus),) if rooms else None

    def _on_whole_ones(self, gpus: int) -> Place | None:
        place: list[tuple[int, int]] = []
        for node, left in enumerate(self._left):
            if gpus >= self._sizes[node] == left and node not in self._down:
                place.append((node, left))
                gpus -= left
        if not gpus:
            return tuple(place)
        used = {node for node, _ in place}
        rest = [
            (left, node)
            for node, left in enumerate(self._left)
            if left >= gpus and node not in used and node not in self._down
        ]
        return (*place, (min(rest)[1], gpus)) if rest else None

    def _collected(self, gpus: int) -> Place:
        rooms = sorted(
            (-left, node) for node, left in enumerate(self._left) if left and node not in self._down
        )
        place = []
        for negative, node in rooms:
            count = min(gpus, -negative)
            place.append((node, count))
            gpus -= count
            if not gpus:
                break
        return tuple(place)
