"""Which jobs may share GPUs: by consent, and by what runs of the same code were measured to use."""

from __future__ import annotations

from dataclasses import dataclass

from schedmate.core.scope import SiteConsent


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredUse:
    """What runs of the same code were measured to need of each GPU, the most of all of them."""

    memory: float
    """Share of the memory."""
    utilization: float
    """Share of the time."""
    runs: int
    """That were measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharingLimits(SiteConsent):
    """Without a partition or QOS only jobs share whose owner has said so."""

    word = "shareable"
    allows = "share GPUs"
    memory: float = 0.45
    utilization: float = 0.5
    """Each of the two may need so much at most."""
    least_pace: float = 0.7
    """Of its pace alone: below it the two are parted."""
    hardly_begun_s: float = 1800.0
    """So much work is lost by parting them at most; 0: only at a checkpoint from which the younger
    one is proven to go on."""

    def leaves_room(self, use: MeasuredUse | None) -> bool:
        if use is None or use.runs < 1:
            return False
        return use.memory <= self.memory and use.utilization <= self.utilization


def half_of(shards: int) -> int:
    """How many of a GPU's parts a job asks for so that two fit on it and no third one does; 0 where
    there is no such number."""
    half = shards // 2
    return half if 3 * half > shards else 0
