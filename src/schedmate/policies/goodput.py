"""How fast a job would go with more or fewer GPUs, by what was seen of it.

Goodput is throughput times statistical efficiency: progress, which is what `World.pace` measures. A
job of a trace keeps its batch size, so that its efficiency is the same with any number of GPUs.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Seed = Callable[[int, int], float]
"""The pace that is foretold of a job on so many GPUs, 1 being those it asked for; `nan` where
nothing is."""


class Goodputs:
    """A second of work takes `a / GPUs + b`: what is shared out and what is not (Pollux' step time
    with nothing overlapped). Before two numbers of GPUs were seen `b` is 0: perfect scaling, as
    Pollux and Sia assume of what they have not tried. A seed says it before anything was tried."""

    def __init__(self, asked: list[int], seed: Seed | None = None) -> None:
        self._asked = asked
        self._seed = seed
        self._seen: dict[int, dict[int, float]] = {}
        self._fit: dict[int, tuple[float, float]] = {}

    def observe(self, job: int, gpus: int, pace: float) -> bool:
        """Whether that is news."""
        seen = self._seen.setdefault(job, {})
        if seen.get(gpus) == pace:
            return False
        seen[gpus] = pace
        self._fit[job] = _fit(seen)
        return True

    def seeded(self, job: int) -> bool:
        """Whether its paces were foretold."""
        return self._seed is not None and not math.isnan(self._seed(job, self._asked[job]))

    def of(self, job: int, counts: Ints) -> Floats:
        """With each of these numbers of GPUs."""
        tried_one = len(self._seen.get(job, ())) <= 1
        if tried_one and self._seed is not None and self.seeded(job):
            return np.array([self._seed(job, gpus) for gpus in counts.tolist()])
        shared, fixed = self._fit.get(job, (float(self._asked[job]), 0.0))
        goodputs: Floats = 1.0 / (shared / counts + fixed)
        return goodputs

    def forget(self, job: int) -> None:
        self._seen.pop(job, None)
        self._fit.pop(job, None)


def _fit(seen: dict[int, float]) -> tuple[float, float]:
    """Least squares of both parts, neither below zero."""
    part = 1.0 / np.array(list(seen), dtype=np.float64)
    time = 1.0 / np.array(list(seen.values()))
    through_zero = float(part @ time / (part @ part))
    spread = part - part.mean()
    if not spread.any():
        return through_zero, 0.0
    shared = float(spread @ time / (spread @ spread))
    fixed = float(time.mean() - shared * part.mean())
    if shared <= 0.0:
        return 0.0, float(time.mean())
    return (shared, fixed) if fixed > 0.0 else (through_zero, 0.0)
