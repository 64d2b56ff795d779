"""How fast jobs run together on a GPU, or on other GPUs than they asked for, as meant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from schedmate.simulator.synthetic.levers import JobLevers
from schedmate.simulator.synthetic.projects import bank
from schedmate.simulator.synthetic.workload import SyntheticWorkload

GPU_MEMORY_MB = 40_000.0
_SCATTERED = 0.68
"""Of the pace of a gang that is together: the median of Gavel's P100 rows (0.42 on its V100s)."""
_LEAST = 0.2

_TYPES = (
    "ResNet-18 (batch size 128)",
    "ResNet-50 (batch size 64)",
    "Transformer (batch size 64)",
    "LM (batch size 20)",
    "Recommendation (batch size 2048)",
    "CycleGAN",
    "A3C",
)
_BESIDE = (
    (0.78, 0.64, 1.0, 1.0, 0.92, 0.81, 1.0),
    (0.73, 0.5, 0.58, 0.69, 0.59, 0.57, 0.67),
    (0.52, 0.21, 0.74, 0.75, 0.72, 0.56, 0.67),
    (0.57, 0.38, 0.81, 0.65, 0.86, 0.62, 0.65),
    (0.44, 0.21, 0.69, 0.83, 0.31, 0.31, 1.0),
    (0.47, 0.25, 0.68, 0.73, 0.49, 0.62, 0.71),
    (0.61, 0.23, 0.86, 0.5, 0.69, 0.64, 0.51),
)
"""Gavel's measured throughputs on a V100: of a row's job beside a column's, 1 being alone."""


class WorkloadPhysics:
    """Fulfils `Physics`."""

    def __init__(self, workload: SyntheticWorkload, gpus: Sequence[int]) -> None:
        self._gpus = gpus
        self._exponent = workload.gpu_exponent.tolist()
        self._utilization = workload.utilization.tolist()
        self._memory = (workload.memory_mb / GPU_MEMORY_MB).clip(0.0, 1.0).tolist()
        self._project = workload.submission.project.tolist()
        places = {name: place for place, name in enumerate(_TYPES)}
        self._type = [places.get(project.gavel or "", -1) for project in bank()]

    def pace(self, job: int, gpus: int, companion: int | None, *, scattered: bool) -> float:
        asked = self._gpus[job]
        pace = 1.0 if gpus == asked else float((gpus / asked) ** self._exponent[job])
        if companion is not None:
            pace *= self._beside(job, companion)
        return pace * _SCATTERED if scattered else pace

    def utilization(self, job: int) -> float:
        return float(self._utilization[job])

    def memory_share(self, job: int) -> float:
        return float(self._memory[job])

    def _beside(self, job: int, other: int) -> float:
        """Measured where both are among Gavel's; else each gets on as far as the GPU has time."""
        mine, theirs = (self._type[self._project[each]] for each in (job, other))
        if mine >= 0 and theirs >= 0:
            return _BESIDE[mine][theirs]
        wanted = self._utilization[job] + self._utilization[other]
        return float(max(_LEAST, min(1.0, 1.0 / wanted)))


class Physics(Protocol):
    """As `engine.cluster` has it."""

    def pace(self, job: int, gpus: int, companion: int | None, *, scattered: bool) -> float: ...

    def utilization(self, job: int) -> float: ...

    def memory_share(self, job: int) -> float: ...


class SharedPaces:
    """The same physics, where jobs that may share have paces of their own beside each other."""

    def __init__(self, plain: Physics, levers: JobLevers) -> None:
        self._plain = plain
        self._levers = levers

    def pace(self, job: int, gpus: int, companion: int | None, *, scattered: bool) -> float:
        shares = self._levers.shareable
        if companion is None or not (shares[job] and shares[companion]):
            return self._plain.pace(job, gpus, companion, scattered=scattered)
        alone = self._plain.pace(job, gpus, None, scattered=scattered)
        return alone * self._levers.pace(job, companion)

    def utilization(self, job: int) -> float:
        return self._plain.utilization(job)

    def memory_share(self, job: int) -> float:
        return self._plain.memory_share(job)
