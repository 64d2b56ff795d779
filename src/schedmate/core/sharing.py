"""Which jobs may share GPUs: by consent, and by what runs of the same code were measured to use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedmate.core.scope import REFUSALS, owner_words

if TYPE_CHECKING:
    from schedmate.model import Job


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuUse:
    """What runs of the same code were measured to need of each GPU, the most of all of them."""

    memory: float
    """Share of the memory."""
    utilization: float
    """Share of the time."""
    runs: int
    """That were measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharingLimits:
    """Without a partition or QOS only jobs share whose owner has said so."""

    partitions: frozenset[str] = frozenset()
    qos: frozenset[str] = frozenset()
    memory: float = 0.45
    utilization: float = 0.5
    """Each of the two may need so much at most."""
    least_pace: float = 0.7
    """Of its pace alone: below it the two are parted."""
    hardly_begun_s: float = 1800.0
    """So much work is lost by parting them at most."""

    def consents(self, job: Job) -> bool:
        words = owner_words(job)
        if words & REFUSALS:
            return False
        named = set((job.request.partition or "").split(","))
        return "shareable" in words or named <= self.partitions or job.request.qos in self.qos

    def leaves_room(self, use: GpuUse | None) -> bool:
        if use is None or use.runs < 1:
            return False
        return use.memory <= self.memory and use.utilization <= self.utilization
