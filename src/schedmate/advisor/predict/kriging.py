"""One job's duration from those of jobs around it: slopes for what differs, nearness for the rest.

Universal kriging (a Gaussian process with a linear trend) on logarithms. The trend's slopes start
at what all history taught and bend to what the matches show; what the slopes leave over is taken
from the nearest matches. Slopes alone extrapolate, and are bounded; the weights of the matches are
not negative and sum to one. So the answer lies among the matches' times, each scaled to this job.
The variance is that of one more run. Runs that fit to nothing around them lose their vote.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schedmate.advisor.predict.closeness import LOCAL, WORKLOAD, distances
from schedmate.advisor.predict.columns import Columns, Flags, Floats
from schedmate.advisor.predict.configurations import Configurations, repeat_variance
from schedmate.advisor.predict.scaling import Ending, Scaling

_ANYTHING = 25.0
"""Variance of the duration of a job of which nothing is known."""
_ODD = 2.0
_NO_FLUKE = 3
_ROUNDS = 3
_STEEPEST = 2.0
"""Standard deviations that the matches may bend a slope by."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The median and the standard deviation of the logarithm of one more run's time."""

    log_s: float
    sd: float
    weights: Floats
    """How much each configuration counts: not negative, the sum is one."""
    scaled: Floats
    """Each configuration's time, scaled to this job, in logarithms; `log_s` lies among them."""


def krige(query: Columns, found: Configurations, scaling: Scaling, ending: Ending) -> Estimate:
    """`query` is one row; `found` has at least one.

    What the job differs in from all of them (a new name, changed code) does not say which of them
    is nearer, so it does not move the weights; it makes the answer less sure.
    """
    trend, wanted = _centred(found.columns.quantities, query.quantities[0])
    slopes = scaling.slopes[ending]
    mean = np.array([slope.mean for slope in slopes])
    doubt = np.array([slope.sd**2 + slope.varies**2 for slope in slopes])
    alike = _covariance(*distances(found.columns, found.columns, scaling))
    among = alike + (trend * doubt) @ trend.T
    by_words, by_numbers = distances(query, found.columns, scaling)
    here = _covariance(by_words, by_numbers)[0] + trend @ (doubt * wanted)
    near = _covariance(by_words - by_words.min(), by_numbers)[0]
    repeat = repeat_variance(found, scaling.repeat)
    noise = scaling.noise + repeat / found.count
    rest = found.log_s - trend @ mean
    usual = float(np.median(rest))
    fluke = np.ones(len(found), bool)
    nearest = here.argmax()
    fluke[nearest] = found.count[nearest] < _NO_FLUKE
    noise = _without_odd_ones(among, rest - usual, noise, fluke)
    among = among + np.diag(noise)
    bending = np.linalg.solve(among, trend * doubt).T
    most = _STEEPEST * np.sqrt(doubt)
    bent = mean + np.clip(bending @ (rest - usual), -most, most)
    weights = _interpolating(alike + np.diag(noise), near)
    scaled = found.log_s + (wanted - trend) @ bent
    counted = weights + (wanted - weights @ trend) @ bending
    itself = LOCAL + WORKLOAD + _ANYTHING + float(doubt @ wanted**2)
    variance = itself + float(counted @ among @ counted - 2 * here @ counted)
    least = scaling.noise + repeat
    return Estimate(
        log_s=float(np.clip(weights @ scaled, scaled.min(), scaled.max())),
        sd=float(np.sqrt(max(variance, 0.0) + least)),
        weights=weights,
        scaled=scaled,
    )


def _interpolating(among: Floats, near: Floats) -> Floats:
    """Weights of small variance that sum to one; those that would be negative are left out.

    `among` has the noise on its diagonal.
    """
    weights, kept = np.zeros(len(near)), np.arange(len(near))
    while True:
        both = np.column_stack([near[kept], np.ones(len(kept))])
        plain, level = np.linalg.solve(among[np.ix_(kept, kept)], both).T
        some = plain + level * (1 - plain.sum()) / level.sum()
        if len(kept) == 1 or (some >= 0).all():
            weights[kept] = some
            return weights
        kept = kept[some > 0]


def _centred(known: Floats, wanted: Floats) -> tuple[Floats, Floats]:
    """Around the mean; what is not stated is as the others are."""
    stated = ~np.isnan(known)
    middle = np.nansum(known, axis=0) / np.maximum(stated.sum(axis=0), 1)
    usable = stated.any(axis=0)
    return (
        np.where(stated & usable, known - middle, 0.0),
        np.where(np.isnan(wanted) | ~usable, 0.0, wanted - middle),
    )


def _covariance(by_words: Floats, by_numbers: Floats) -> Floats:
    kind = WORKLOAD * np.exp(-by_words / WORKLOAD)
    return _ANYTHING + kind + LOCAL * np.exp(-(by_words + by_numbers) / LOCAL)


def _without_odd_ones(among: Floats, rest: Floats, noise: Floats, fluke: Flags) -> Floats:
    """The noise of each, raised where the others would never have expected it.

    But the nearest, if it ran several times, is no fluke: the world has changed since the others.
    """
    raised = noise
    for _ in range(_ROUNDS if len(rest) > 2 else 0):  # noqa: PLR2004 - of two, neither is odd
        inverse = np.linalg.inv(among + np.diag(raised))
        share = np.diag(inverse)
        missed = inverse @ rest / share
        usual = np.sqrt(np.maximum(1 / share - raised, 0.0) + noise)
        odd = fluke & (np.abs(missed) > _ODD * usual)
        raised = np.where(odd, np.maximum(missed**2, noise), noise)
    return raised
