"""A job's duration from those of its neighbours: slopes for what differs, nearness for the rest.

Universal kriging (a Gaussian process with a linear trend) on logarithms. The trend's slopes start
at what all history taught and bend to what the neighbours show; what the slopes leave over is taken
from the nearest neighbours. Slopes alone extrapolate, and are bounded; the weights of the
neighbours are not negative and sum to one. So the answer lies among the neighbours' times, each
scaled to this job. The variance is that of one more run. Runs that fit to nothing around them lose
their vote.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schedmate.advisor.predict.distances import LOCAL, WORKLOAD, distances
from schedmate.advisor.predict.distributions import median
from schedmate.advisor.predict.runs import (
    Columns,
    Configurations,
    Flags,
    Floats,
    repeat_variance,
)
from schedmate.advisor.predict.scaling import Ending, Scaling, slopes_of_task

_ANYTHING = 25.0
"""Variance of the duration of a job of which nothing is known."""
_ODD = 2.0
_NO_FLUKE = 3
_ROUNDS = 3
_STEEPEST = 2.0
"""Standard deviations that the neighbours may bend a slope by."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The median and the standard deviation of the logarithm of one more run's time."""

    log_s: float
    sd: float
    weights: Floats
    """How much each configuration counts: not negative, the sum is one."""
    scaled: Floats
    """Each configuration's time, scaled to this job, in logarithms; `log_s` lies among them."""


@dataclass(frozen=True, slots=True)
class _Fit:
    """Slopes that bend to the configurations, with the noise that each of them is given."""

    noise: Floats
    among: Floats
    bending: Floats
    slopes: Floats


class Kriging:
    """Configurations, at least one, ready to predict any number of jobs."""

    def __init__(self, found: Configurations, scaling: Scaling, ending: Ending) -> None:
        self._found, self._scaling = found, scaling
        slopes = scaling.slopes[ending]
        self._slopes = np.array([slope.mean for slope in slopes]) + slopes_of_task(found.columns)
        self._doubt = np.array([slope.sd**2 + slope.varies**2 for slope in slopes])
        known = found.columns.quantities
        stated = ~np.isnan(known)
        self._usable = stated.any(axis=0)
        self._middle = np.nansum(known, axis=0) / np.maximum(stated.sum(axis=0), 1)
        self._trend = np.where(stated, known - self._middle, 0.0)
        self._alike = _covariance(*distances(found.columns, found.columns, scaling))
        self._among = self._alike + (self._trend * self._doubt) @ self._trend.T
        self._repeat = repeat_variance(found, scaling.repeat)
        self._noise = scaling.noise + self._repeat / found.count
        rest = found.log_s - self._trend @ self._slopes
        self._rest = rest - median(rest)
        self._fits: dict[int | None, _Fit] = {}

    def at(self, query: Columns, apart: tuple[Floats, Floats] | None = None) -> Estimate:
        """`apart` are the distances to the configurations, where they are known.

        What the job differs in from all of them (a new name, changed code) does not say which of
        them is nearer, so it does not move the weights; it makes the answer less sure.
        """
        wanted = query.quantities[0] - self._middle
        wanted[np.isnan(wanted) | ~self._usable] = 0.0
        if apart is None:
            apart = distances(query, self._found.columns, self._scaling)
        by_words, by_numbers = apart[0].ravel(), apart[1].ravel()
        here = _covariance(by_words, by_numbers) + self._trend @ (self._doubt * wanted)
        near = _covariance(by_words - by_words.min(), by_numbers)
        fit = self._fit(int(here.argmax()))
        weights = _interpolating(self._alike, fit.noise, near)
        scaled = self._found.log_s + (wanted - self._trend) @ fit.slopes
        counted = weights + (wanted - weights @ self._trend) @ fit.bending
        itself = LOCAL + WORKLOAD + _ANYTHING + float(self._doubt @ wanted**2)
        variance = itself + float(counted @ fit.among @ counted - 2 * here @ counted)
        least = self._scaling.noise + self._repeat
        return Estimate(
            log_s=min(max(float(weights @ scaled), float(scaled.min())), float(scaled.max())),
            sd=float(np.sqrt(max(variance, 0.0) + least)),
            weights=weights,
            scaled=scaled,
        )

    def _fit(self, nearest: int) -> _Fit:
        """The nearest, if it ran several times, is no fluke: the world has changed since the
        others."""
        trusted = nearest if self._found.count[nearest] >= _NO_FLUKE else None
        fit = self._fits.get(trusted)
        if fit is None:
            fluke = np.ones(len(self._found), bool)
            fluke[nearest] = trusted is None
            noise = _without_odd_ones(self._among, self._rest, self._noise, fluke)
            among = self._among + np.diag(noise)
            bending = np.linalg.solve(among, self._trend * self._doubt).T
            most = _STEEPEST * np.sqrt(self._doubt)
            bent = np.minimum(np.maximum(bending @ self._rest, -most), most)
            fit = self._fits[trusted] = _Fit(noise, among, bending, self._slopes + bent)
        return fit


def _interpolating(alike: Floats, noise: Floats, near: Floats) -> Floats:
    """Weights of small variance that sum to one; those that would be negative are left out."""
    weights, kept = np.zeros(len(near)), np.arange(len(near))
    among = alike + np.diag(noise)
    right = np.ones((len(near), 2))
    right[:, 0] = near
    while True:
        plain, level = np.linalg.solve(among, right).T
        some = plain + level * (1 - plain.sum()) / level.sum()
        if len(kept) == 1 or some.min() >= 0:
            weights[kept] = some
            return weights
        left = some > 0
        kept, among, right = kept[left], among[left][:, left], right[left]


def _covariance(by_words: Floats, by_numbers: Floats) -> Floats:
    kind = WORKLOAD * np.exp(-by_words / WORKLOAD)
    return _ANYTHING + kind + LOCAL * np.exp(-(by_words + by_numbers) / LOCAL)


def _without_odd_ones(among: Floats, rest: Floats, noise: Floats, fluke: Flags) -> Floats:
    """The noise of each, raised where the others would never have expected it."""
    raised = noise
    for _ in range(_ROUNDS if len(rest) > 2 else 0):  # noqa: PLR2004 - of two, neither is odd
        inverse = np.linalg.inv(among + np.diag(raised))
        share = inverse.diagonal()
        missed = inverse @ rest / share
        usual = np.sqrt(np.maximum(1 / share - raised, 0.0) + noise)
        odd = fluke & (np.abs(missed) > _ODD * usual)
        now = np.where(odd, np.maximum(missed**2, noise), noise)
        if (now == raised).all():
            break
        raised = now
    return raised
