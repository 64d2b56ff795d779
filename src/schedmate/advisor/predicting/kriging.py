"""One job's duration from those of jobs around it: slopes for what differs, nearness for the rest.

Universal kriging (a Gaussian process with a linear trend) on logarithms. The trend's slopes start
at what all history taught and bend to what the matches show; what the slopes leave over is taken
from the nearest matches. The variance is that of one more run. Runs that fit to nothing around them
lose their vote.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schedmate.advisor.predicting.closeness import LOCAL, WORKLOAD, distances
from schedmate.advisor.predicting.columns import Columns, Flags, Floats
from schedmate.advisor.predicting.configurations import Configurations, repeat_variance
from schedmate.advisor.predicting.scaling import Ending, Scaling

_ANYTHING = 25.0
"""Variance of the duration of a job of which nothing is known."""
_ODD = 2.0
_NO_FLUKE = 3
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Estimate:
    """`weights` say how much each configuration counted; they sum to about one."""

    log_s: float
    sd: float
    weights: Floats


def krige(query: Columns, found: Configurations, scaling: Scaling, ending: Ending) -> Estimate:
    """`query` is one row; `found` has at least one.

    What the job differs in from all of them (a new name, changed code) does not say which of them
    is nearer; it makes the answer less sure.
    """
    trend, wanted = _centred(found.columns.quantities, query.quantities[0])
    slopes = scaling.slopes[ending]
    mean = np.array([slope.mean for slope in slopes])
    doubt = np.array([slope.sd**2 + slope.varies**2 for slope in slopes])
    among = _covariance(*distances(found.columns, found.columns, scaling))
    among = among + (trend * doubt) @ trend.T
    by_words, by_numbers = distances(query, found.columns, scaling)
    apart = float(by_words.min())
    here = _covariance(by_words - apart, by_numbers)[0] + trend @ (doubt * wanted)
    repeat = repeat_variance(found, scaling.repeat)
    noise = scaling.noise + repeat / found.count
    rest = found.log_s - trend @ mean
    usual = float(np.median(rest))
    rest = rest - usual
    fluke = np.ones(len(found), bool)
    fluke[here.argmax()] = found.count[here.argmax()] < _NO_FLUKE
    noise = _without_odd_ones(among, rest, noise, fluke)
    weights = np.linalg.solve(among + np.diag(noise), here)
    itself = LOCAL + WORKLOAD + _ANYTHING + float(doubt @ wanted**2)
    variance = itself - float(here @ weights) + apart + scaling.noise + repeat
    return Estimate(
        log_s=usual + float(weights @ rest + mean @ wanted),
        sd=float(np.sqrt(max(variance, scaling.noise))),
        weights=weights,
    )


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
