"""How times scale, learnt from a site's past now and then, and kept with its history.

Slopes come from a robust regression on the differences of all pairs of past jobs of one kind, drawn
towards what was believed before; how rough the world is beyond them from what the pairs' durations
still differ by (a variogram). A kind with many configurations counts more than one with few, but
not by its square.

The similarity below which a run is no neighbour is tried on the past as well: each of the newest
runs is predicted from the nearest one before it, and from the median of its user's last ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from schedmate.advisor.predict.distances import comparable, differing, distances, similarity
from schedmate.advisor.predict.lengths import without_startup
from schedmate.advisor.predict.runs import (
    COMPLETED,
    PLACE,
    TRAITS,
    Columns,
    Configurations,
    Floats,
    Places,
    columns_of,
    grouped,
    repeat_variance,
    rows_of,
)
from schedmate.advisor.predict.scaling import (
    PRIOR,
    Ending,
    Scaling,
    Slope,
    slopes_of_task,
    with_slopes,
)
from schedmate.model import BadInput, History
from schedmate.model.sketch import WORDS
from schedmate.model.wire import dumps, loads

_NAME = "scaling/1"
_LOOKED_AT = 50_000
_ENDINGS: tuple[Ending, ...] = ("steps", "epochs", "open")


def learnt_scaling(history: History) -> Scaling:
    """What was learnt last; what we believe without any history, where nothing was."""
    return _read(history.learnt(_NAME))


def learn_again(history: History, *, at: float) -> Scaling:
    """Bounded: only the newest runs count, and of each kind only some."""
    scaling = learn_scaling(columns_of(rows_of(history.newest_sketches(_LOOKED_AT))))
    history.keep_learnt(_NAME, dumps(scaling), at=at)
    return scaling


def learn_scaling(runs: Columns) -> Scaling:
    """From runs that went well, each kind of ending by itself; the largest goes last and stays."""
    well = runs.take((runs.rows["ending"] == COMPLETED) & (runs.rows["duration"] > 0))
    parts = sorted(((_ending_with(well, each), each) for each in _ENDINGS), key=_size)
    scaling = PRIOR
    for part, ending in parts:
        if len(part):
            seconds, startup = part.rows["duration"].astype(float), part.rows["startup"]
            training = without_startup(seconds, startup.astype(float), 0.0)
            scaling = learn_from_pairs(grouped(part, training), ending, scaling)
    newest_first = well.take(np.argsort(-well.rows["end"], kind="stable"))
    return replace(scaling, no_match_below=learn_threshold(newest_first, scaling))


def _size(part: tuple[Columns, Ending]) -> int:
    return len(part[0])


def _ending_with(runs: Columns, ending: Ending) -> Columns:
    stated = {
        unit: ~np.isnan(runs.quantities[:, PLACE[unit]]) & (runs.rows["open_ended"] == 0)
        for unit in ("steps", "epochs")
    }
    if ending == "open":
        return runs.take(~stated["steps"] & ~stated["epochs"])
    return runs.take(stated[ending])


@lru_cache(maxsize=4)
def _read(body: str | None) -> Scaling:
    if body is None:
        return PRIOR
    try:
        return loads(Scaling, body)
    except BadInput:  # of another version, or damaged: it will be learnt again
        return PRIOR


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
    """Differences of the logarithms of the durations, beyond what their task explains."""
    weight: Floats
    kind: Places
    repeats: Floats
    """What repeating one of them, or the other, would change: 1/n + 1/m."""


def learn_from_pairs(found: Configurations, ending: Ending, scaling: Scaling = PRIOR) -> Scaling:
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
        differ = np.nan_to_num(found.columns.quantities[one] - found.columns.quantities[other])
        apart.append(differ)
        pair = found.columns.take(one), found.columns.take(other)
        unlike.append(np.column_stack([differing(*pair, place) for place in range(len(TRAITS))]))
        by_task = differ @ slopes_of_task(found.columns.take(members))
        longer.append(found.log_s[one] - found.log_s[other] - by_task)
        weight.append(_nearness(found.columns.take(members)))
        kind.append(np.full(len(one), each))
        repeats.append(1 / found.count[one] + 1 / found.count[other])
        if sum(map(len, longer)) > _MOST_PAIRS:
            break
    return _Pairs(
        np.vstack(apart),
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


_TRIED = 300
_BEFORE = 2000
_USUAL = 20
_ENOUGH = 40
_WORST = 3.0
"""An error (log) beyond this is no worse: far off is far off."""
_CLEARLY = 0.97
_GRID = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6)
_USER = WORDS.index("user")


def learn_threshold(runs: Columns, scaling: Scaling) -> float:
    """`runs` went well, newest first. What we believed, where there are too few."""
    tries = [
        tried
        for place in range(min(_TRIED, len(runs) - 1))
        if (tried := _tried(runs, place, scaling)) is not None
    ]
    if len(tries) < _ENOUGH:
        return PRIOR.no_match_below
    alike, matched, usual = (np.array(each) for each in zip(*tries, strict=True))
    losses = {each: float(np.where(alike >= each, matched, usual).mean()) for each in _GRID}
    best = min(losses, key=losses.__getitem__)
    worth_it = losses[best] < _CLEARLY * losses[PRIOR.no_match_below]
    return best if worth_it else PRIOR.no_match_below


def _tried(runs: Columns, place: int, scaling: Scaling) -> tuple[float, float, float] | None:
    """How similar the nearest earlier run was; by how much it was off; by how much the usual."""
    one, before = runs.take([place]), runs.take(slice(place + 1, place + 1 + _BEFORE))
    own = before.rows["words"][:, _USER] == one.rows["words"][0, _USER]
    other_day = before.rows["end"] <= one.rows["end"][0] - one.rows["duration"][0]
    if not (own & other_day).any():
        return None
    alike = similarity(*distances(one, before, scaling))[0]
    alike = np.where(comparable(one, before, scaling)[0] & other_day, alike, 0.0)
    nearest = int(np.argmax(alike))
    logs, real = _logs(before), float(_logs(one)[0])
    slopes = np.array([slope.mean for slope in scaling.slopes["open"]])
    apart = np.nan_to_num(one.quantities[0] - before.quantities[nearest])
    usual = float(np.median(logs[own & other_day][:_USUAL]))
    matched = float(logs[nearest] + slopes @ apart)
    return float(alike[nearest]), _off(matched, real), _off(usual, real)


def _off(predicted: float, real: float) -> float:
    return min(abs(predicted - real), _WORST)


def _logs(runs: Columns) -> Floats:
    return np.asarray(np.log(np.maximum(runs.rows["duration"].astype(float), 1e-3)))
