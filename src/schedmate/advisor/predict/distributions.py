"""Distributions of times: pmfs on a grid of logarithms, and quantiles of a few runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from schedmate.model import Spread
from schedmate.model.advice import Z90

Pmf: TypeAlias = NDArray[np.float32]
Weights: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.int64]

STEP = 0.1
SIZE = 180
"""Up to e^18 seconds, two years."""
_EDGES = np.arange(SIZE + 1) - 0.5
_COARSENESS = 0.5
"""A time lies in between two points: where many take exactly as long, p90 must not fall short."""


def place_of(seconds: float) -> float:
    """Where on the grid a time lies, between two of its points."""
    return min(math.log1p(max(seconds, 0.0)) / STEP, SIZE - 1.001)


def places_of(seconds: Weights) -> Places:
    """The points of the grid at or below those times."""
    places = np.log1p(np.maximum(seconds, 0.0)) / STEP
    return np.minimum(places, SIZE - 2).astype(np.int64)


def seconds_at(place: float) -> float:
    return math.expm1(place * STEP)


def blur(sigma: float) -> Pmf:
    """A matrix by which rows of mass are smeared; `sigma` is in logarithms."""
    points = np.arange(SIZE) * STEP
    kernel = np.exp(-0.5 * ((points[:, None] - points[None, :]) / sigma) ** 2)
    return np.asarray(kernel / kernel.sum(axis=1, keepdims=True), np.float32)


def below_of(mass: Pmf) -> Pmf:
    """What share of it lies below each of the edges between the points."""
    below = np.concatenate([np.zeros(1, np.float32), np.cumsum(mass)])
    return np.asarray(below / below[-1])


def share_below(below: Pmf, place: float) -> float:
    return float(np.interp(place, _EDGES, below))


def spread_of(below: Pmf, low_level: float = 0.1, high_level: float = 0.9) -> Spread:
    """The median, and around it the places below which those shares lie."""
    low, median, high = np.interp((low_level, 0.5, high_level), below, _EDGES).tolist()
    middle = min(max(median, low), high)
    outer = low - _COARSENESS, middle, high + _COARSENESS
    return Spread(*(max(0.0, seconds_at(place)) for place in outer))


def clipped(spread: Spread, bounds: tuple[float, float]) -> Spread:
    least, most = bounds
    return Spread(*(min(max(each, least), most) for each in astuple(spread)))


_BELIEF = 3.0
"""How many runs our expectation of the spread is worth."""
_WIDEST = 5.0
_ALIKE = math.log(2.0)


def quantile(values: Sequence[float], share: float) -> float:
    """Linear between the neighbours; `values` has at least one."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def median(values: NDArray[np.float64], *, apart: float = math.inf) -> float:
    """As numpy's, which takes ten times as long for a few values. Where the two in the middle are
    farther `apart`, it is the lower one: half-way between two humps lies no middle."""
    ordered = np.sort(values)
    below, above = ordered[(len(values) - 1) // 2], ordered[len(values) // 2]
    return float((below + above) / 2 if above - below <= apart else below)


def empirical(values: Sequence[float]) -> Spread:
    """Half-way between two humps lies no middle: then it is in the lower one."""
    low, middle, high = (quantile(values, level) for level in (0.1, 0.5, 0.9))
    below = sorted(values)[(len(values) - 1) // 2]
    middle = middle if middle <= 2 * below else below
    return Spread(min(low, middle), middle, high)


def middle_of(logs: Weights, weights: Weights) -> float:
    """The mean of the middle half, by weight, of those within a factor of two of the median: single
    runs do not move it, and between two humps it lies in the heavier one."""
    order = np.argsort(logs)
    logs, below = logs[order], np.cumsum(weights[order])
    median = logs[np.searchsorted(below, below[-1] / 2)]
    share = np.where(np.abs(logs - median) <= _ALIKE, weights[order], 0.0)
    below = np.cumsum(share) / share.sum()
    inner = np.clip(below, 0.25, 0.75) - np.clip(below - share / share.sum(), 0.25, 0.75)
    return float(logs @ inner / inner.sum())


def reaching(spread: Spread, values: Weights, weights: Weights) -> Spread:
    """Wide enough for eight tenths, by weight, of those values: of two humps for both."""
    order = np.argsort(values)
    below = np.cumsum(weights[order])
    places = np.searchsorted(below, below[-1] * np.array([0.1, 0.9]))
    least, most = values[order][np.minimum(places, len(values) - 1)].tolist()
    return Spread(min(spread.p10, least), spread.p50, max(spread.p90, most))


def of_runs(durations: Sequence[float], *, expected: float) -> Spread:
    """Of one more such run; `expected` is the spread (log) that we would guess. Never narrower than
    these are, and each side of the middle has its own width."""
    seen = empirical(durations)
    wide = around(seen.p50, [each / seen.p50 for each in durations], expected=expected)
    return Spread(min(seen.p10, wide.p10), seen.p50, max(seen.p90, wide.p90))


def around(p50: float, ratios: Sequence[float], *, expected: float) -> Spread:
    """`ratios` are real over fitted durations; `expected` the spread (log) we would guess. Each
    side has its own width."""
    logs = np.log([ratio for ratio in ratios if ratio > 0])
    freedom = _BELIEF + len(logs)

    def width(side: Weights) -> float:
        variance = (_BELIEF * expected**2 + 2 * float(side @ side)) / freedom
        return Z90 * min(math.sqrt(variance * (1 + 1 / max(1, len(logs)))), _WIDEST)

    below, above = width(np.minimum(logs, 0.0)), width(np.maximum(logs, 0.0))
    return Spread(p50 * math.exp(-below), p50, p50 * math.exp(above))


def forget_oldest(known: dict[str, Any], most: int) -> None:
    """Those that were added or renewed first."""
    while len(known) > most:
        del known[next(iter(known))]
