"""What each cohort predicts of a job's time, and how far each is to be trusted.

A cohort is an expert five times: by its newest end, by its newer ones, by all that it remembers, by
the jobs as they were submitted, and by what it has ever seen. The fourth counts those that still
run: they take longer than they have run by now, which at a burst's start is all that is known of
it. Each prediction is a pmf over the grid of times.

A gate gives each expert a weight: a sum over how many jobs it rests on, how long ago the last of
them ended, how sure it is of itself, how fast the user submits, how the job before went, whether it
asked for the same, how many GPUs the job asks for, and whose it is. When a job ends, each expert
gains by how much better it predicted that time than they all did together. A thousand jobs of one
user in a day teach less than jobs of a thousand users, but they teach how to predict that user.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from schedmate.advisor.predict.cohorts import (
    ENDED,
    FLOWN,
    KEPT,
    KINDS,
    STARTED,
    Cohort,
)
from schedmate.advisor.predict.distributions import (
    SIZE,
    Places,
    Pmf,
    Weights,
    blur,
    place_of,
    places_of,
)

_DECAYS = (0.3, 0.8, 0.97)
_BY_AGE = np.array([[decay**age for age in reversed(range(KEPT))] for decay in _DECAYS])
"""Oldest first, as cohorts remember their jobs."""
_FLIGHT_WEIGHTS = np.array([0.9**age for age in range(KEPT)])
_FLIGHTS, _LONG = len(_DECAYS), len(_DECAYS) + 1
WAYS = len(_DECAYS) + 2
_USUAL = len(_DECAYS) - 1
ROWS = WAYS * len(KINDS) + 3
"""And the limit itself, the site's long memory, and that anything up to a month may happen."""
SMEAR = blur(0.25)
_LONGEST = round(place_of(30 * 86_400.0))


@dataclass(frozen=True, slots=True)
class ExpertPmfs:
    """Rows of mass, each summing to one, and which of all `ROWS` they are."""

    mass: Pmf
    who: Places


def expert_pmfs(
    cohorts: Sequence[Cohort | None], limit_s: float | None, site: Pmf, now: float
) -> ExpertPmfs:
    """`cohorts` are of the `KINDS`, `site` is the mass of all ends."""
    present = [(kind, cohort) for kind, cohort in enumerate(cohorts) if cohort is not None]
    limit = place_of(limit_s) if limit_s else None
    rows = np.zeros((WAYS * len(present) + 3, SIZE), np.float32)
    if present:
        _add_recent(rows, present, limit or 0.0, site, now)
    _add_long_memories(rows, present)
    if limit is not None:
        rows[-3, round(limit)] = 1.0
    rows[-2] = site
    rows[-1, :_LONGEST] = 1.0
    total = rows.sum(axis=1)
    known = np.flatnonzero(total)
    rows = rows[known] / total[known, None]
    ids = [kind * WAYS + way for kind, _ in present for way in range(WAYS)]
    who = np.array([*ids, *range(ROWS - 3, ROWS)])[known]
    return ExpertPmfs(rows, who)


def _add_recent(
    rows: Pmf, present: Sequence[tuple[int, Cohort]], limit: float, site: Pmf, now: float
) -> None:
    recent = np.full((len(present), 3, KEPT), np.nan)
    for number, (kind, cohort) in enumerate(present):
        recent[number, :, -cohort.recent.shape[1] :] = cohort.recent
        if limit and KINDS[kind].relative:
            recent[number, ENDED] += limit
    first_row = np.arange(len(present)) * WAYS
    newest_first = recent[:, :, ::-1]
    started, flown, ended = newest_first[:, STARTED], newest_first[:, FLOWN], recent[:, ENDED]
    known = flown == flown  # noqa: PLR0124 - not NaN
    flights_row = np.broadcast_to((first_row + _FLIGHTS)[:, None], known.shape)
    weights = np.broadcast_to(_FLIGHT_WEIGHTS, known.shape)
    _put(rows, first_row, ended, (flights_row[known], flown[known], weights[known]))
    running = (started == started) & ~known  # noqa: PLR0124 - not NaN
    if running.any():
        elapsed = places_of(now - started[running])
        _add_running(rows, flights_row[running], elapsed, weights[running], site)


def _add_long_memories(rows: Pmf, present: Sequence[tuple[int, Cohort]]) -> None:
    for number, (kind, cohort) in enumerate(present):
        if cohort.long is not None and not KINDS[kind].relative:
            rows[number * WAYS + _LONG] = cohort.long


def _put(
    rows: Pmf, first_row: Places, ended: Weights, flights: tuple[Places, Weights, Weights]
) -> None:
    """Ends by each of the decays, and flights; between two points of the grid, each gets as much
    as it is near."""
    there = ended == ended  # noqa: PLR0124 - not NaN
    cohort, at = np.nonzero(there)
    row = first_row[cohort] + np.arange(len(_DECAYS))[:, None]
    count = len(cohort)
    places = np.concatenate([ended[there], flights[1]])
    places = np.minimum(np.maximum(places, 0), SIZE - 1.001)
    lower = places.astype(np.int64)
    share = places - lower
    flat = np.concatenate([(row * SIZE + lower[:count]).ravel(), flights[0] * SIZE + lower[count:]])
    by_age = _BY_AGE[:, at]
    rest = 1 - share
    below = np.concatenate([(by_age * rest[:count]).ravel(), flights[2] * rest[count:]])
    above = np.concatenate([(by_age * share[:count]).ravel(), flights[2] * share[count:]])
    put = np.bincount(flat, below, rows.size)
    put += np.bincount(flat + 1, above, rows.size)
    rows += put.reshape(rows.shape)


_LEAST = float(np.finfo(np.float32).tiny)


def _add_running(rows: Pmf, at: Places, places: Places, weights: Weights, site: Pmf) -> None:
    """Each is taken to end as the user's jobs do that took longer than it has by now."""
    usual = rows[_USUAL] @ SMEAR + 0.5 * site / site.sum()
    longer = np.cumsum(usual[::-1])[::-1]
    left = np.maximum(longer[places], _LEAST)  # of one that outran all known jobs nothing is known
    since = np.bincount(at * SIZE + places, weights / left, rows.size)
    since = since.reshape(rows.shape)[_FLIGHTS::WAYS]
    which = np.flatnonzero(np.bincount(at // WAYS, minlength=len(since)))
    rows[which * WAYS + _FLIGHTS] += usual * np.cumsum(since[which], axis=1)


SIZES = 5
"""No GPU, one, up to three, up to seven, more."""
_BUCKETS = (6, 6, 8, 5, 3, 8, SIZES)
_PACE = 0.1
_FADING = 0.001
_OWN_PACE = 0.1
_OWN_FADING = 0.002
_USERS = 5000
"""Of whom it is remembered which experts are right about them, those who ran jobs last."""
_MEMORY = 300.0
_COARSE = 3
_COARSE_EDGES = np.arange(0, SIZE, _COARSE)
EXPERTS = 2 * ROWS
"""Each row as it is, and smeared."""
_LEAST = 1e-4
AGES_S = (10.0, 120.0, 1800.0, 14_400.0, 172_800.0)
LAGS_S = (2.0, 10.0, 60.0, 600.0, 3600.0, 86_400.0)


_OTHERS = (0.0, -1.0, -2.0)
"""The limit, the site's long memory, anything."""
_PRIOR_IN_FLIGHT = 0.5
_PRIOR_LONG = -1.0
_A_DOUBLING = 0.2


def _prior() -> Weights:
    """Before anything is learnt, nearer cohorts count for more, and so do many jobs."""
    by_way = np.array([0.0] * (WAYS - 2) + [_PRIOR_IN_FLIGHT, _PRIOR_LONG])
    rows = [kind.prior + by_way for kind in KINDS]
    logits = np.concatenate([*rows, _OTHERS])
    doublings = _A_DOUBLING * np.arange(_BUCKETS[0])
    return np.asarray(np.tile(logits, 2) + doublings[:, None])


def _near() -> Weights:
    """What mass at a coarse point, smeared, comes to lie near each."""
    smeared = np.add.reduceat(SMEAR[_COARSE // 2 :: _COARSE], _COARSE_EDGES, axis=1)
    beside = np.abs(np.subtract.outer(_COARSE_EDGES, _COARSE_EDGES)) <= _COARSE
    return np.asarray(smeared @ beside, np.float64)


_PRIOR = _prior()
_NEAR = _near()
_FIRST_ROWS = np.cumsum([0, *_BUCKETS[:-1]])
"""Where each table begins: they lie one after the other."""
KIND_OF = np.array([*np.repeat(np.arange(len(KINDS)), WAYS), *[len(KINDS)] * len(_OTHERS)] * 2)
"""The kind of cohort of each expert; one more for those that are of none."""


@dataclass(frozen=True, slots=True)
class Situation:
    """In what buckets a job and its experts are: two by kind of cohort, four of the job itself."""

    user: str
    counts: Sequence[int]
    ages: Sequence[int]
    lag: int
    previous: int
    same: int
    size: int
    """By its GPUs, below `SIZES`."""


@dataclass(frozen=True, slots=True)
class Mixed:
    """What the experts say together, and what is needed to learn from it."""

    mass: Pmf
    who: Places
    weights: Weights
    coarse: NDArray[np.float16]
    user: str
    at: Places
    """Its places in the tables, a row for each of them."""


@dataclass(frozen=True, slots=True)
class GateState:
    tables: list[list[list[float]]] = field(default_factory=list)
    taught: dict[str, tuple[float, int]] = field(default_factory=dict)
    lessons: int = 0
    own: dict[str, list[float]] = field(default_factory=dict)


class Gate:
    def __init__(self, state: GateState | None = None) -> None:
        state = state or GateState()
        self._tables = np.zeros((sum(_BUCKETS), EXPERTS))
        for mine, theirs in zip(self._each_table(), state.tables, strict=False):
            if np.shape(theirs) == mine.shape:
                mine[:] = theirs
        self._taught = dict(state.taught)
        self._lessons = state.lessons
        own = {user: np.array(each) for user, each in state.own.items()}
        self._own = {user: each for user, each in own.items() if each.shape == (EXPERTS,)}

    @property
    def state(self) -> GateState:
        tables = [np.round(table, 4).tolist() for table in self._each_table()]
        own = {user: np.round(each, 3).tolist() for user, each in self._own.items()}
        return GateState(tables, dict(self._taught), self._lessons, own)

    def mix(self, predicted: ExpertPmfs, situation: Situation) -> Mixed:
        who = np.concatenate([predicted.who, predicted.who + ROWS])
        kind = KIND_OF[who]
        peaks = np.log2(predicted.mass.max(axis=1)) + 7
        sure = np.minimum(np.maximum(peaks, 0), 7).astype(np.int64)
        at = np.empty((len(_BUCKETS), len(who)), np.int64)
        at[0] = np.array(situation.counts)[kind]
        at[1] = np.array(situation.ages)[kind]
        at[2:5] = [[situation.lag], [situation.previous], [situation.same]]
        at[5].reshape(2, -1)[:] = sure
        at[6] = situation.size
        at += _FIRST_ROWS[:, None]
        at *= EXPERTS
        at += who
        logits = _PRIOR.ravel()[at[0]] + self._tables.ravel()[at].sum(axis=0)
        if situation.user in self._own:
            logits += self._own[situation.user][who]
        weights = np.exp(logits - logits.max())
        weights /= weights.sum()
        coarse = np.add.reduceat(predicted.mass, _COARSE_EDGES, axis=1, dtype=np.float32)
        plain, smeared = weights.astype(np.float32).reshape(2, -1) @ predicted.mass
        return Mixed(
            plain + smeared @ SMEAR, who, weights, coarse.astype(np.float16), situation.user, at
        )

    def learn(self, mixed: Mixed, place: float) -> None:
        """The job that this was predicted for ended at `place`."""
        at = round(place) // _COARSE
        coarse = mixed.coarse.astype(np.float64)
        plain, smeared = coarse[:, max(0, at - 1) : at + 2].sum(axis=1), coarse @ _NEAR[:, at]
        deserved = mixed.weights * (np.concatenate([plain, smeared]) + _LEAST)
        gained = deserved / deserved.sum() - mixed.weights
        pace = self._pace(mixed.user)
        tables = self._tables.reshape(-1)
        now = tables[mixed.at]
        tables[mixed.at] = now + pace * (_PACE * gained - _FADING * now)
        own = self._of(mixed.user)
        own[mixed.who] += _OWN_PACE * gained - _OWN_FADING * own[mixed.who]

    def _of(self, user: str) -> Weights:
        """Now the newest."""
        own = self._own.pop(user, None)
        self._own[user] = np.zeros(EXPERTS) if own is None else own
        if len(self._own) > _USERS:
            del self._own[next(iter(self._own))]
        return self._own[user]

    def _each_table(self) -> list[Weights]:
        return np.split(self._tables, _FIRST_ROWS[1:])

    def _pace(self, user: str) -> float:
        self._lessons += 1
        taught, when = self._taught.get(user, (0.0, 0))
        taught *= math.exp((when - self._lessons) / _MEMORY)
        self._taught[user] = (taught + 1, self._lessons)
        return float(1 / math.sqrt(1 + taught))


def bucket_of(value: float, limits: Sequence[float]) -> int:
    return bisect_right(limits, value)
