"""From the runs that a job resembles to its own duration."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from schedmate.advisor.predict.columns import PLACE, Columns, Flags, Floats, Places
from schedmate.advisor.predict.configurations import Configurations, grouped
from schedmate.advisor.predict.kriging import krige
from schedmate.advisor.predict.matching import Likes
from schedmate.advisor.predict.scaling import Ending, Scaling
from schedmate.advisor.predict.spread import LONGEST_S
from schedmate.advisor.predict.startup import startup_s, without_startup
from schedmate.model import Spread

_Z90 = 1.2816
_TAILS = 1.3
"""Variances are learnt from most pairs, not from the odd ones; but those happen, too."""
_WIDEST = 5.0
_LONGEST_LOG = math.log(LONGEST_S)
_CONFIGURATIONS = 120
"""The most similar ones say all there is to say."""
_SAME = 1e-5
"""Logarithms of two lengths that differ by less were rounded."""


@dataclass(frozen=True, slots=True)
class Scaled:
    """`order` is of the runs in `Likes.runs`, the most telling first."""

    duration_s: Spread
    bounds: tuple[float, float]
    """The shortest and the longest of the neighbours' times, scaled to this job."""
    ending: Ending
    order: Places


def scaled(likes: Likes, scaling: Scaling) -> Scaled:
    ending = ending_of(likes)
    usable = np.flatnonzero(_usable(likes, ending))
    runs = likes.runs.take(usable)
    seconds, usual = _training_s(runs, likes.in_tier[usable], ending)
    found = _closest(grouped(runs, seconds), likes.similarity[usable], runs)
    estimate = krige(likes.query, found, scaling, ending)
    sd = min(_TAILS * estimate.sd, _WIDEST)
    low, middle, high = (_seconds(estimate.log_s + z * sd, usual) for z in (-_Z90, 0.0, _Z90))
    bounds = _seconds(estimate.scaled.min(), usual), _seconds(estimate.scaled.max(), usual)
    return Scaled(Spread(low, middle, high), bounds, ending, usable)


def _seconds(log_s: float, startup: float) -> float:
    return min(startup + math.exp(min(log_s, _LONGEST_LOG)), LONGEST_S)


def ending_of(likes: Likes) -> Ending:
    """What this job and some of those of the tier state their length in.

    Steps end a run before epochs do; but where only the epochs differ, they tell the length.
    """
    if likes.sketch.open_ended:
        return "open"
    tier = likes.runs.quantities[likes.telling & (likes.runs.rows["open_ended"] == 0)]
    shared: list[Ending] = []
    telling: list[Ending] = []
    for unit in ("steps", "epochs"):
        wanted, known = likes.sketch.number(unit), tier[:, PLACE[unit]]
        if not math.isnan(wanted) and (~np.isnan(known)).any():
            shared.append(unit)
            if (np.abs(known - wanted) > _SAME).any():
                telling.append(unit)
    return next(iter(telling or shared), "open")


def _usable(likes: Likes, ending: Ending) -> Flags:
    """Those whose length is known, and that went well if any of the tier did."""
    usable = np.ones(len(likes.runs), bool)
    if (likes.in_tier & likes.completed).any():
        usable &= likes.completed
    if ending != "open":
        usable &= ~np.isnan(likes.runs.quantities[:, PLACE[ending]])
        usable &= likes.runs.rows["open_ended"] == 0
    return usable


def _training_s(runs: Columns, in_tier: Flags, ending: Ending) -> tuple[Floats, float]:
    """What each took after start-up, and the start-up to expect."""
    seconds, known = runs.rows["duration"].astype(float), runs.rows["startup"].astype(float)
    lengths = None if ending == "open" else np.exp(runs.quantities[in_tier, PLACE[ending]])
    usual = startup_s(_one_machine(runs.take(in_tier), lengths), seconds[in_tier], known[in_tier])
    return without_startup(seconds, known, usual), usual


def _one_machine(runs: Columns, lengths: Floats | None) -> Floats | None:
    """Lengths tell start-up only where nothing else makes runs longer."""
    others = [place for name, place in PLACE.items() if name not in ("steps", "epochs", "year")]
    rest = np.nan_to_num(runs.quantities[:, others])
    return lengths if len(runs) and (np.ptp(rest, axis=0) == 0).all() else None


def _closest(found: Configurations, similarity: Floats, runs: Columns) -> Configurations:
    if len(found) <= _CONFIGURATIONS:
        return found
    by_number = dict(zip(runs.rows["run"].tolist(), similarity.tolist(), strict=True))
    alike = np.array([by_number[number] for number in found.columns.rows["run"].tolist()])
    return found.take(np.argsort(-alike, kind="stable")[:_CONFIGURATIONS])
