"""From the neighbours of a job to its own duration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from schedmate.advisor.predict.distributions import (
    around,
    empirical,
    median,
    quantile,
)
from schedmate.advisor.predict.kriging import Kriging
from schedmate.advisor.predict.neighbours import Neighbours, PastRuns, find_neighbours
from schedmate.advisor.predict.runs import (
    PLACE,
    Columns,
    Configurations,
    Flags,
    Floats,
    Places,
    grouped,
)
from schedmate.advisor.predict.scaling import Ending, Scaling
from schedmate.advisor.predict.without_runs import LONGEST_S, at_most
from schedmate.model import Spread, Workload
from schedmate.model.advice import Z90
from schedmate.model.sketch import Sketch

_NEAR = 0.8
"""Similarity to the nearest run below which a job is outside of what was seen: another generation
of GPUs, many times as many of them."""
ENOUGH = 10
"""Runs of which quantiles can be read off."""
_EXPECTED = 0.12
"""How much (log) runs of the same code with the same arguments differ, as we would guess."""
_TAILS = 1.3
"""Variances are learnt from most pairs, not from the odd ones; but those happen, too."""
_WIDEST = 5.0
_LONGEST_LOG = math.log(LONGEST_S)
_CONFIGURATIONS = 120
"""The most similar ones say all there is to say."""
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


@dataclass(frozen=True, slots=True)
class Scaled:
    """`used` are the places of the runs among the neighbours that the duration rests on."""

    duration_s: Spread
    bounds: tuple[float, float]
    """The shortest and the longest of the neighbours' times, scaled to this job."""
    ending: Ending
    used: Places


@dataclass(frozen=True, slots=True)
class _Prepared:
    used: Places
    startup_s: float
    configurations: Configurations
    newest: Places
    """Of each configuration, its place in the pool."""
    kriging: Kriging | None
    """None where there are so many that the job's nearest have to be picked."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the neighbours of a job predict, not calibrated yet."""

    neighbours: Neighbours
    scaled: Scaled
    duration_s: Spread
    kind: str
    """Predictions of one kind are as far off as each other; far from all runs is another."""

    @property
    def claim(self) -> tuple[str, float] | None:
        """What it contributes where it is blended with a site's past; None where no code was read:
        the cohorts know as much of users, names and requests."""
        if not self.neighbours.sketch.states_workload:
            return None
        return self.neighbours.tier, self.duration_s.p50

    @property
    def on_new_hardware(self) -> bool:
        """No neighbour ran on its type of GPU, so neither did what the site's past goes by."""
        asked = self.neighbours.query.gpus[0]
        return bool(asked != 0 and not (self.neighbours.runs.gpus == asked).any())

    @property
    def none_completed(self) -> bool:
        return not (self.neighbours.in_tier & self.neighbours.completed).any()


def not_shorter(estimate: Estimate, spread: Spread, site: Spread) -> Spread:
    """`spread` is of this estimate, `site` what the site's past predicts for such a request.

    Runs that all failed or were cancelled show when this one may end, not how long it takes once it
    works: the middle and the top are not below those of the site.
    """
    if not estimate.none_completed:
        return spread
    return Spread(min(spread.p10, site.p10), max(spread.p50, site.p50), max(spread.p90, site.p90))


def estimate_duration(
    past: PastRuns,
    sketch: Sketch,
    workload: Workload,
    scaling: Scaling,
    *,
    submitted_at: float | None,
    at: float | None = None,
) -> Estimate | None:
    """None where nothing resembles it. Live predictions and simulations both go this way."""
    neighbours = find_neighbours(past, sketch, scaling, submitted_at=submitted_at, at=at)
    if neighbours is None:
        return None
    answer = repeated(neighbours) if neighbours.tier == "identical" else scaled(neighbours, scaling)
    duration = capped(_with_early_ends(answer, neighbours), workload)
    return Estimate(neighbours, answer, duration, _kind(neighbours))


def _kind(neighbours: Neighbours) -> str:
    tier = neighbours.tier
    if tier == "identical":
        return tier
    near = neighbours.similarity[neighbours.in_tier].max() >= _NEAR
    return tier if near else f"{tier}, far"


def capped(spread: Spread, workload: Workload) -> Spread:
    """A job that stops itself after a time takes no longer."""
    return at_most(spread, workload.max_time_s.value) if workload.max_time_s else spread


def _with_early_ends(answer: Scaled, neighbours: Neighbours) -> Spread:
    """Runs that failed or were cancelled end early too: they pull p10, not the middle.

    Each ended at some share of what its like takes; so will this one, at a share of its own time.
    """
    spread = answer.duration_s
    telling = neighbours.telling[neighbours.in_tier]
    if len(telling) < ENOUGH or telling.all():
        return spread
    durations = neighbours.runs.rows["duration"][neighbours.in_tier].astype(float)
    shares = np.where(telling, 1.0, np.minimum(durations / median(durations[telling]), 1.0))
    early = spread.p50 * quantile(shares.tolist(), 0.1)
    return Spread(min(spread.p10, early), spread.p50, spread.p90)


def repeated(neighbours: Neighbours) -> Scaled:
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
    return Scaled(spread, (durations.min(), durations.max()), "open", telling)


def _of_repeats(durations: Sequence[float]) -> Spread:
    if len(durations) >= ENOUGH:
        return empirical(durations)
    middle = quantile(durations, 0.5)
    return around(middle, [each / middle for each in durations], expected=_EXPECTED)


def scaled(neighbours: Neighbours, scaling: Scaling) -> Scaled:
    ending = ending_of(neighbours)
    prepared = _prepared(neighbours, scaling, ending)
    if prepared.kriging is None:
        closest = _closest(prepared.configurations, neighbours)
        estimate = Kriging(closest, scaling, ending).at(neighbours.query)
    else:
        apart = neighbours.apart
        if apart is not None:
            apart = apart[0][prepared.newest], apart[1][prepared.newest]
        estimate = prepared.kriging.at(neighbours.query, apart)
    sd = min(_TAILS * estimate.sd, _WIDEST)
    logs = [estimate.log_s + z * sd for z in (-Z90, 0.0, Z90)]
    outer = estimate.scaled.min(), estimate.scaled.max()
    low, middle, high, least, most = (
        _seconds(each, prepared.startup_s) for each in (*logs, *outer)
    )
    return Scaled(Spread(low, middle, high), (least, most), ending, prepared.used)


def _prepared(neighbours: Neighbours, scaling: Scaling, ending: Ending) -> _Prepared:
    """Kept with the pool: it is the same for every job that has these neighbours."""
    which = neighbours.which
    key = (
        id(scaling),
        ending,
        None if isinstance(which, slice) else which.tobytes(),
        neighbours.in_tier.tobytes(),
    )
    kept = neighbours.pool.kept.get(key)
    if kept is None or kept[0] is not scaling:
        kept = neighbours.pool.kept[key] = scaling, _prepare(neighbours, scaling, ending)
    prepared: _Prepared = kept[1]
    return prepared


def _prepare(neighbours: Neighbours, scaling: Scaling, ending: Ending) -> _Prepared:
    used = np.flatnonzero(_usable(neighbours, ending))
    runs = neighbours.runs if len(used) == len(neighbours.in_tier) else neighbours.runs.take(used)
    seconds, usual = _training_s(runs, neighbours.in_tier[used], ending)
    found = grouped(runs, seconds)
    few = len(found) <= _CONFIGURATIONS
    newest = np.arange(len(neighbours.pool))[neighbours.which][used][found.newest]
    kriging = Kriging(found, scaling, ending) if few else None
    return _Prepared(used, usual, found, newest, kriging)


def _seconds(log_s: float, startup: float) -> float:
    return min(startup + math.exp(min(log_s, _LONGEST_LOG)), LONGEST_S)


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


def _usable(neighbours: Neighbours, ending: Ending) -> Flags:
    """Those whose length is known, and that went well if any of the tier did."""
    usable = neighbours.completed.copy()
    if not (neighbours.in_tier & usable).any():
        usable[:] = True
    if ending != "open":
        usable &= ~np.isnan(neighbours.runs.quantities[:, PLACE[ending]])
        usable &= neighbours.pool.bounded[neighbours.which]
    return usable


def _training_s(runs: Columns, in_tier: Flags, ending: Ending) -> tuple[Floats, float]:
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


def _closest(found: Configurations, neighbours: Neighbours) -> Configurations:
    numbers = neighbours.runs.rows["run"].tolist()
    by_number = dict(zip(numbers, neighbours.similarity.tolist(), strict=True))
    alike = np.array([by_number[number] for number in found.columns.rows["run"].tolist()])
    return found.take(np.argsort(-alike, kind="stable")[:_CONFIGURATIONS])


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
