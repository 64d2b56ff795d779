"""What a site's past predicts of a job by nothing but what its scheduler knows at submission.

Cohorts (`cohorts`), what each predicts and how they are weighed (`experts`), and the levels at
which quantiles are read off (`calibration`). All of it is learnt job by job, at the same cost for
the millionth as for the first; there is nothing to retrain.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from schedmate.advisor.predict.calibration import ConformalLevels, ConformalLevelsState, Watched
from schedmate.advisor.predict.cohorts import (
    KINDS,
    Cohort,
    Cohorts,
    InFlightJob,
    in_words,
    is_relative,
    joined_keys,
    keys_of,
    outcome_of,
)
from schedmate.advisor.predict.distributions import (
    SIZE,
    Pmf,
    Weights,
    below_of,
    clipped,
    place_of,
    seconds_at,
    spread_of,
)
from schedmate.advisor.predict.experts import (
    AGES_S,
    LAGS_S,
    ROWS,
    SIZES,
    WAYS,
    Gate,
    GateState,
    Mixed,
    Situation,
    bucket_of,
    expert_pmfs,
)
from schedmate.advisor.predict.jobs import EndedJob, Facts, replay
from schedmate.model import BadInput, JobState, Outcome, Spread
from schedmate.model.wire import dumps, loads

_CLOSELY = 30_000
_COHORTS_STORED = 20_000
_SITE_MEMORY = 0.9995
_MOST_IN_FLIGHT = 20_000
_MOST_COUNTED = 5
_NO_LAG = len(LAGS_S) + 1
_STILL_RUNNING = 3
_NO_PREVIOUS = 4
_SEEN = 2.0
"""Times what a point of the grid has before any run ended there."""
_BEYOND = 30.0


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
class _Mixture:
    keys: Sequence[str | None]
    cohorts: Sequence[Cohort | None]
    mixed: Mixed
    below: Pmf
    duration_s: Spread


@dataclass(frozen=True, slots=True)
class _InFlight:
    """A job from its submission to its end."""

    flight: InFlightJob
    keys: list[str]
    mixed: Mixed
    watched: Watched


@dataclass(slots=True)
class _LastOfUser:
    submitted_at: float
    flight: InFlightJob
    request: tuple[object, ...]
    state: JobState | None = None


class CohortModel:
    """Learns from submissions, starts and ends in the order in which they happen."""

    def __init__(self, state: CohortModelState | None = None) -> None:
        state = state or CohortModelState()
        self._cohorts = Cohorts()
        for key, cohort in state.cohorts.items():
            self._cohorts.by_key[key] = Cohort(
                places=cohort.places,
                states=cohort.states,
                count=cohort.count,
                last_end=cohort.last_end,
                long=long_of(cohort),
            )
        self._gates = Gate(state.gates)
        self._levels = ConformalLevels(state.levels)
        known = len(state.site) == SIZE
        self._site: Pmf = np.array(state.site if known else [0.01] * SIZE, np.float32)
        self._in_flight: dict[str, _InFlight] = {}
        self._last: dict[str, _LastOfUser] = {}

    @classmethod
    def load(cls, data: bytes) -> CohortModel:
        return cls(unpacked(data))

    def dump(self) -> bytes:
        """All but the jobs on their way."""
        newest = list(self._cohorts.by_key.items())[-_COHORTS_STORED:]
        cohorts = {key: state_of(each) for key, each in newest if each.states}
        site = [round(float(each), 3) for each in self._site]
        return packed(CohortModelState(cohorts, self._gates.state, self._levels.state, site))

    def learn(self, runs: Iterable[EndedJob], *, closely: int = _CLOSELY) -> None:
        """From a site's past, in whatever order it comes.

        Whom to believe is learnt from the newest; of older runs only their times are remembered.
        """
        ordered = sorted(runs, key=lambda run: run.facts.submitted_at)
        older, newest = ordered[:-closely], ordered[-closely:]
        for run in sorted(older, key=lambda run: run.ended_at):
            self.ended(run)
        for _ in self.replayed(newest):
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
        mixture = self._mixture(facts, once_it_works=once_it_works)
        weights = _by_kind(mixture.mixed)
        outcome = outcome_of(mixture.cohorts, weights)
        rests_on = in_words(facts, mixture.cohorts, weights)
        mass = mixture.mixed.mass
        return Forecast(mixture.duration_s, outcome, rests_on, mass, self.seen_s)

    def submitted(self, facts: Facts) -> Spread:
        mixture = self._mixture(facts)
        flight = InFlightJob()
        watched = Watched(flight, mixture.below, predicted=mixture.duration_s)
        self._levels.submitted(watched, facts.submitted_at)
        keys = joined_keys(mixture.keys, self._since_last(facts))
        for key in keys:
            self._cohorts.joined(key).submitted(flight)
        self._in_flight[facts.job_id] = _InFlight(flight, keys, mixture.mixed, watched)
        if len(self._in_flight) > _MOST_IN_FLIGHT:
            del self._in_flight[next(iter(self._in_flight))]
        self._last[facts.user] = _LastOfUser(facts.submitted_at, flight, facts.request)
        return mixture.duration_s

    def mass(self, job_id: str) -> Pmf | None:
        """What was predicted of a job that has not ended, as a pmf over the grid of times."""
        job = self._in_flight.get(job_id)
        return None if job is None else job.mixed.mass

    def started(self, job_id: str, at: float) -> None:
        if (job := self._in_flight.get(job_id)) is not None:
            job.flight.starts(at)

    def ended(self, run: EndedJob) -> None:
        """Of a job whose submission is unknown, only its time is learnt."""
        place = place_of(run.duration_s)
        job = self._in_flight.pop(run.facts.job_id, None)
        if job is not None:
            self._learn(job, run, place)
        limit = place_of(run.facts.limit_s or 0.0)
        for key in job.keys if job else joined_keys(keys_of(run.facts), None):
            shift = limit if is_relative(key) else 0.0
            self._cohorts.joined(key).ended(place - shift, run.state, run.ended_at)
        self._site *= _SITE_MEMORY
        self._site[round(place)] += 1

    def forget(self, job_id: str) -> None:
        """A job that never ran, or of whose end nothing is known: it neither waits nor runs."""
        if (job := self._in_flight.pop(job_id, None)) is not None:
            self._levels.forget(job.watched)
            job.flight.vanishes()

    def _learn(self, job: _InFlight, run: EndedJob, place: float) -> None:
        self._gates.learn(job.mixed, place)
        self._levels.ended(job.watched, run.duration_s)
        job.flight.ends(place)
        last = self._last.get(run.facts.user)
        if last is not None and last.flight is job.flight:
            last.state = run.state

    def _mixture(self, facts: Facts, *, once_it_works: bool = False) -> _Mixture:
        keys = keys_of(facts)
        cohorts = [self._cohorts.get(key) for key in keys]
        if once_it_works:
            cohorts = [None if each is None or each.none_ended else each for each in cohorts]
        experts = expert_pmfs(cohorts, facts.limit_s, self._site, facts.submitted_at)
        mixed = self._gates.mix(experts, self._situation(facts, cohorts))
        below = below_of(mixed.mass)
        spread = spread_of(below, self._levels.low, self._levels.high)
        return _Mixture(keys, cohorts, mixed, below, clipped(spread, self.seen_s))

    @property
    def seen_s(self) -> tuple[float, float]:
        """Not far beyond the shortest and the longest that the site has seen: the fewer runs it
        has, the farther."""
        seen = np.flatnonzero(self._site > _SEEN * self._site.min())
        if not len(seen):
            return 0.0, math.inf
        beyond = 1 + _BEYOND / math.sqrt(float(self._site.sum()))
        return max(seconds_at(seen[0] - beyond), 0.0), seconds_at(seen[-1] + beyond)

    def _situation(self, facts: Facts, cohorts: Sequence[Cohort | None]) -> Situation:
        now = facts.submitted_at
        counts, ages = [1] * (len(KINDS) + 1), [0] * (len(KINDS) + 1)
        for kind, cohort in enumerate(cohorts):
            if cohort is not None:
                counts[kind] = min(_MOST_COUNTED, int(math.log2(cohort.count + 1)))
                ages[kind] = bucket_of(now - cohort.last_end, AGES_S)
        size = min(facts.gpus.bit_length(), SIZES - 1)
        last = self._last.get(facts.user)
        if last is None:
            return Situation(
                facts.user,
                counts,
                ages,
                lag=_NO_LAG,
                previous=_NO_PREVIOUS,
                same=0,
                size=size,
            )
        return Situation(
            facts.user,
            counts,
            ages,
            lag=bucket_of(now - last.submitted_at, LAGS_S),
            previous=_how_it_went(last.state),
            same=1 + (last.request != facts.request),
            size=size,
        )

    def _since_last(self, facts: Facts) -> float | None:
        last = self._last.get(facts.user)
        return None if last is None else facts.submitted_at - last.submitted_at


def _by_kind(mixed: Mixed) -> Weights:
    counted = np.bincount(mixed.who % ROWS // WAYS, mixed.weights, len(KINDS) + 1)
    return np.asarray(counted[: len(KINDS)], np.float64)


def _how_it_went(state: JobState | None) -> int:
    if state is None:
        return _STILL_RUNNING
    return 0 if state is JobState.COMPLETED else 1 + (state is JobState.CANCELLED)


_LARGEST = 500_000_000
_FADED = 1e-3


@dataclass(frozen=True, slots=True)
class CohortState:
    places: list[float]
    states: list[JobState]
    count: int
    last_end: float
    long: dict[int, float] = field(default_factory=dict)
    """Where on the grid its jobs ended over a long time, and how many there."""


@dataclass(frozen=True, slots=True)
class CohortModelState:
    """`cohorts` are those that got a job last, the newest at the end."""

    cohorts: dict[str, CohortState] = field(default_factory=dict)
    gates: GateState = field(default_factory=GateState)
    levels: ConformalLevelsState = field(default_factory=ConformalLevelsState)
    site: list[float] = field(default_factory=list)


def state_of(cohort: Cohort) -> CohortState:
    places = [round(place, 3) for place in cohort.places.tolist()]
    long = np.zeros(0) if cohort.long is None else cohort.long
    seen = {int(point): round(float(long[point]), 3) for point in np.flatnonzero(long > _FADED)}
    return CohortState(places, cohort.states, cohort.count, cohort.last_end, seen)


def long_of(state: CohortState) -> Pmf | None:
    if not state.long:
        return None
    long = np.zeros(SIZE, np.float32)
    for point, seen in state.long.items():
        if 0 <= point < SIZE:
            long[point] = seen
    return long


def packed(state: CohortModelState) -> bytes:
    return zlib.compress(dumps(state).encode(), level=6)


def unpacked(data: bytes) -> CohortModelState:
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(data, _LARGEST)
    except zlib.error as error:
        raise BadInput("what is stored of the site's past is damaged") from error
    return loads(CohortModelState, text)
