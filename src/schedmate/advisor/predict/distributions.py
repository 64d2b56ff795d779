"""Distributions of times: pmfs on a grid of logarithms, and quantiles of a few runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple
from typing import TypeAlias

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
    return Spread(p50 * math.exp(-Z90 * sigma), p50, p50 * math.exp(Z90 * sigma))
