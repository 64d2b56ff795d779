"""Draws the jobs of a synthetic trace, as arrays.

Users come in series: the same job again and again, a little changed, as they do in Philly and
Helios. A series has its user, its size, how it mostly ends and how long it mostly takes; a job
keeps to that or, now and then, does not, such that over all jobs every figure of the profile holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedmate.model import BadInput
from schedmate.simulator.traces.profiles import Profile

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_HOUR_S = 3600.0
_JOBS_A_SERIES = 8
_COMES_BACK = 0.3
_JOBS_A_USER = 10
_ZIPF = 1.15
_ALIKE = 0.999
"""Correlation of the run times in a series: a tenth up or down at the spreads of the profiles."""
_PAUSE_S = 60.0
_PAUSE_SPREAD = 1.8
_PADDING = 1.2
_BY_HABIT = 0.35
"""How many series get the limit that their user always writes."""
_LIMITS = np.array(
    [
        *(600, 1200, 1800, 3600, 2 * 3600, 4 * 3600, 8 * 3600, 12 * 3600),
        *(days * 86_400 for days in (1, 2, 3, 5, 7, 14, 30, 50, 100)),
    ],
    dtype=np.float64,
)
"""What people write: round numbers."""
_USUAL = 3
"""No user's usual limit is among the three shortest or the three longest."""


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """In order of submission."""

    submit: Floats
    duration: Floats
    gpus: Ints
    ending: Ints
    limit: Floats
    user: Ints
    series: Ints


def draw(profile: Profile, jobs: int, *, gpus: int, load: float, rng: np.random.Generator) -> Drawn:
    if jobs < 1 or gpus < 1:
        raise BadInput(f"a trace of {jobs} jobs on {gpus} GPUs cannot be drawn: name one at least")
    begins = rng.random(jobs) < 1 / _JOBS_A_SERIES
    begins[0] = True
    sitting = np.cumsum(begins) - 1
    users = _users(profile, jobs, int(sitting[-1]) + 1, rng)
    series = _series(users, rng)[sitting]
    sizes = _sizes(profile, len(users), gpus, rng)[series]
    scale = np.log(sizes) * profile.growth
    bent = rng.standard_normal(len(users))
    ending = _endings(profile, len(users), series, rng)
    duration = _durations(profile, ending, scale, _bents(profile, bent, series, rng))
    padded = _padded(profile, duration, scale, bent[series], rng)
    limit = _limits(duration, padded, users, series, rng)
    span = float(np.sum(duration * sizes)) / (gpus * load)
    submit = _times(profile, begins, span, rng)
    order = np.argsort(submit, kind="stable")
    return Drawn(
        submit=submit[order],
        duration=duration[order],
        gpus=sizes[order],
        ending=ending[order],
        limit=limit[order],
        user=users[sitting][order],
        series=series[order],
    )


def _choose(weights: Floats, count: int, rng: np.random.Generator) -> Ints:
    edges = np.cumsum(weights / np.sum(weights))
    edges[-1] = 1.0
    return np.searchsorted(edges, rng.random(count), side="right").astype(np.int64)


def _users(profile: Profile, jobs: int, sittings: int, rng: np.random.Generator) -> Ints:
    """Few are very busy, as everywhere: Zipf's law."""
    people = max(1, min(profile.users, jobs // _JOBS_A_USER))
    return _choose(np.arange(1.0, people + 1) ** -_ZIPF, sittings, rng)


def _series(users: Ints, rng: np.random.Generator) -> Ints:
    """Which series a sitting works on: its own, or one of the user's before."""
    by_user = np.argsort(users, kind="stable")
    places = np.arange(len(users))
    back = np.where(rng.random(len(users)) < _COMES_BACK, rng.geometric(0.3, len(users)), 0)
    earlier = np.maximum(places - back, 0)
    theirs = users[by_user[earlier]] == users[by_user]
    series = np.empty(len(users), dtype=np.int64)
    series[by_user] = by_user[np.where(theirs, earlier, places)]
    return series


def _sizes(profile: Profile, count: int, gpus: int, rng: np.random.Generator) -> Ints:
    fitting = {size: share for size, share in profile.sizes.items() if size <= gpus}
    chosen = _choose(np.array([*fitting.values()]), count, rng)
    return np.array([*fitting], dtype=np.int64)[chosen]


def _endings(profile: Profile, count: int, series: Ints, rng: np.random.Generator) -> Ints:
    shares = np.array([ending.share for ending in profile.endings])
    mostly = _choose(shares, count, rng)
    keeps = rng.random(len(series)) < profile.same_state
    return np.where(keeps, mostly[series], _choose(shares, len(series), rng))


def _bents(profile: Profile, bent: Floats, series: Ints, rng: np.random.Generator) -> Floats:
    """How far off the typical time, in spreads."""
    own = rng.standard_normal(len(series))
    keeps = rng.random(len(series)) < profile.same_time
    return np.where(keeps, _ALIKE * bent[series] + np.sqrt(1 - _ALIKE**2) * own, own)


def _durations(profile: Profile, ending: Ints, scale: Floats, bent: Floats) -> Floats:
    """Whole seconds; the longest is what the site's limit lets through."""
    typical = np.log([each.typical_s for each in profile.endings])
    spread = np.array([each.spread for each in profile.endings])
    logs = typical[ending] + scale + spread[ending] * bent
    return np.clip(np.round(np.exp(logs)), 1.0, profile.longest_s)


def _padded(
    profile: Profile, duration: Floats, scale: Floats, bent: Floats, rng: np.random.Generator
) -> Floats:
    """What the series takes when it ends well, and a good deal more."""
    well = _durations(profile, np.zeros(len(scale), dtype=np.int64), scale, bent)
    padded = well * np.exp(np.abs(rng.standard_normal(len(scale))) * _PADDING)
    return np.maximum(duration, np.minimum(padded, profile.longest_s))


def _limits(
    duration: Floats, padded: Floats, users: Ints, series: Ints, rng: np.random.Generator
) -> Floats:
    """The user's usual limit, or a round one for the series; never one that was broken."""
    usual = rng.integers(_USUAL, len(_LIMITS) - _USUAL, int(users.max()) + 1)[users[series]]
    by_habit = (rng.random(len(users)) < _BY_HABIT)[series]
    wanted = np.where(by_habit, np.maximum(duration, _LIMITS[usual]), padded)
    return _LIMITS[np.searchsorted(_LIMITS, wanted)]


def _times(
    profile: Profile, begins: NDArray[np.bool_], span: float, rng: np.random.Generator
) -> Floats:
    """Sittings begin by the rhythm of the day; within one, jobs follow after short pauses."""
    starts = _rhythmic(profile, span, rng.random(int(np.sum(begins))))
    sitting = np.cumsum(begins) - 1
    pauses = _PAUSE_S * np.exp(_PAUSE_SPREAD * rng.standard_normal(len(begins)))
    since = np.cumsum(np.where(begins, 0.0, pauses))
    times = starts[sitting] + since - since[begins][sitting]
    wrapped: Floats = np.round(np.mod(times, span), 3)
    return wrapped


def _rhythmic(profile: Profile, span: float, shares: Floats) -> Floats:
    hours = int(np.ceil(span / _HOUR_S))
    edges = np.minimum(np.arange(hours + 1) * _HOUR_S, span)
    busy = np.resize(np.array(profile.hours), hours) * np.diff(edges)
    done = np.concatenate([[0.0], np.cumsum(busy)])
    times: Floats = np.interp(shares * done[-1], done, edges)
    return times
