"""What a site's own past says of a job from nothing but what its scheduler knows at submission.

Groups of kin (`kin`), what each says (`experts`), whom to believe (`gates`), and how far to trust
the lot (`levels`). All of it is learnt job by job, at the same cost for the millionth as for the
first; there is nothing to retrain.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from schedmate.advisor.predict.experts import ROWS, WAYS, opinions
from schedmate.advisor.predict.facts import Facts, Ran
from schedmate.advisor.predict.gates import AGES_S, LAGS_S, Gates, Mixed, Situation, bucket_of
from schedmate.advisor.predict.grid import SIZE, Mass, Weights, below_of, place_of, spread_of
from schedmate.advisor.predict.kin import (
    KINDS,
    Flight,
    Group,
    Kin,
    is_relative,
    joined_keys,
    keys_of,
)
from schedmate.advisor.predict.levels import Levels, Watched
from schedmate.advisor.predict.replay import replay
from schedmate.advisor.predict.site_state import SiteState, long_of, packed, state_of, unpacked
from schedmate.advisor.predict.words import in_words, outcome_of
from schedmate.model import JobState, Outcome, Spread

_CLOSELY = 30_000
_GROUPS_STORED = 20_000
_SITE_MEMORY = 0.9995
_MOST_IN_FLIGHT = 20_000
_MOST_COUNTED = 5
_NO_LAG = len(LAGS_S) + 1
_STILL_RUNNING = 3
_NO_PREVIOUS = 4


@dataclass(frozen=True, slots=True)
class Forecast:
    """How long, how it will end, and whose past says so."""

    duration_s: Spread
    outcome: Outcome
    rests_on: str


@dataclass(frozen=True, slots=True)
class _Said:
    keys: Sequence[str | None]
    groups: Sequence[Group | None]
    mixed: Mixed
    below: Mass
    duration_s: Spread


@dataclass(frozen=True, slots=True)
class _OnItsWay:
    """A job from its submission to its end."""

    flight: Flight
    keys: list[str]
    mixed: Mixed
    watched: Watched


@dataclass(slots=True)
class _LastOfUser:
    submitted_at: float
    flight: Flight
    request: tuple[object, ...]
    state: JobState | None = None


class SiteModel:
    """Told of submissions, starts and ends in the order in which they happen."""

    def __init__(self, state: SiteState | None = None) -> None:
        state = state or SiteState()
        self._kin = Kin()
        for key, group in state.groups.items():
            self._kin.groups[key] = Group(
                places=group.places,
                states=group.states,
                count=group.count,
                last_end=group.last_end,
                long=long_of(group),
            )
        self._gates = Gates(state.gates)
        self._levels = Levels(state.levels)
        known = len(state.site) == SIZE
        self._site: Mass = np.array(state.site if known else [0.01] * SIZE, np.float32)
        self._on_their_way: dict[str, _OnItsWay] = {}
        self._last: dict[str, _LastOfUser] = {}

    @classmethod
    def load(cls, data: bytes) -> SiteModel:
        return cls(unpacked(data))

    def dump(self) -> bytes:
        """All but the jobs on their way."""
        newest = list(self._kin.groups.items())[-_GROUPS_STORED:]
        groups = {key: state_of(each) for key, each in newest if each.states}
        site = [round(float(each), 3) for each in self._site]
        return packed(SiteState(groups, self._gates.state, self._levels.state, site))

    def learn(self, runs: Iterable[Ran], *, closely: int = _CLOSELY) -> None:
        """From a site's past, in whatever order it comes.

        Whom to believe is learnt from the newest; of older runs only their times are remembered.
        """
        ordered = sorted(runs, key=lambda run: run.facts.submitted_at)
        older, newest = ordered[:-closely], ordered[-closely:]
        for run in sorted(older, key=lambda run: run.ended_at):
            self.ended(run)
        for _ in self.replayed(newest):
            pass

    def replayed(self, runs: Iterable[Ran]) -> Iterator[tuple[Ran, Spread]]:
        """Learn, and say of each run what would have been said when it was submitted."""
        for event in replay(runs):
            match event.kind:
                case "submit":
                    yield event.run, self.submitted(event.run.facts)
                case "start":
                    self.started(event.run.facts.job_id, event.at)
                case "end":
                    self.ended(event.run)

    def predict(self, facts: Facts) -> Forecast:
        """Without remembering that it was asked."""
        said = self._say(facts)
        weights = _by_kind(said.mixed)
        outcome = outcome_of(said.groups, weights)
        return Forecast(said.duration_s, outcome, in_words(facts, said.groups, weights))

    def submitted(self, facts: Facts) -> Spread:
        said = self._say(facts)
        flight = Flight()
        watched = Watched(flight, said.below, said=said.duration_s)
        self._levels.submitted(watched, facts.submitted_at)
        keys = joined_keys(said.keys, self._since_last(facts))
        for key in keys:
            self._kin.joined(key).submitted(flight)
        self._on_their_way[facts.job_id] = _OnItsWay(flight, keys, said.mixed, watched)
        if len(self._on_their_way) > _MOST_IN_FLIGHT:
            del self._on_their_way[next(iter(self._on_their_way))]
        self._last[facts.user] = _LastOfUser(facts.submitted_at, flight, facts.request)
        return said.duration_s

    def started(self, job_id: str, at: float) -> None:
        if (job := self._on_their_way.get(job_id)) is not None:
            job.flight.starts(at)

    def ended(self, run: Ran) -> None:
        """Of a job whose submission nobody told, only its time is learnt."""
        place = place_of(run.duration_s)
        job = self._on_their_way.pop(run.facts.job_id, None)
        if job is not None:
            self._learn(job, run, place)
        limit = place_of(run.facts.limit_s or 0.0)
        for key in job.keys if job else joined_keys(keys_of(run.facts), None):
            shift = limit if is_relative(key) else 0.0
            self._kin.joined(key).ended(place - shift, run.state, run.ended_at)
        self._site *= _SITE_MEMORY
        self._site[round(place)] += 1

    def _learn(self, job: _OnItsWay, run: Ran, place: float) -> None:
        self._gates.learn(job.mixed, place)
        self._levels.ended(job.watched, run.duration_s)
        job.flight.ends(place)
        last = self._last.get(run.facts.user)
        if last is not None and last.flight is job.flight:
            last.state = run.state

    def _say(self, facts: Facts) -> _Said:
        keys = keys_of(facts)
        groups = [self._kin.get(key) for key in keys]
        said = opinions(groups, facts.limit_s, self._site, facts.submitted_at)
        mixed = self._gates.mix(said, self._situation(facts, groups))
        below = below_of(mixed.mass)
        return _Said(
            keys, groups, mixed, below, spread_of(below, self._levels.low, self._levels.high)
        )

    def _situation(self, facts: Facts, groups: Sequence[Group | None]) -> Situation:
        now = facts.submitted_at
        counts, ages = [1] * (len(KINDS) + 1), [0] * (len(KINDS) + 1)
        for kind, group in enumerate(groups):
            if group is not None:
                counts[kind] = min(_MOST_COUNTED, int(math.log2(group.count + 1)))
                ages[kind] = bucket_of(now - group.last_end, AGES_S)
        last = self._last.get(facts.user)
        if last is None:
            return Situation(
                facts.user,
                counts,
                ages,
                lag=_NO_LAG,
                previous=_NO_PREVIOUS,
                same=0,
            )
        return Situation(
            facts.user,
            counts,
            ages,
            lag=bucket_of(now - last.submitted_at, LAGS_S),
            previous=_how_it_went(last.state),
            same=1 + (last.request != facts.request),
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
