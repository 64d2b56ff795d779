"""One pool of GPUs: who asks for no more than are free gets them."""

from __future__ import annotations

from collections.abc import Sequence

from schedmate.simulator.cluster.base import Place


class Pool:
    def __init__(self, gpus: int) -> None:
        self.gpus = gpus
        self.free = gpus

    @property
    def kinds(self) -> Sequence[int]:
        return (self.gpus,)

    def kind_of(self, place: Place) -> int:  # noqa: ARG002 - all are alike
        return 0

    def take(self, gpus: int, kind: int | None = None) -> Place | None:  # noqa: ARG002 - all are alike
        if gpus > self.free:
            return None
        self.free -= gpus
        return ((0, gpus),)

    def fits(self, gpus: int, kind: int | None = None) -> bool:  # noqa: ARG002 - all are alike
        return gpus <= self.free

    def is_scattered(self, place: Place) -> bool:  # noqa: ARG002 - there is one place to be
        return False

    def give_back(self, place: Place) -> None:
        self.free += place[0][1]

    def fail(self, node: int) -> None:
        raise ValueError(f"a pool has no node {node} that could fail")

    def repair(self, node: int) -> None:
        raise ValueError(f"a pool has no node {node} that could be repaired")
