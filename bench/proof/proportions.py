"""Shares with their 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

_Z = 1.96
_DRAWS = 2000


@dataclass(frozen=True, slots=True)
class Proportion:
    """So many of so many, with Wilson's interval."""

    part: int
    whole: int

    @property
    def share(self) -> float:
        return self.part / self.whole if self.whole else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        if not self.whole:
            return 0.0, 1.0
        spread = _Z**2 / self.whole
        middle = (self.share + spread / 2) / (1 + spread)
        half = math.sqrt(self.share * (1 - self.share) * spread + spread**2 / 4) / (1 + spread)
        return max(middle - half, 0.0), min(middle + half, 1.0)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.part} of {self.whole} = {self.share:.1%} ({low:.1%} to {high:.1%})"

    def as_json(self) -> dict[str, float]:
        low, high = self.interval
        return {**asdict(self), "share": self.share, "low": low, "high": high}


def weighted_share(
    chosen: Sequence[bool], weights: Sequence[float]
) -> tuple[float, tuple[float, float]]:
    """The share of the weight that the chosen ones hold, with a bootstrapped interval."""
    mine, all_of_it = np.asarray(chosen, dtype=float), np.asarray(weights, dtype=float)
    draws = np.random.default_rng(0).integers(0, len(mine), (_DRAWS, len(mine)))
    sums = all_of_it[draws].sum(axis=1)
    shares = (mine * all_of_it)[draws].sum(axis=1) / np.maximum(sums, 1e-9)
    low, high = np.quantile(shares, (0.025, 0.975))
    return float((mine * all_of_it).sum() / all_of_it.sum()), (float(low), float(high))
