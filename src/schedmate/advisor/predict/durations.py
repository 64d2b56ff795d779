"""From the neighbours of a job to its own duration."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from schedmate.advisor.predict.distributions import empirical, median, of_runs, quantile, reaching
from schedmate.advisor.predict.neighbours import Ending, Neighbours, find_neighbours
from schedmate.advisor.predict.runs import PLACE, Columns, Flags, Floats, Places
from schedmate.advisor.predict.scaling import SLOPES, scale
from schedmate.advisor.predict.without_runs import LONGEST_S, at_most
from schedmate.model import History, Spread, Workload
from schedmate.model.advice import Z90
from schedmate.model.sketch import Sketch

_NEAR = 0.8
"""Similarity to the nearest run below which a job is outside of what was seen: another generation
of GPUs, many times as many of them."""
_ENOUGH = 10
"""Runs of which quantiles can be read off."""
_EXPECTED = 0.12
"""How much (log) runs of the same code with the same arguments differ, as we would guess."""
_UNREAD = 1.0
_TAILS, _WIDEST = 1.3, 5.0
"""Variances are learnt from most runs, not from the odd ones; but those happen, too."""
_LONGEST_LOG = math.log(LONGEST_S)
_ALIKE = math.log(2.0)
_LENGTHS: tuple[Ending, ...] = ("steps", "epochs")
_SAME = 1e-5
"""Logarithms of two lengths that differ by less were rounded."""
_TELLING = 1.5
"""Lengths nearer to each other than this say little about start-up."""
_MOST, _AT_MOST = 30, 0.9
"""Runs that tell start-up, and the share of a run's time that it can be."""
_CLEARLY, _SHORT = 3.0, 2.0
_OF_THE_MACHINE = [
    place for name, place in PLACE.items() if name not in ("steps", "epochs", "year")
]


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the neighbours of a job predict, not calibrated yet."""

    neighbours: Neighbours
    duration_s: Spread
    bounds: tuple[float, float]
    """The shortest and the longest of the neighbours' times, scaled to this job."""
    ending: Ending
    used: Places
    """The places of the runs among the neighbours that the duration rests on."""
    agrees: bool
    """Whether those of the tier, several of them, take about as long once scaled to this job, and
    some of them show what its stated length is worth."""

    @property
    def kind(self) -> str:
        """Predictions of one kind are as far off as each other; far from all runs is another."""
        tier = self.neighbours.tier
        if tier == "identical":
            return tier
        if self.neighbours.void:  # what they were off by before that showed says nothing of it
            return f"{tier}, without length"
        near = self.neighbours.similarity[self.neighbours.in_tier].max() >= _NEAR
        return tier if near else f"{tier}, far"

    @property
    def claim(self) -> tuple[str, float] | None:
        """What it contributes where it is blended with a site's past; None where no code was read:
        the cohorts know as much of users, names and requests; nor where all runs broke off."""
        if not self.neighbours.sketch.states_workload or self.neighbours.none_ended:
            return None
        return self.neighbours.tier, self.duration_s.p50

    @property
    def speaks_for_itself(self) -> bool:
        """Runs of the same code with the same arguments, and those of its code or user that agree,
        answer before anything is weighed with the site's past."""
        return not self.neighbours.none_ended and (
            self.neighbours.tier == "identical" or self.agrees
        )

    @property
    def on_new_hardware(self) -> bool:
        """No neighbour ran on its type of GPU, so neither did what the site's past goes by."""
        asked = self.neighbours.query.gpus[0]
        return bool(asked != 0 and not (self.neighbours.runs.gpus == asked).any())

    def within_bounds(self, spread: Spread) -> Spread:
        """With its middle among the neighbours' times."""
        middle = min(max(spread.p50, self.bounds[0]), self.bounds[1])
        return Spread(min(spread.p10, middle), middle, max(spread.p90, middle))

    def or_longer(self, other: Spread) -> Spread:
        """`other` is what else is known. Runs that did not complete show how long this one takes at
        least: the middle and the top are not below theirs."""
        ran = self.duration_s
        return Spread(min(ran.p10, other.p10), max(ran.p50, other.p50), max(ran.p90, other.p90))


def estimate_duration(
    history: History,
    sketch: Sketch,
    workload: Workload,
    *,
    submitted_at: float | None,
    at: float | None = None,
) -> Estimate | None:
    """None where nothing resembles it. Live predictions and simulations both go this way."""
    neighbours = find_neighbours(history, sketch, submitted_at=submitted_at, at=at)
    if neighbours is None:
        return None
    if neighbours.tier == "identical":
        return _repeat(neighbours, workload)
    return _scale(_with_meant_length(neighbours), workload)


def capped(spread: Spread, workload: Workload) -> Spread:
    """A job that stops itself after a time takes no longer."""
    return at_most(spread, workload.max_time_s.value) if workload.max_time_s else spread


def _with_early_ends(spread: Spread, neighbours: Neighbours) -> Spread:
    """Runs that failed or were cancelled end early too: they pull p10, not the middle.

    Each ended at some share of what its like takes; so will this one, at a share of its own time.
    """
    telling = neighbours.telling[neighbours.in_tier]
    if len(telling) < _ENOUGH or telling.all():
        return spread
    durations = neighbours.runs.rows["duration"][neighbours.in_tier].astype(float)
    shares = np.where(telling, 1.0, np.minimum(durations / median(durations[telling]), 1.0))
    early = spread.p50 * quantile(shares.tolist(), 0.1)
    return Spread(min(spread.p10, early), spread.p50, spread.p90)


def _repeat(neighbours: Neighbours, workload: Workload) -> Estimate:
    """Nothing differs, so nothing is scaled.

    Where it is unknown on which of several types of GPUs the job will run, the range spans what
    each of them takes.
    """
    telling = np.flatnonzero(neighbours.telling)
    durations = neighbours.runs.rows["duration"][telling].astype(float)
    spread = _of_repeats(durations.tolist())
    types = neighbours.runs.gpus[telling]
    if neighbours.query.gpus[0] == 0 and (types != types[0]).any():
        each = [_of_repeats(durations[types == one].tolist()) for one in np.unique(types)]
        lowest, highest = min(one.p10 for one in each), max(one.p90 for one in each)
        spread = Spread(min(spread.p10, lowest), spread.p50, max(spread.p90, highest))
    spread = capped(_with_early_ends(spread, neighbours), workload)
    bounds = float(durations.min()), float(durations.max())
    return Estimate(neighbours, spread, bounds, "open", telling, agrees=True)


def _of_repeats(durations: list[float]) -> Spread:
    many = len(durations) >= _ENOUGH
    return empirical(durations) if many else of_runs(durations, expected=_EXPECTED)


def _scale(neighbours: Neighbours, workload: Workload) -> Estimate:
    ending = _ending_of(neighbours)
    used = np.flatnonzero(_usable(neighbours, ending))
    runs, in_tier = neighbours.runs.take(used), neighbours.in_tier[used]
    trained, startup = _training_s(runs, in_tier, ending)
    apart = neighbours.apart[0][used], neighbours.apart[1][used]
    scaled = scale(runs, np.log(np.maximum(trained, 1e-3)), neighbours.query, apart, ending)
    unread = _unread(neighbours)
    sd = min(_TAILS * math.hypot(scaled.sd, unread), _WIDEST)
    logs = [scaled.log_s + z * sd for z in (-Z90, 0.0, Z90)]
    each = startup + np.exp(np.minimum(scaled.each, _LONGEST_LOG))
    low, middle, high = (startup + math.exp(min(log_s, _LONGEST_LOG)) for log_s in logs)
    spread = at_most(reaching(Spread(low, middle, high), each, scaled.weights), LONGEST_S)
    spread = capped(_with_early_ends(spread, neighbours), workload)
    agrees = unread < _UNREAD and _shows_length(neighbours, ending) and _agree(scaled.each[in_tier])
    bounds = min(float(each.min()), LONGEST_S), min(float(each.max()), LONGEST_S)
    return Estimate(neighbours, spread, bounds, ending, used, agrees)


def _unread(neighbours: Neighbours) -> float:
    """How far off (log) runs of the same code may be because their arguments say what nobody reads:
    of a code that states no length, and the less, the more arguments it has run with."""
    sketch = neighbours.sketch
    stated = sketch.open_ended or not all(math.isnan(sketch.number(each)) for each in _LENGTHS)
    if stated or neighbours.tier != "same_code":
        return 0.0
    return _UNREAD / len(np.unique(neighbours.runs.rows["arguments"][neighbours.telling]))


def _agree(logs: Floats) -> bool:
    """Of times that are scaled to one job."""
    return len(logs) >= _ENOUGH and bool(np.quantile(logs, 0.9) - np.quantile(logs, 0.1) <= _ALIKE)


def _ending_of(neighbours: Neighbours) -> Ending:
    """What this job and some of those of the tier state their length in.

    Steps end a run before epochs do; but where only the epochs differ, they tell the length.
    """
    sketch = neighbours.sketch
    if sketch.open_ended:
        return "open"
    tier = neighbours.telling & (neighbours.runs.rows["open_ended"] == 0)
    shared: list[Ending] = []
    telling: list[Ending] = []
    for unit in _LENGTHS:
        apart = np.abs(neighbours.runs.quantities[tier, PLACE[unit]] - sketch.number(unit))
        if (~np.isnan(apart)).any():
            shared.append(unit)
            telling += [unit] if (apart > _SAME).any() else []
    return next(iter(telling or shared), "open")


def _usable(neighbours: Neighbours, ending: Ending) -> Flags:
    """Those that count and whose length is known."""
    if ending == "open":
        return neighbours.counted
    stated = ~np.isnan(neighbours.runs.quantities[:, PLACE[ending]])
    return np.asarray(neighbours.counted & stated & (neighbours.runs.rows["open_ended"] == 0))


def _training_s(runs: Columns, in_tier: Flags, ending: Ending) -> tuple[Floats, float]:
    """What each took after start-up (at least a tenth), and the start-up to expect."""
    seconds, known = runs.rows["duration"].astype(float), runs.rows["startup"].astype(float)
    usual = _intercept(runs.take(in_tier), seconds[in_tier], ending)
    if usual is None:
        stated = known[in_tier][~np.isnan(known[in_tier])]
        usual = median(stated) if len(stated) else 0.0
    startup = np.where(np.isnan(known), usual, known)
    return seconds - np.minimum(startup, _AT_MOST * seconds), usual


def _intercept(runs: Columns, seconds: Floats, ending: Ending) -> float | None:
    """Start-up by runs of several lengths, newest first, that nothing else makes longer.

    Theil-Sen: single odd runs do not move it. None where lengths do not tell.
    """
    rest = np.nan_to_num(runs.quantities[:, _OF_THE_MACHINE])
    if ending == "open" or not len(rest) or (rest != rest[0]).any():
        return None
    lengths, seconds = np.exp(runs.quantities[:_MOST, PLACE[ending]]), seconds[:_MOST]
    if lengths.max() < _TELLING * lengths.min():
        return None
    one, other = np.triu_indices(len(lengths), 1)
    differ = lengths[one] != lengths[other]
    one, other = one[differ], other[differ]
    slope = median((seconds[one] - seconds[other]) / (lengths[one] - lengths[other]))
    start = median(seconds - slope * lengths)
    return start if slope > 0 and start > 0 else None


def _with_meant_length(neighbours: Neighbours) -> Neighbours:
    """Those of its user or its code alone, and their length left aside, where these took as long
    whatever they stated."""
    ending = _ending_of(neighbours)
    if ending == "open":
        return neighbours
    rows = neighbours.runs.rows
    trained = ~(rows["startup"] > rows["duration"] / 2)
    of_the_code = neighbours.of_nearly_the_code & trained & _usable(neighbours, ending)
    for members in (neighbours.own & of_the_code, of_the_code):
        lengths = neighbours.runs.quantities[members, PLACE[ending]]
        if len(lengths) and lengths.max() - lengths.min() >= math.log(_TELLING):
            if _follow(neighbours.runs.take(members), ending):
                return neighbours
            return neighbours.without_length(members, ending)
    return neighbours


def _follow(runs: Columns, ending: Ending) -> bool:
    """Whether their times differ less once divided by their lengths, or hardly more: who states
    more mostly does more, so it takes runs that clearly show otherwise."""
    seconds, _ = _training_s(runs, np.ones(len(runs), bool), ending)
    logs = np.log(seconds) - np.nan_to_num(runs.quantities) @ SLOPES["open"][0]
    per_unit = logs - runs.quantities[:, PLACE[ending]]
    return _deviation(per_unit) <= _CLEARLY * _deviation(logs) + math.log(_SHORT)


def _deviation(values: Floats) -> float:
    return float(np.abs(values - median(values)).sum())


def _shows_length(neighbours: Neighbours, ending: Ending) -> bool:
    """Of the same code, some ran for about as long as this job states, or for several lengths."""
    if neighbours.void or neighbours.tier != "same_code" or ending == "open":
        return neighbours.void is not None or neighbours.tier == "same_code"
    known = neighbours.runs.quantities[neighbours.telling, PLACE[ending]]
    known = known[~np.isnan(known)]
    apart = np.abs(known - neighbours.sketch.number(ending))
    return bool(len(known)) and bool(
        apart.min() <= _SAME or known.max() - known.min() >= math.log(_TELLING)
    )
