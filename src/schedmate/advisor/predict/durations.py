"""From the neighbours of a job to its own duration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from schedmate.advisor.predict.calibration import Calibration
from schedmate.advisor.predict.distributions import (
    around,
    empirical,
    median,
    quantile,
)
from schedmate.advisor.predict.kriging import Kriging
from schedmate.advisor.predict.lengths import (
    ending_of,
    shows_length,
    training_s,
    usable,
    with_meant_length,
)
from schedmate.advisor.predict.neighbours import Neighbours, PastRuns, find_neighbours
from schedmate.advisor.predict.runs import (
    Configurations,
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
_ALIKE = math.log(2.0)


@dataclass(frozen=True, slots=True)
class Scaled:
    """`used` are the places of the runs among the neighbours that the duration rests on."""

    duration_s: Spread
    bounds: tuple[float, float]
    """The shortest and the longest of the neighbours' times, scaled to this job."""
    ending: Ending
    used: Places
    agrees: bool
    """Whether those of the tier, several of them, take about as long once scaled to this job, and
    some of them show what its stated length is worth."""


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
        the cohorts know as much of users, names and requests; nor where all runs broke off."""
        if not self.neighbours.sketch.states_workload or self.neighbours.none_ended:
            return None
        return self.neighbours.tier, self.duration_s.p50

    @property
    def on_new_hardware(self) -> bool:
        """No neighbour ran on its type of GPU, so neither did what the site's past goes by."""
        asked = self.neighbours.query.gpus[0]
        return bool(asked != 0 and not (self.neighbours.runs.gpus == asked).any())

    @property
    def speaks_for_itself(self) -> bool:
        """Runs of the same code with the same arguments, and those of its code or user that agree,
        answer before anything is weighed with the site's past."""
        if self.neighbours.none_ended:
            return False
        return self.neighbours.tier == "identical" or self.scaled.agrees

    def calibrated(self, calibration: Calibration | None) -> Spread:
        """Bent by how far off such predictions were on this site; the middle stays in its
        bounds."""
        if calibration is None:
            return self.duration_s
        bent = calibration.calibrated(self.kind, self.duration_s)
        least, most = self.scaled.bounds
        middle = min(max(bent.p50, least), most)
        return Spread(min(bent.p10, middle), middle, max(bent.p90, middle))

    def or_longer(self, other: Spread) -> Spread:
        """`other` is what else is known. Runs that did not complete show how long this one takes at
        least: the middle and the top are not below theirs."""
        ran = self.duration_s
        return Spread(min(ran.p10, other.p10), max(ran.p50, other.p50), max(ran.p90, other.p90))


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
    if neighbours.tier == "identical":
        answer = repeated(neighbours)
    else:
        neighbours = with_meant_length(neighbours, scaling)
        answer = scaled(neighbours, scaling)
    duration = capped(_with_early_ends(answer, neighbours), workload)
    return Estimate(neighbours, answer, duration, _kind(neighbours))


def _kind(neighbours: Neighbours) -> str:
    tier = neighbours.tier
    if tier == "identical":
        return tier
    if neighbours.void:  # what they were off by before that showed says nothing of it
        return f"{tier}, without length"
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
    return Scaled(spread, (durations.min(), durations.max()), "open", telling, agrees=True)


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
        configurations = closest
        estimate = Kriging(closest, scaling, ending).at(neighbours.query)
    else:
        configurations = prepared.configurations
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
    in_tier = neighbours.in_tier[prepared.used][configurations.newest]
    agrees = shows_length(neighbours, ending) and _agree(
        estimate.scaled[in_tier], configurations.count[in_tier]
    )
    return Scaled(Spread(low, middle, high), (least, most), ending, prepared.used, agrees)


def _agree(logs: Floats, count: Floats) -> bool:
    """`logs` are times of configurations, scaled to one job, and `count` the runs of each."""
    of_runs = np.repeat(logs, count.astype(int))
    return len(of_runs) >= ENOUGH and bool(
        np.quantile(of_runs, 0.9) - np.quantile(of_runs, 0.1) <= _ALIKE
    )


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
    used = np.flatnonzero(usable(neighbours, ending))
    runs = neighbours.runs if len(used) == len(neighbours.in_tier) else neighbours.runs.take(used)
    seconds, usual = training_s(runs, neighbours.in_tier[used], ending)
    found = grouped(runs, seconds)
    few = len(found) <= _CONFIGURATIONS
    newest = np.arange(len(neighbours.pool))[neighbours.which][used][found.newest]
    kriging = Kriging(found, scaling, ending) if few else None
    return _Prepared(used, usual, found, newest, kriging)


def _seconds(log_s: float, startup: float) -> float:
    return min(startup + math.exp(min(log_s, _LONGEST_LOG)), LONGEST_S)


def _closest(found: Configurations, neighbours: Neighbours) -> Configurations:
    numbers = neighbours.runs.rows["run"].tolist()
    by_number = dict(zip(numbers, neighbours.similarity.tolist(), strict=True))
    alike = np.array([by_number[number] for number in found.columns.rows["run"].tolist()])
    return found.take(np.argsort(-alike, kind="stable")[:_CONFIGURATIONS])
