"""The Gittins index of a foretold run time, by how long the job has run already.

The run time is taken to be log-normal around what was foretold, but for one job in seven, of which
the prediction may be far off: without them, one that outlives a sure prediction would be thought
to end at any moment for ever.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import erf, sqrt

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_STEP = 0.1
_LEAST, _MOST = 0.1, 2.5
_FAR_OFF = 1 / 7
_FAR_OFF_SIGMA = 1.0
"""Added to the doubt."""
_SHARES = np.array([0.01, 0.03, 0.07, 0.15, 0.3, 0.5, 0.7, 0.85, 0.93, 0.97, 0.99, 0.997])
"""Ages are looked at by which these shares of such jobs have ended."""
_GRID = 800


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """For a job foretold to run for 1: from these ages on it has these ranks, the first from the
    start. A rank is the inverse of the index: low goes first."""

    ages: Array
    ranks: Array


AGES = len(_SHARES)


def ranks_of(doubt: float) -> Ranks:
    """Of the nearest tenth of doubt."""
    return _ranks(round(min(max(doubt, _LEAST), _MOST) / _STEP))


@cache
def _ranks(tenths: int) -> Ranks:
    sigma = tenths * _STEP
    times = np.exp(np.linspace(-5.0, 6.0, _GRID) * (sigma + _FAR_OFF_SIGMA))
    ended = np.array([_ended_by(time, sigma) for time in times.tolist()])
    ages = np.interp(_SHARES, ended, times)
    ranks = [_rank(age, times, ended, sigma) for age in (0.0, *ages.tolist())]
    return Ranks(ages, np.array(ranks))


def _rank(age: float, times: Array, ended: Array, sigma: float) -> float:
    """The least service for an end: what is expected over the chance, over all times to stop."""
    later = times > age
    stops = np.concatenate([[age], times[later]])
    share = np.concatenate([[_ended_by(age, sigma)], ended[later]])
    left = 1.0 - share
    service = np.cumsum((left[1:] + left[:-1]) / 2 * np.diff(stops))
    chance = np.maximum(share[1:] - share[0], 1e-12)
    return float(np.min(service / chance))


def _ended_by(time: float, sigma: float) -> float:
    if time <= 0.0:
        return 0.0
    close, far = _below(time, sigma), _below(time, sigma + _FAR_OFF_SIGMA)
    return (1 - _FAR_OFF) * close + _FAR_OFF * far


def _below(time: float, sigma: float) -> float:
    return 0.5 * (1.0 + erf(float(np.log(time)) / sigma / sqrt(2.0)))
