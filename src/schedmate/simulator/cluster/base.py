"""The contract of a cluster: GPUs are handed out by the gang and come back as they went."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

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

    def kind_of(self, place: Place) -> int: ...

    def take(self, gpus: int, kind: int | None = None) -> Place | None:
        """All of them, or None where they cannot be had together; of the first kind that has
        them where none is named."""

    def fits(self, gpus: int, kind: int | None = None) -> bool: ...

    def is_scattered(self, place: Place) -> bool:
        """Whether it is on more nodes than it need be."""

    def give_back(self, place: Place) -> None: ...

    def fail(self, node: int) -> None:
        """Nobody is placed there until it is repaired; who is on it has been taken off."""

    def repair(self, node: int) -> None: ...
