"""Scaling learnt from pairs of past jobs of one kind: what differed, and how much longer it took.

Slopes come from a robust regression on the differences of all pairs, drawn towards what we believed
before; how rough the world is beyond them from what the pairs' durations still differ by (a
variogram). A kind with many configurations counts more than one with few, but not by its square.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from schedmate.advisor.predict.distances import differing, distances
from schedmate.advisor.predict.runs import (
    TRAITS,
    Columns,
    Configurations,
    Floats,
    Places,
    repeat_variance,
)
from schedmate.advisor.predict.scaling import (
    PRIOR,
    Ending,
    Scaling,
    Slope,
    with_slopes,
)
from schedmate.model.sketch import WORDS

_KIND = [WORDS.index(word) for word in ("model", "dataset", "entry_point", "task")]
_OWN = [WORDS.index(word) for word in ("user", "name")]
_MOST = 60
"""Configurations of one kind that are compared, the newest first."""
_MOST_PAIRS = 60_000
_ROUNDS = 10
_ODD = 1.5
_ODD_SQUARE = 1.0
"""Times what was expected that the square of one leftover counts at most: the world has tails."""
_USUAL_SQUARE = 0.516
"""What the square of a normal leftover is then on average."""
_WIDEST = 0.5
_SMALLEST = 1e-5
_QUIETEST = 5e-5
"""No two configurations are closer than about one per cent, whatever a few pairs say."""
_BELIEF = 3.0
_STEPS = 100


@dataclass(frozen=True, slots=True)
class _Pairs:
    apart: Floats
    """Differences of the quantities, 0 where one of the two does not state it."""
    unlike: Floats
    """From 0 to 1, whether they differ in a trait."""
    longer: Floats
    """Differences of the logarithms of the durations."""
    weight: Floats
    kind: Places
    repeats: Floats
    """What repeating one of them, or the other, would change: 1/n + 1/m."""


def learn(found: Configurations, ending: Ending, scaling: Scaling = PRIOR) -> Scaling:
    """`found` are configurations whose length is stated as `ending` says."""
    pairs = _pairs(found)
    if len(pairs.longer) == 0:
        return scaling
    repeat = repeat_variance(found, scaling.repeat)
    now = replace(scaling, repeat=repeat, learnt_from=len(found))
    for _ in range(_ROUNDS):
        slopes = _slopes(pairs, now, scaling.slopes[ending], ending)
        now = _rougher(pairs, with_slopes(now, ending, slopes), scaling, ending)
    return with_slopes(now, ending, _varying(pairs, now, scaling.slopes[ending], ending))


def _pairs(found: Configurations) -> _Pairs:
    kinds = _kinds(found.columns)
    apart, unlike, longer, weight, kind, repeats = [], [], [], [], [], []
    for each in np.unique(kinds):
        members = np.flatnonzero(kinds == each)
        members = members[np.argsort(-found.columns.rows["end"][members])][:_MOST]
        one, other = np.triu_indices(len(members), 1)
        one, other = members[one], members[other]
        apart.append(found.columns.quantities[one] - found.columns.quantities[other])
        pair = found.columns.take(one), found.columns.take(other)
        unlike.append(np.column_stack([differing(*pair, place) for place in range(len(TRAITS))]))
        longer.append(found.log_s[one] - found.log_s[other])
        weight.append(_nearness(found.columns.take(members)))
        kind.append(np.full(len(one), each))
        repeats.append(1 / found.count[one] + 1 / found.count[other])
        if sum(map(len, longer)) > _MOST_PAIRS:
            break
    return _Pairs(
        np.nan_to_num(np.vstack(apart)),
        np.vstack(unlike),
        *map(np.concatenate, (longer, weight, kind, repeats)),
    )


def _nearness(members: Columns) -> Floats:
    """Of each pair: neighbours say most of how a job follows from those nearest to it.

    They sum to the number of members.
    """
    apart = np.sum(distances(members, members, PRIOR), axis=0)
    rank = np.argsort(np.argsort(apart, axis=1), axis=1)
    near = 1.0 / np.maximum(np.minimum(rank, rank.T), 1)
    pairs = near[np.triu_indices(len(members), 1)]
    return np.asarray(pairs * len(members) / max(pairs.sum(), 1e-9))


def _kinds(columns: Columns) -> Places:
    """By what they are; of whom nothing is read, by whose they are and how they are called."""
    words = columns.rows["words"]
    what = words[:, _KIND]
    nameless = np.asarray(~what.any(axis=1))
    key = np.where(nameless[:, None], np.pad(words[:, _OWN], ((0, 0), (0, 2))), what)
    return np.unique(np.column_stack([key, nameless]), axis=0, return_inverse=True)[1].ravel()


def _variance(pairs: _Pairs, scaling: Scaling) -> Floats:
    rough = np.abs(pairs.apart) @ np.array(scaling.rough)
    rough = rough + pairs.unlike @ np.array(scaling.unlike)
    rough = 2 * (scaling.noise + np.minimum(rough, _WIDEST))
    return np.asarray(rough + scaling.repeat * pairs.repeats)


def _slopes(
    pairs: _Pairs, now: Scaling, believed: tuple[Slope, ...], ending: Ending
) -> tuple[Slope, ...]:
    mean = np.array([slope.mean for slope in now.slopes[ending]])
    variance = _variance(pairs, now)
    off = np.abs(pairs.longer - pairs.apart @ mean) / np.sqrt(variance)
    weight = pairs.weight / variance / np.maximum(1.0, off / _ODD) ** 2
    mean, certainty = _regression(pairs.apart, pairs.longer, weight, believed)
    return tuple(
        Slope(float(each), float(1 / np.sqrt(sure)), slope.varies)
        for each, sure, slope in zip(mean, certainty, believed, strict=True)
    )


def _regression(
    apart: Floats, longer: Floats, weight: Floats, believed: tuple[Slope, ...]
) -> tuple[Floats, Floats]:
    """Slopes, and the diagonal of how sure they are."""
    prior = np.array([1 / slope.sd**2 for slope in believed])
    start = np.array([slope.mean for slope in believed])
    weighted = apart * weight[:, None]
    normal = weighted.T @ apart + np.diag(prior)
    return np.linalg.solve(normal, weighted.T @ longer + prior * start), np.diag(normal)


def _rougher(pairs: _Pairs, now: Scaling, believed: Scaling, ending: Ending) -> Scaling:
    """Non-negative regression of squared leftovers on how far apart the pairs are."""
    mean = np.array([slope.mean for slope in now.slopes[ending]])
    left = (pairs.longer - pairs.apart @ mean) ** 2 - now.repeat * pairs.repeats
    parts = np.column_stack([np.ones(len(left)), np.abs(pairs.apart), pairs.unlike])
    start = np.array([believed.noise, *believed.rough, *believed.unlike])
    start = np.maximum(start, _SMALLEST)  # what was learnt to be nothing is not believed for ever
    value = np.array([now.noise, *now.rough, *now.unlike])
    expected = np.maximum(parts @ value, _SMALLEST)
    left = np.clip(left / 2, 0.0, np.minimum(_WIDEST, _ODD_SQUARE * expected)) / _USUAL_SQUARE
    weight = pairs.weight / expected**2
    weighted = parts * weight[:, None]
    pull = np.diag(_BELIEF / start**2)
    normal, moment = weighted.T @ parts + pull, weighted.T @ left + pull @ start
    for _ in range(_STEPS):  # multiplicative updates stay positive
        value = value * moment / np.maximum(normal @ value, 1e-12)
    noise, rough, unlike = np.split(value, [1, 1 + len(now.rough)])
    return replace(
        now,
        noise=max(float(noise[0]), _QUIETEST),
        rough=tuple(rough.tolist()),
        unlike=tuple(unlike.tolist()),
    )


def _varying(
    pairs: _Pairs, now: Scaling, believed: tuple[Slope, ...], ending: Ending
) -> tuple[Slope, ...]:
    """How much the slopes of single kinds differ from those of all."""
    overall = now.slopes[ending]
    around = tuple(replace(slope, sd=old.sd) for slope, old in zip(overall, believed, strict=True))
    mean = np.array([slope.mean for slope in overall])
    prior = np.array([1 / slope.sd**2 for slope in believed])
    squares = _BELIEF * np.array([slope.varies**2 for slope in believed])
    votes = np.full(len(mean), _BELIEF)
    weight = pairs.weight / _variance(pairs, now)
    for kind in np.unique(pairs.kind):
        its = pairs.kind == kind
        own, sure = _regression(pairs.apart[its], pairs.longer[its], weight[its], around)
        share = 1 - prior / sure
        squares += share * (own - mean) ** 2
        votes += share
    varies = np.sqrt(squares / votes)
    return tuple(
        replace(slope, varies=float(each)) for slope, each in zip(overall, varies, strict=True)
    )
