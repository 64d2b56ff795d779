"""What the stated length of runs is worth: in steps or epochs, beside start-up, or nothing."""

from __future__ import annotations

import math

import numpy as np

from schedmate.advisor.predict.distributions import median
from schedmate.advisor.predict.neighbours import Neighbours
from schedmate.advisor.predict.runs import PLACE, Columns, Flags, Floats
from schedmate.advisor.predict.scaling import Ending, Scaling

_SAME = 1e-5
"""Logarithms of two lengths that differ by less were rounded."""
_LENGTHS: tuple[Ending, ...] = ("steps", "epochs")
_OF_THE_MACHINE = [
    place for name, place in PLACE.items() if name not in ("steps", "epochs", "year")
]
_TELLING = 1.5
"""Lengths nearer to each other than this say little about start-up."""
_MOST = 30
_AT_MOST = 0.9
"""Of a run's time can be start-up."""
_CLEARLY, _SHORT = 3.0, 2.0


def ending_of(neighbours: Neighbours) -> Ending:
    """What this job and some of those of the tier state their length in.

    Steps end a run before epochs do; but where only the epochs differ, they tell the length.
    """
    sketch = neighbours.sketch
    stated = [unit for unit in _LENGTHS if not math.isnan(sketch.number(unit))]
    if sketch.open_ended or not stated:
        return "open"
    tier = neighbours.telling & neighbours.pool.bounded[neighbours.which]
    shared: list[Ending] = []
    telling: list[Ending] = []
    for unit in stated:
        known = neighbours.runs.quantities[tier, PLACE[unit]]
        if (known == known).any():  # noqa: PLR0124 - not NaN
            shared.append(unit)
            if (np.abs(known - sketch.number(unit)) > _SAME).any():
                telling.append(unit)
    return next(iter(telling or shared), "open")


def usable(neighbours: Neighbours, ending: Ending) -> Flags:
    """Those that count and whose length is known."""
    usable = neighbours.counted.copy()
    if ending != "open":
        usable &= ~np.isnan(neighbours.runs.quantities[:, PLACE[ending]])
        usable &= neighbours.pool.bounded[neighbours.which]
    return usable


def training_s(runs: Columns, in_tier: Flags, ending: Ending) -> tuple[Floats, float]:
    """What each took after start-up, and the start-up to expect."""
    seconds, known = runs.rows["duration"].astype(float), runs.rows["startup"].astype(float)
    lengths = None if ending == "open" else np.exp(runs.quantities[in_tier, PLACE[ending]])
    if lengths is not None and not _one_machine(runs.quantities[in_tier]):
        lengths = None
    usual = startup_s(lengths, seconds[in_tier], known[in_tier])
    return without_startup(seconds, known, usual), usual


def _one_machine(quantities: Floats) -> bool:
    """Lengths tell start-up only where nothing else makes runs longer."""
    rest = np.nan_to_num(quantities[:, _OF_THE_MACHINE])
    return bool(len(rest) and (rest == rest[0]).all())


def with_meant_length(neighbours: Neighbours, scaling: Scaling) -> Neighbours:
    """Those of its user or its code alone, and their length left aside, where these took as long
    whatever they stated."""
    ending = ending_of(neighbours)
    if ending == "open":
        return neighbours
    rows = neighbours.runs.rows
    trained = ~(rows["startup"] > rows["duration"] / 2)
    of_the_code = neighbours.of_nearly_the_code & trained & usable(neighbours, ending)
    for members in (neighbours.own & of_the_code, of_the_code):
        lengths = neighbours.runs.quantities[members, PLACE[ending]]
        if len(lengths) and lengths.max() - lengths.min() >= math.log(_TELLING):
            if _follow(neighbours.runs.take(members), ending, scaling):
                return neighbours
            return neighbours.without_length(members, ending)
    return neighbours


def _follow(runs: Columns, ending: Ending, scaling: Scaling) -> bool:
    """Whether their times differ less once divided by their lengths, or hardly more: who states
    more mostly does more, so it takes runs that clearly show otherwise."""
    seconds, _ = training_s(runs, np.ones(len(runs), bool), ending)
    slopes = [slope.mean for slope in scaling.slopes["open"]]
    logs = np.log(seconds) - np.nan_to_num(runs.quantities) @ slopes
    per_unit = logs - runs.quantities[:, PLACE[ending]]
    return _deviation(per_unit) <= _CLEARLY * _deviation(logs) + math.log(_SHORT)


def _deviation(values: Floats) -> float:
    return float(np.abs(values - median(values)).sum())


def shows_length(neighbours: Neighbours, ending: Ending) -> bool:
    """Of the same code, some ran for about as long as this job states, or for several lengths."""
    if neighbours.void or neighbours.tier != "same_code" or ending == "open":
        return neighbours.void is not None or neighbours.tier == "same_code"
    known = neighbours.runs.quantities[neighbours.telling, PLACE[ending]]
    known = known[~np.isnan(known)]
    apart = np.abs(known - neighbours.sketch.number(ending))
    return bool(len(known)) and bool(
        apart.min() <= _SAME or known.max() - known.min() >= math.log(_TELLING)
    )


def startup_s(lengths: Floats | None, seconds: Floats, known: Floats) -> float:
    """What runs of one workload, newest first, take before they train: by their logs (`known`, NaN
    where a log does not show it), or by runs of different lengths."""
    intercept = None if lengths is None else _intercept(lengths[:_MOST], seconds[:_MOST])
    if intercept is not None:
        return intercept
    stated = known[~np.isnan(known)]
    return median(stated) if len(stated) else 0.0


def without_startup(seconds: Floats, known: Floats, usual: float) -> Floats:
    """What is left to training; at least a tenth."""
    startup = np.where(np.isnan(known), usual, known)
    return seconds - np.minimum(startup, _AT_MOST * seconds)


def _intercept(lengths: Floats, seconds: Floats) -> float | None:
    """Theil-Sen: single odd runs do not move it. None where lengths do not tell."""
    if len(lengths) == 0 or lengths.max() < _TELLING * lengths.min():
        return None
    one, other = np.triu_indices(len(lengths), 1)
    differ = lengths[one] != lengths[other]
    one, other = one[differ], other[differ]
    slope = median((seconds[one] - seconds[other]) / (lengths[one] - lengths[other]))
    start = median(seconds - slope * lengths)
    return start if slope > 0 and start > 0 else None
