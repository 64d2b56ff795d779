"""How fast a job runs where it runs: what nature does, whatever a policy believes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Physics(Protocol):
    def pace(self, job: int, gpus: int, companion: int | None, *, scattered: bool) -> float:
        """Work done in a second, 1 being alone and together on the GPUs it asked for."""

    def utilization(self, job: int) -> float:
        """The share of its GPUs' time that it uses when alone."""

    def memory_share(self, job: int) -> float:
        """The share of its GPUs' memory that it needs."""


class Plain:
    """Nothing is known of the jobs but their size.

    Fewer or more GPUs than asked for count with diminishing returns; a shared GPU is shared
    fairly with nothing gained; a scattered gang talks more slowly.
    """

    def __init__(
        self, gpus: Sequence[int], *, scaling: float = 0.9, scattered: float = 0.9
    ) -> None:
        self._gpus = gpus
        self._scaling = scaling
        self._scattered = scattered

    def pace(self, job: int, gpus: int, companion: int | None, *, scattered: bool) -> float:
        asked = self._gpus[job]
        pace = 1.0 if gpus == asked else float((gpus / asked) ** self._scaling)
        if companion is not None:
            pace *= 0.5
        return pace * self._scattered if scattered else pace

    def utilization(self, job: int) -> float:  # noqa: ARG002 - the same of every job
        return 1.0

    def memory_share(self, job: int) -> float:  # noqa: ARG002 - the same of every job
        return 1.0
