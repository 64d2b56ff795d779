"""Which expert is to be believed when: weights that are learnt from every job that ends.

A weight is a sum of what speaks for an expert: how many jobs it rests on, how long ago the last of
them ended, how sure it is of itself; how fast the user submits, how the job before went and whether
it asked for the same; whose it is. After a job's end, each expert gains by how much better it
foretold that time than they all did together. Someone's thousand jobs of a day teach less than a
thousand people's, but what they teach of that user.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from schedmate.advisor.predict.experts import ROWS, SMEAR, WAYS, Opinions
from schedmate.advisor.predict.grid import SIZE, Mass, Places, Weights
from schedmate.advisor.predict.kin import KINDS

_BUCKETS = (6, 6, 8, 5, 3, 8)
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


_BY_KIND = {
    "user": 0.5,
    "user_request": 1.5,
    "user_bursts": 0.0,
    "request": 0.0,
    "everyone": -1.0,
    "user_limit": 0.5,
    "limit": -0.3,
    "user_stem": 3.0,
    "user_name": 4.0,
    "stem": 0.5,
    "user_word": 2.0,
}
_OTHERS = (0.0, -1.0, -2.0)
"""The limit, the site's long memory, anything."""
_FLIGHTS = 0.5
_LONG = -1.0
_A_DOUBLING = 0.2


def _prior() -> Weights:
    """Before anything is learnt, nearer kin count for more, and so do many of them."""
    by_way = np.array([0.0] * (WAYS - 2) + [_FLIGHTS, _LONG])
    rows = [_BY_KIND[kind] + by_way for kind in KINDS]
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
"""The kind of group of each expert; one more for those that are of none."""


@dataclass(frozen=True, slots=True)
class Situation:
    """In what buckets a job and its experts are: two by kind of group, three of the job itself."""

    user: str
    counts: Sequence[int]
    ages: Sequence[int]
    lag: int
    previous: int
    same: int


@dataclass(frozen=True, slots=True)
class Mixed:
    """What the experts say together, and what is needed to learn from it."""

    mass: Mass
    who: Places
    weights: Weights
    coarse: NDArray[np.float16]
    user: str
    at: Places
    """Its places in the tables, a row for each of them."""


@dataclass(frozen=True, slots=True)
class GatesState:
    tables: list[list[list[float]]] = field(default_factory=list)
    taught: dict[str, tuple[float, int]] = field(default_factory=dict)
    lessons: int = 0
    own: dict[str, list[float]] = field(default_factory=dict)


class Gates:
    def __init__(self, state: GatesState | None = None) -> None:
        state = state or GatesState()
        self._tables = np.zeros((sum(_BUCKETS), EXPERTS))
        for mine, theirs in zip(self._each_table(), state.tables, strict=False):
            if np.shape(theirs) == mine.shape:
                mine[:] = theirs
        self._taught = dict(state.taught)
        self._lessons = state.lessons
        own = {user: np.array(each) for user, each in state.own.items()}
        self._own = {user: each for user, each in own.items() if each.shape == (EXPERTS,)}

    @property
    def state(self) -> GatesState:
        tables = [np.round(table, 4).tolist() for table in self._each_table()]
        own = {user: np.round(each, 3).tolist() for user, each in self._own.items()}
        return GatesState(tables, dict(self._taught), self._lessons, own)

    def mix(self, said: Opinions, situation: Situation) -> Mixed:
        who = np.concatenate([said.who, said.who + ROWS])
        kind = KIND_OF[who]
        peaks = np.log2(said.mass.max(axis=1)) + 7
        sure = np.minimum(np.maximum(peaks, 0), 7).astype(np.int64)
        at = np.empty((len(_BUCKETS), len(who)), np.int64)
        at[0] = np.array(situation.counts)[kind]
        at[1] = np.array(situation.ages)[kind]
        at[2:5] = [[situation.lag], [situation.previous], [situation.same]]
        at[5].reshape(2, -1)[:] = sure
        at += _FIRST_ROWS[:, None]
        at *= EXPERTS
        at += who
        logits = _PRIOR.ravel()[at[0]] + self._tables.ravel()[at].sum(axis=0)
        if situation.user in self._own:
            logits += self._own[situation.user][who]
        weights = np.exp(logits - logits.max())
        weights /= weights.sum()
        coarse = np.add.reduceat(said.mass, _COARSE_EDGES, axis=1, dtype=np.float32)
        plain, smeared = weights.astype(np.float32).reshape(2, -1) @ said.mass
        return Mixed(
            plain + smeared @ SMEAR, who, weights, coarse.astype(np.float16), situation.user, at
        )

    def learn(self, mixed: Mixed, place: float) -> None:
        """The job that this was said of ended at `place`."""
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
