"""What a site's past predicts of a job by nothing but what its scheduler knows at submission.

Cohorts predict (`cohorts`); a gate weighs them by how many jobs each rests on, how long ago the
last of them ended, how sure it is of itself, how fast the user submits, how the job before went,
whether it asked for the same, how many GPUs the job asks for, and whose it is. When a job ends,
each expert gains by how much better it predicted that time than they all did together. All of it
is learnt job by job, at the same cost for the millionth as for the first.
"""

from __future__ import annotations

import math
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from schedmate.advisor.predict.calibration import Levels
from schedmate.advisor.predict.cohorts import (
    KINDS,
    OTHERS,
    ROWS,
    SMEAR,
    WAYS,
    Cohort,
    Flight,
    expert_pmfs,
    outcome_of,
)
from schedmate.advisor.predict.distributions import (
    SIZE,
    Places,
    Pmf,
    Weights,
    below_of,
    clipped,
    forget_oldest,
    place_of,
    seconds_at,
    share_below,
    spread_of,
)
from schedmate.advisor.predict.jobs import EndedJob, Facts, replay
from schedmate.model import BadInput, JobState, Outcome, Spread
from schedmate.model.wire import dumps, loads

_COHORTS_KEPT, _COHORTS_STORED, _USERS_KEPT, _MOST_IN_FLIGHT = 100_000, 20_000, 5000, 20_000
_CLOSELY = 30_000
_EVERY, _WATCHED = 20, 200
_BURST_S = 60.0
_SITE_MEMORY = 0.9995
_SEEN, _BEYOND = 2.0, 30.0
AGES_S = (10.0, 120.0, 1800.0, 14_400.0, 172_800.0)
LAGS_S = (2.0, 10.0, 60.0, 600.0, 3600.0, 86_400.0)
_BUCKETS = (6, 6, 8, 5, 3, 8, 5)
"""Of how many jobs, how long ago, since the user's last, how that went, the same request, how
sure, how many GPUs."""
_TABLES = np.cumsum([0, *_BUCKETS])
_EXPERTS = 2 * ROWS
"""Each row as it is, and smeared."""
_KIND_OF = np.array([*np.repeat(np.arange(len(KINDS)), WAYS), *[len(KINDS)] * len(OTHERS)])
_PACE, _FADING, _OWN_FADING = 0.1, 0.001, 0.002
_MEMORY = 300.0
_LEAST = 1e-4
_A_DOUBLING, _PRIOR_IN_FLIGHT, _PRIOR_LONG = 0.2, 0.5, -1.0
_NEAR = 4
"""Points of the grid beside the real time that still count as right."""
_COARSE = 3
_COARSE_EDGES = np.arange(0, SIZE, _COARSE)


def _near_smeared() -> Weights:
    """What mass at a coarse point, smeared, comes to lie near each."""
    smeared = np.add.reduceat(SMEAR[_COARSE // 2 :: _COARSE], _COARSE_EDGES, axis=1)
    beside = np.abs(np.subtract.outer(_COARSE_EDGES, _COARSE_EDGES)) <= _COARSE
    return np.asarray(smeared @ beside, np.float64)


def _prior() -> Weights:
    by_way = np.array([0.0] * (WAYS - 2) + [_PRIOR_IN_FLIGHT, _PRIOR_LONG])
    logits = np.concatenate([*(kind.prior + by_way for kind in KINDS), OTHERS])
    return np.asarray(np.tile(logits, 2) + _A_DOUBLING * np.arange(_BUCKETS[0])[:, None])


_SMEARED, _PRIOR = _near_smeared(), _prior()


@dataclass(frozen=True, slots=True)
class Forecast:
    """How long, how it will end, and whose past says so."""

    duration_s: Spread
    outcome: Outcome
    rests_on: str
    mass: Pmf = field(compare=False)
    """The pmf over the grid of times that `duration_s` is read off."""
    seen_s: tuple[float, float] = (0.0, math.inf)
    """The times that the site has seen, and a little beyond."""


@dataclass(frozen=True, slots=True)
class _Mixed:
    """What the experts say together, and what is needed to learn from it."""

    keys: Sequence[str | None]
    cohorts: Sequence[Cohort | None]
    mass: Pmf
    below: Pmf
    duration_s: Spread
    who: Places
    weights: Weights
    coarse: NDArray[np.float16]
    at: Places
    """Its places in the tables, a row for each of them."""


@dataclass(slots=True)
class _InFlight:
    flight: Flight
    mixed: _Mixed
    keys: list[str]


@dataclass(slots=True)
class _LastOfUser:
    submitted_at: float
    flight: Flight
    request: object
    went: int = 3
    """0 completed, 1 broke off, 2 cancelled, 3 still runs."""


@dataclass(frozen=True, slots=True)
class CohortModelState:
    """`cohorts` are those that got a job last, the newest at the end."""

    cohorts: dict[str, Cohort] = field(default_factory=dict)
    tables: list[list[float]] = field(default_factory=list)
    own: dict[str, list[float]] = field(default_factory=dict)
    taught: dict[str, tuple[float, int]] = field(default_factory=dict)
    lessons: int = 0
    levels: Levels = field(default_factory=Levels)
    site: list[float] = field(default_factory=list)


class CohortModel:
    """Learns from submissions, starts and ends in the order in which they happen."""

    def __init__(self, state: CohortModelState | None = None) -> None:
        state = state or CohortModelState()
        self._cohorts = dict(state.cohorts)
        tables = np.array(state.tables)
        self._tables = np.zeros((_TABLES[-1], _EXPERTS))
        if tables.shape == self._tables.shape:
            self._tables = tables
        self._own = {
            user: np.array(each) for user, each in state.own.items() if len(each) == _EXPERTS
        }
        self._taught = dict(state.taught)
        self._lessons = state.lessons
        self._levels = state.levels
        self._read, self._unread = self._levels.read(), 0
        known = len(state.site) == SIZE
        self._site: Weights = np.array(state.site if known else [0.01] * SIZE)
        self._in_flight: dict[str, _InFlight] = {}
        self._last: dict[str, _LastOfUser] = {}

    @classmethod
    def load(cls, data: bytes) -> CohortModel:
        try:
            text = zlib.decompressobj().decompress(data, _LARGEST)
        except zlib.error as error:
            raise BadInput("what is stored of the site's past is damaged") from error
        return cls(loads(CohortModelState, text))

    def dump(self) -> bytes:
        """All but the jobs on their way."""
        newest = list(self._cohorts.items())[-_COHORTS_STORED:]
        state = CohortModelState(
            cohorts={
                key: replace(each, ends=[round(one, 3) for one in each.ends], flights=[])
                for key, each in newest
                if each.states
            },
            tables=np.round(self._tables, 4).tolist(),
            own={user: np.round(each, 3).tolist() for user, each in self._own.items()},
            taught=self._taught,
            lessons=self._lessons,
            levels=self._levels,
            site=np.round(self._site, 3).tolist(),
        )
        return zlib.compress(dumps(state).encode(), level=6)

    def learn(self, runs: Iterable[EndedJob], *, closely: int = _CLOSELY) -> None:
        """From a site's past, in whatever order it comes.

        Whom to believe is learnt from the newest; of older runs only their times are remembered.
        """
        ordered = sorted(runs, key=lambda run: run.facts.submitted_at)
        for run in sorted(ordered[:-closely], key=lambda run: run.ended_at):
            self.ended(run)
        for _ in self.replayed(ordered[-closely:]):
            pass

    def replayed(self, runs: Iterable[EndedJob]) -> Iterator[tuple[EndedJob, Spread]]:
        """Learn, and yield of each run what would have been predicted when it was submitted."""
        for event in replay(runs):
            match event.kind:
                case "submit":
                    yield event.run, self.submitted(event.run.facts)
                case "start":
                    self.started(event.run.facts.job_id, event.at)
                case "end":
                    self.ended(event.run)

    def predict(self, facts: Facts, *, once_it_works: bool = False) -> Forecast:
        """Without remembering that it was asked. Cohorts all of whose jobs broke off tell nothing
        of how long it takes `once_it_works`."""
        mixed = self._mix(facts, once_it_works=once_it_works)
        kinds = np.bincount(_KIND_OF[mixed.who % ROWS], mixed.weights, len(KINDS) + 1)[:-1].astype(
            float
        )
        known = [
            (weight, kind.words.format(user=facts.user, runs=cohort.in_words()))
            for weight, kind, cohort in zip(kinds, KINDS, mixed.cohorts, strict=True)
            if cohort is not None and (cohort.states or cohort.flights)
        ]
        rests_on = max(known)[1] if known else "nothing has run here yet"
        outcome = outcome_of(mixed.cohorts, kinds)
        return Forecast(mixed.duration_s, outcome, rests_on, mixed.mass, self.seen_s)

    def submitted(self, facts: Facts) -> Spread:
        mixed, flight, last = self._mix(facts), Flight(), self._last.get(facts.user)
        first = last is None or facts.submitted_at - last.submitted_at > _BURST_S
        keys = [
            key
            for kind, key in zip(KINDS, mixed.keys, strict=True)
            if key is not None and (first or not kind.first_of_burst)
        ]
        for key in keys:
            self._joined(key).add_flight(flight)
        self._in_flight[facts.job_id] = _InFlight(flight, mixed, keys)
        self._last[facts.user] = _LastOfUser(facts.submitted_at, flight, facts.request)
        forget_oldest(self._in_flight, _MOST_IN_FLIGHT)
        self._unread += 1
        if self._unread >= _EVERY:
            self._unread, self._read = 0, self._levels.read(self._passed(facts.submitted_at))
        return mixed.duration_s

    def _passed(self, now: float) -> list[float]:
        """Of the distributions of jobs that run, the shares that have passed."""
        newest = islice(reversed(self._in_flight.values()), _WATCHED)
        return [
            share_below(job.mixed.below, place_of(now - job.flight.started_at))
            for job in newest
            if job.flight.started_at is not None
        ]

    def mass(self, job_id: str) -> Pmf:
        """What was predicted of a job that has not ended, as a pmf over the grid of times."""
        return self._in_flight[job_id].mixed.mass

    def started(self, job_id: str, at: float) -> None:
        if (job := self._in_flight.get(job_id)) is not None:
            job.flight.started_at = at

    def ended(self, run: EndedJob) -> None:
        """Of a job whose submission is unknown, only its time is learnt."""
        place = place_of(run.duration_s)
        job = self._in_flight.pop(run.facts.job_id, None)
        if job is not None:
            self._learn(job, run, place)
        keys = job.keys if job else [each for kind in KINDS if (each := kind.key_of(run.facts))]
        limit = place_of(run.facts.limit_s or 0.0)
        for key in keys:
            shift = limit if key.partition("\x1f")[0] in _RELATIVE else 0.0
            self._joined(key).add_end(place - shift, run.state, run.ended_at)
        self._site *= _SITE_MEMORY
        self._site[round(place)] += 1

    def forget(self, job_id: str) -> None:
        """A job that never ran, or of whose end nothing is known: it neither waits nor runs."""
        if (job := self._in_flight.pop(job_id, None)) is not None:
            job.flight.started_at = None

    @property
    def seen_s(self) -> tuple[float, float]:
        """Not far beyond the shortest and the longest that the site has seen: the fewer runs it
        has, the farther."""
        seen = np.flatnonzero(self._site > _SEEN * self._site.min())
        if not len(seen):
            return 0.0, math.inf
        beyond = 1 + _BEYOND / math.sqrt(float(self._site.sum()))
        return max(seconds_at(seen[0] - beyond), 0.0), seconds_at(seen[-1] + beyond)

    def _joined(self, key: str) -> Cohort:
        """The cohort of `key`, now the newest."""
        cohort = self._cohorts[key] = self._cohorts.pop(key) if key in self._cohorts else Cohort()
        forget_oldest(self._cohorts, _COHORTS_KEPT)
        return cohort

    def _mix(self, facts: Facts, *, once_it_works: bool = False) -> _Mixed:
        keys = [kind.key_of(facts) for kind in KINDS]
        cohorts = [None if key is None else self._cohorts.get(key) for key in keys]
        if once_it_works:
            cohorts = [None if each is None or each.none_ended else each for each in cohorts]
        mass, rows = expert_pmfs(cohorts, facts.limit_s, self._site, facts.submitted_at)
        who = np.concatenate([rows, rows + ROWS])
        at = self._tables_of(facts, cohorts, mass, rows) * _EXPERTS + who
        logits = _PRIOR.ravel()[at[0]] + self._tables.ravel()[at].sum(axis=0)
        logits += self._own[facts.user][who] if facts.user in self._own else 0.0
        weights = np.exp(logits - logits.max())
        weights /= weights.sum()
        plain, smeared = weights.astype(np.float32).reshape(2, -1) @ mass
        mixed = plain + smeared @ SMEAR
        below = below_of(mixed)
        spread = clipped(spread_of(below, *self._read), self.seen_s)
        coarse = np.add.reduceat(mass, _COARSE_EDGES, axis=1).astype(np.float16)
        return _Mixed(keys, cohorts, mixed, below, spread, who, weights, coarse, at)

    def _tables_of(
        self, facts: Facts, cohorts: Sequence[Cohort | None], mass: Pmf, rows: Places
    ) -> Places:
        """In which row of each table the job and its experts are."""
        now, last = facts.submitted_at, self._last.get(facts.user)
        counts, ages = [1] * (len(KINDS) + 1), [0] * (len(KINDS) + 1)
        for kind, cohort in enumerate(cohorts):
            if cohort is not None:
                counts[kind] = min(int(math.log2(cohort.count + 1)), _BUCKETS[0] - 1)
                ages[kind] = bisect_right(AGES_S, now - cohort.last_end)
        kinds = _KIND_OF[rows]
        found = np.empty((len(_BUCKETS), 2, len(rows)), np.int64)
        found[0], found[1] = np.array(counts)[kinds], np.array(ages)[kinds]
        found[2:5] = np.reshape(
            [len(LAGS_S) + 1, 4, 0]
            if last is None
            else [
                bisect_right(LAGS_S, now - last.submitted_at),
                last.went,
                1 + (last.request != facts.request),
            ],
            (3, 1, 1),
        )
        found[5] = np.clip(np.log2(mass.max(axis=1)) + 7, 0, 7)
        found[6] = min(facts.gpus.bit_length(), _BUCKETS[6] - 1)
        return np.asarray(found.reshape(len(_BUCKETS), -1) + _TABLES[:-1, None])

    def _learn(self, job: _InFlight, run: EndedJob, place: float) -> None:
        mixed, user = job.mixed, run.facts.user
        at = round(place) // _COARSE
        coarse = mixed.coarse.astype(np.float64)
        right = np.concatenate(
            [coarse[:, max(0, at - 1) : at + 2].sum(axis=1), coarse @ _SMEARED[:, at]]
        )
        deserved = mixed.weights * (right + _LEAST)
        gained = deserved / deserved.sum() - mixed.weights
        tables, pace = self._tables.reshape(-1), self._pace(user)
        tables[mixed.at] += pace * (_PACE * gained - _FADING * tables[mixed.at])
        own = self._own[user] = self._own.pop(user) if user in self._own else np.zeros(_EXPERTS)
        own[mixed.who] += _PACE * gained - _OWN_FADING * own[mixed.who]
        forget_oldest(self._own, _USERS_KEPT)
        missed = run.duration_s > mixed.duration_s.p10, run.duration_s > mixed.duration_s.p90
        self._levels.learn(share_below(mixed.below, place), missed)
        job.flight.place = place
        last = self._last.get(user)
        if last is not None and last.flight is job.flight:
            last.went = {JobState.COMPLETED: 0, JobState.CANCELLED: 2}.get(run.state, 1)

    def _pace(self, user: str) -> float:
        """A thousand jobs of one user in a day teach less than jobs of a thousand users."""
        self._lessons += 1
        taught, when = self._taught.get(user, (0.0, 0))
        taught *= math.exp((when - self._lessons) / _MEMORY)
        self._taught[user] = (taught + 1, self._lessons)
        return 1 / math.sqrt(1 + taught)


_LARGEST = 500_000_000
_RELATIVE = frozenset(kind.name for kind in KINDS if kind.relative)
