"""Letting a waiting job share the GPUs of one that leaves them mostly idle.

Both need consent, and what both need was measured on runs of the same code: never hoped for. Two
that slow each other down are parted: the younger one is queued again, at its checkpoint where it
has any.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedmate.core.scope import is_opted_out

if TYPE_CHECKING:
    from schedmate.model import Job, JobId

_WORD = re.compile(r"(?:^|[\s,;])schedmate=(shareable|keep)(?=$|[\s,;])", re.IGNORECASE)


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

    def consents(self, job: Job) -> bool:
        words = {word.lower() for word in _WORD.findall(job.comment)}
        if "keep" in words or is_opted_out(job):
            return False
        named = set((job.request.partition or "").split(","))
        return "shareable" in words or named <= self.partitions or job.request.qos in self.qos

    def leaves_room(self, use: GpuUse | None) -> bool:
        if use is None or use.runs < 1:
            return False
        return use.memory <= self.memory and use.utilization <= self.utilization


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A run that leaves room on its GPUs and shares them with nobody yet."""

    job_id: JobId
    gpus: int
    left_s: float
    """How long it is expected to go on."""
    utilization: float


def choose_host(gpus: int, left_s: float, hosts: Iterable[Host]) -> Host | None:
    """Beside which of these a waiting job that asks for so many GPUs fits: on just as many, where
    both use them least; of equal ones the one that ends nearest to it."""
    fitting = (host for host in hosts if host.gpus == gpus)
    return min(
        fitting, key=lambda host: (host.utilization, abs(host.left_s - left_s)), default=None
    )
