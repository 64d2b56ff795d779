"""From a few durations to p10, p50 and p90 that are as wide as few runs deserve."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from schedmate.model import Spread

_Z90 = 1.2816
_BELIEF = 3.0
"""How many runs our expectation of the spread is worth."""
_WIDEST = 5.0
LONGEST_S = 1e8
"""Three years: no answer is longer."""


def quantile(values: Sequence[float], share: float) -> float:
    """Linear between the neighbours; `values` has at least one."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def median(values: NDArray[np.float64]) -> float:
    """As numpy's, which takes ten times as long for a few values."""
    ordered, half = np.sort(values), len(values) // 2
    return float(ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2)


def empirical(values: Sequence[float]) -> Spread:
    return Spread(quantile(values, 0.1), quantile(values, 0.5), quantile(values, 0.9))


def around(p50: float, ratios: Sequence[float], *, expected: float) -> Spread:
    """`ratios` are real over fitted durations; `expected` the spread (log) we would guess."""
    logs = [math.log(ratio) for ratio in ratios if ratio > 0]
    seen = sum(value * value for value in logs)
    variance = (_BELIEF * expected**2 + seen) / (_BELIEF + len(logs))
    sigma = min(math.sqrt(variance * (1 + 1 / max(1, len(logs)))), _WIDEST)
    return Spread(p50 * math.exp(-_Z90 * sigma), p50, p50 * math.exp(_Z90 * sigma))


def at_most(spread: Spread, seconds: float) -> Spread:
    return Spread(min(spread.p10, seconds), min(spread.p50, seconds), min(spread.p90, seconds))
