"""Distributions of times: mass on a grid of logarithms, a tenth apart."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from schedmate.model import Spread

Mass: TypeAlias = NDArray[np.float32]
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


def blur(sigma: float) -> Mass:
    """A matrix by which rows of mass are smeared; `sigma` is in logarithms."""
    points = np.arange(SIZE) * STEP
    kernel = np.exp(-0.5 * ((points[:, None] - points[None, :]) / sigma) ** 2)
    return np.asarray(kernel / kernel.sum(axis=1, keepdims=True), np.float32)


def below_of(mass: Mass) -> Mass:
    """What share of it lies below each of the edges between the points."""
    below = np.concatenate([np.zeros(1, np.float32), np.cumsum(mass)])
    return np.asarray(below / below[-1])


def share_below(below: Mass, place: float) -> float:
    return float(np.interp(place, _EDGES, below))


def spread_of(below: Mass, low_level: float = 0.1, high_level: float = 0.9) -> Spread:
    """The median, and around it the places below which those shares lie."""
    low, median, high = np.interp((low_level, 0.5, high_level), below, _EDGES).tolist()
    middle = min(max(median, low), high)
    outer = low - _COARSENESS, middle, high + _COARSENESS
    return Spread(*(max(0.0, seconds_at(place)) for place in outer))
