"""From which similarity on a match says more than what jobs of the user usually take.

Tried on the site's own past: each of its newest runs is predicted from the nearest one before it,
and from the middle of its user's last ones. Below the threshold that would have been best, matches
are none.
"""

from __future__ import annotations

import numpy as np

from schedmate.advisor.predict.distances import comparable, distances, similarity
from schedmate.advisor.predict.runs import Columns, Floats
from schedmate.advisor.predict.scaling import PRIOR, Scaling
from schedmate.model.sketch import WORDS

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


def _off(said: float, real: float) -> float:
    return min(abs(said - real), _WORST)


def _logs(runs: Columns) -> Floats:
    return np.asarray(np.log(np.maximum(runs.rows["duration"].astype(float), 1e-3)))
