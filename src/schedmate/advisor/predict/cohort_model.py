"""What a site's past predicts of a job by nothing but what its scheduler knows at submission.

Cohorts predict (`cohorts`), and are weighed by how many jobs each rests on, how many GPUs the job
asks for, and whose it is. When a job ends, each expert gains by how much better it predicted that
time than they all did together. All of it is learnt job by job, at the same cost for the millionth
as for the first.
"""

from __future__ import annotations

import math
import zlib
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
from schedmate.model import BadInput, Outcome, Spread
from schedmate.model.wire import dumps, loads

_COHORTS_KEPT, _COHORTS_STORED, _USERS_KEPT, _MOST_IN_FLIGHT = 100_000, 20_000, 5000, 20_000
_CLOSELY = 30_000
_EVERY, _WATCHED = 20, 200
_SITE_MEMORY = 0.9995
_SEEN, _BEYOND = 2.0, 30.0
_SIZES = 5
"""No GPU, one, up to three, up to seven, more."""
_KIND_OF = np.array([*np.repeat(np.arange(len(KINDS)), WAYS), *[len(KINDS)] * len(OTHERS)])
_PACE, _OWN_PACE, _FADING = 0.05, 0.1, 0.002
_LEAST = 1e-4
_A_DOUBLING, _PRIOR_IN_FLIGHT = 0.2, 0.5
_COARSE = 3
_COARSE_EDGES = np.arange(0, SIZE, _COARSE)


def _near_smeared() -> Weights:
    """What mass at a coarse point, smeared, comes to lie near each."""
    smeared = np.add.reduceat(SMEAR[_COARSE // 2 :: _COARSE], _COARSE_EDGES, axis=1)
    beside = np.abs(np.subtract.outer(_COARSE_EDGES, _COARSE_EDGES)) <= _COARSE
    return np.asarray(smeared @ beside, np.float64)


def _prior() -> Weights:
    by_way = np.array([0.0] * (WAYS - 1) + [_PRIOR_IN_FLIGHT])
    return np.concatenate([*(kind.prior + by_way for kind in KINDS), OTHERS])


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
    size: int
    """Of the job, by its GPUs."""


@dataclass(slots=True)
class _InFlight:
    flight: Flight
    mixed: _Mixed
    keys: list[str]


@dataclass(frozen=True, slots=True)
class CohortModelState:
    """`cohorts` are those that got a job last, the newest at the end."""

    cohorts: dict[str, Cohort] = field(default_factory=dict)
    weights: list[list[float]] = field(default_factory=list)
    own: dict[str, list[float]] = field(default_factory=dict)
    levels: Levels = field(default_factory=Levels)
    site: list[float] = field(default_factory=list)


class CohortModel:
    """Learns from submissions, starts and ends in the order in which they happen."""

    def __init__(self, state: CohortModelState | None = None) -> None:
        state = state or CohortModelState()
        self._cohorts = dict(state.cohorts)
        weights = np.array(state.weights)
        known = weights.shape == (_SIZES, ROWS)
        self._weights = weights if known else np.zeros((_SIZES, ROWS))
        """Logits of the experts, by the size of the job; `_own` for each user."""
        self._own = {user: np.array(each) for user, each in state.own.items() if len(each) == ROWS}
        self._levels = state.levels
        self._read, self._unread = self._levels.read(), 0
        known = len(state.site) == SIZE
        self._site: Weights = np.array(state.site if known else [0.01] * SIZE)
        self._in_flight: dict[str, _InFlight] = {}

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
            weights=np.round(self._weights, 4).tolist(),
            own={user: np.round(each, 3).tolist() for user, each in self._own.items()},
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
        kinds = np.bincount(_KIND_OF[mixed.who], mixed.weights, len(KINDS) + 1)[:-1].astype(float)
        known = [
            (weight, kind.words.format(user=facts.user, runs=cohort.in_words()))
            for weight, kind, cohort in zip(kinds, KINDS, mixed.cohorts, strict=True)
            if cohort is not None and (cohort.states or cohort.flights)
        ]
        rests_on = max(known)[1] if known else "nothing has run here yet"
        outcome = outcome_of(mixed.cohorts, kinds)
        return Forecast(mixed.duration_s, outcome, rests_on, mixed.mass, self.seen_s)

    def submitted(self, facts: Facts) -> Spread:
        mixed, flight = self._mix(facts), Flight()
        keys = [key for key in mixed.keys if key is not None]
        for key in keys:
            self._joined(key).add_flight(flight)
        self._in_flight[facts.job_id] = _InFlight(flight, mixed, keys)
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
            self._joined(key).add_end(place - shift, run.state)
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
        mass, who = expert_pmfs(cohorts, facts.limit_s, self._site, facts.submitted_at)
        size = min(facts.gpus.bit_length(), _SIZES - 1)
        doublings = [0 if each is None else len(each.ends).bit_length() for each in cohorts]
        logits = _PRIOR[who] + self._weights[size, who]
        logits += _A_DOUBLING * np.array([*doublings, 0])[_KIND_OF[who]]
        logits += self._own[facts.user][who] if facts.user in self._own else 0.0
        weights = np.exp(logits - logits.max())
        weights /= weights.sum()
        mixed = weights.astype(np.float32) @ mass @ SMEAR
        below = below_of(mixed)
        spread = clipped(spread_of(below, *self._read), self.seen_s)
        coarse = np.add.reduceat(mass, _COARSE_EDGES, axis=1).astype(np.float16)
        return _Mixed(keys, cohorts, mixed, below, spread, who, weights, coarse, size)

    def _learn(self, job: _InFlight, run: EndedJob, place: float) -> None:
        mixed, user = job.mixed, run.facts.user
        right = mixed.coarse.astype(np.float64) @ _SMEARED[:, round(place) // _COARSE]
        deserved = mixed.weights * (right + _LEAST)
        gained = deserved / deserved.sum() - mixed.weights
        own = self._own[user] = self._own.pop(user) if user in self._own else np.zeros(ROWS)
        for logits, pace in ((self._weights[mixed.size], _PACE), (own, _OWN_PACE)):
            logits[mixed.who] += pace * gained - _FADING * logits[mixed.who]
        forget_oldest(self._own, _USERS_KEPT)
        missed = run.duration_s > mixed.duration_s.p10, run.duration_s > mixed.duration_s.p90
        self._levels.learn(share_below(mixed.below, place), missed)
        job.flight.place = place


_LARGEST = 500_000_000
_RELATIVE = frozenset(kind.name for kind in KINDS if kind.relative)
