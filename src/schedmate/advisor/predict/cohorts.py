"""Cohorts: cohorts of past and running jobs of which a job would be one more."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from schedmate.advisor.predict.distributions import SIZE, Pmf, Weights
from schedmate.advisor.predict.jobs import Facts
from schedmate.model import JobState, Outcome

KEPT = 32
"""Jobs that a cohort remembers one by one: what is older has changed."""
_LONG_MEMORY = 0.998
COHORTS_KEPT = 100_000
_BURST_S = 60.0


@dataclass(frozen=True, slots=True)
class Kind:
    """One way to put jobs into cohorts."""

    name: str
    key: Callable[[Facts], Sequence[str] | None]
    """What the jobs of a cohort share; None for a job that belongs to no such cohort."""
    prior: float
    """The logit of its weight before anything is learnt: nearer cohorts count for more."""
    words: str
    relative: bool = False
    """Its times are shares of the limit asked for."""
    first_of_burst: bool = False
    """A thousand jobs submitted at once would be all that is remembered: only the first counts."""


def _request(facts: Facts) -> str:
    return "/".join(map(str, facts.request))


KINDS = (
    Kind("user", lambda job: (job.user,), 0.5, "{user}'s last {runs}"),
    Kind(
        "user_request",
        lambda job: (job.user, _request(job)),
        1.5,
        "{user}'s last {runs} with the same request",
    ),
    Kind(
        "user_bursts",
        lambda job: (job.user,),
        0.0,
        "the first of {user}'s jobs each time, {runs}",
        first_of_burst=True,
    ),
    Kind(
        "request",
        lambda job: (_request(job),),
        0.0,
        "the last {runs} of all users with the same request",
    ),
    Kind("everyone", lambda _: (), -1.0, "the site's last {runs}"),
    Kind(
        "user_limit",
        lambda job: (job.user,) if job.limit_s else None,
        0.5,
        "how much of the limit {user}'s last {runs} used",
        relative=True,
    ),
    Kind(
        "limit",
        lambda job: () if job.limit_s else None,
        -0.3,
        "how much of the limit the site's last {runs} used",
        relative=True,
    ),
    Kind(
        "user_stem",
        lambda job: (job.user, job.stem) if job.stem else None,
        3.0,
        "{user}'s last {runs} of about that name",
    ),
    Kind(
        "user_name",
        lambda job: (job.user, job.name, job.command) if job.stem else None,
        4.0,
        "{user}'s last {runs} of that very name",
    ),
    Kind(
        "stem",
        lambda job: (job.stem,) if job.stem else None,
        0.5,
        "the last {runs} of all users of about that name",
    ),
    Kind(
        "user_word",
        lambda job: (job.user, job.first_word) if job.first_word else None,
        2.0,
        "{user}'s last {runs} whose names begin alike",
    ),
)
_BETWEEN = "\x1f"


STARTED, FLOWN, ENDED = range(3)
"""Rows of `Cohort.recent`: when the newest submitted jobs started, where on the grid they ended,
and where the newest ended ones did."""
_SMALL = 4


@dataclass(slots=True)
class InFlightJob:
    """A job since it was submitted, and its number in each cohort that remembers it."""

    started_at: float | None = None
    cohorts: list[tuple[Cohort, int]] = field(default_factory=list)

    def starts(self, at: float) -> None:
        self.started_at = at
        self._note(STARTED, at)

    def ends(self, place: float) -> None:
        self._note(FLOWN, place)

    def vanishes(self) -> None:
        """It runs no more, and how long it did is not known."""
        self._note(STARTED, math.nan)

    def _note(self, row: int, value: float) -> None:
        for cohort, number in self.cohorts:
            cohort.note(row, number, value)


class Cohort:
    """The newest jobs of one kind: the ended as they ended, all as they came."""

    __slots__ = ("count", "last_end", "long", "recent", "states", "submissions")

    def __init__(
        self,
        places: Sequence[float] = (),
        states: Sequence[JobState] = (),
        count: int = 0,
        last_end: float = 0.0,
        long: Pmf | None = None,
    ) -> None:
        self.states = list(states)
        self.count = count
        self.last_end = last_end
        self.long = long
        """Where all its jobs ended, fading slowly, once they are more than it remembers."""
        self.submissions = 0
        self.recent = np.full((3, KEPT if len(places) > _SMALL else _SMALL), np.nan)
        """Newest last, NaN where there is none; small until it has to be larger."""
        if places:
            self.recent[ENDED, -len(places) :] = places

    @property
    def none_ended(self) -> bool:
        """All of its jobs broke off."""
        return bool(self.states) and all(state.broke_off for state in self.states)

    @property
    def places(self) -> Weights:
        ended = self.recent[ENDED]
        return np.asarray(ended[ended == ended])  # noqa: PLR0124 - not NaN

    def submitted(self, flight: InFlightJob) -> None:
        flight.cohorts.append((self, self.submissions))
        self.submissions += 1
        self._make_room(self.submissions)
        self.recent[:ENDED, :-1] = self.recent[:ENDED, 1:]
        self.recent[:ENDED, -1] = np.nan

    def note(self, row: int, number: int, value: float) -> None:
        """Of the job that was submitted as this number, if it is remembered."""
        back = self.submissions - number
        if back <= KEPT:
            self.recent[row, -back] = value

    def ended(self, place: float, state: JobState, at: float) -> None:
        self._remember_for_long(place)
        self._make_room(len(self.states) + 1)
        ended = self.recent[ENDED]
        ended[:-1] = ended[1:]
        ended[-1] = place
        self.states.append(state)
        del self.states[:-KEPT]
        self.count += 1
        self.last_end = at

    def _make_room(self, jobs: int) -> None:
        if jobs > _SMALL and self.recent.shape[1] == _SMALL:
            larger = np.full((3, KEPT), np.nan)
            larger[:, -_SMALL:] = self.recent
            self.recent = larger

    def _remember_for_long(self, place: float) -> None:
        if self.long is not None:
            self.long *= _LONG_MEMORY
            self.long[_point(place)] += 1
        elif len(self.states) == KEPT:
            points = [_point(each) for each in (*self.places.tolist(), place)]
            self.long = np.bincount(points, minlength=SIZE).astype(np.float32)


def _point(place: float) -> int:
    return min(max(round(place), 0), SIZE - 1)


def keys_of(facts: Facts) -> tuple[str | None, ...]:
    """The key of its cohort of each of `KINDS`, where it has one."""
    parts = ((kind.name, kind.key(facts)) for kind in KINDS)
    return tuple(None if key is None else _BETWEEN.join((name, *key)) for name, key in parts)


def joined_keys(keys: Sequence[str | None], since_last_s: float | None) -> list[str]:
    """Those of its cohorts that remember it; `since_last_s` the user submitted another job."""
    first = since_last_s is None or since_last_s > _BURST_S
    return [
        key
        for kind, key in zip(KINDS, keys, strict=True)
        if key is not None and (first or not kind.first_of_burst)
    ]


_RELATIVE = frozenset(kind.name for kind in KINDS if kind.relative)


def is_relative(key: str) -> bool:
    return key.partition(_BETWEEN)[0] in _RELATIVE


class Cohorts:
    """All cohorts of a site; those that got no new job for longest are forgotten first."""

    def __init__(self) -> None:
        self.by_key: dict[str, Cohort] = {}

    def get(self, key: str | None) -> Cohort | None:
        return None if key is None else self.by_key.get(key)

    def joined(self, key: str) -> Cohort:
        """The cohort of `key`, now the newest."""
        cohort = self.by_key.pop(key, None) or Cohort()
        self.by_key[key] = cohort
        if len(self.by_key) > COHORTS_KEPT:
            del self.by_key[next(iter(self.by_key))]
        return cohort


_DOUBT = 1 / 3


def in_words(facts: Facts, cohorts: Sequence[Cohort | None], weights: Weights) -> str:
    """`weights` says how much each kind of cohort counts."""
    known = [
        (float(weight), kind, cohort)
        for weight, kind, cohort in zip(weights, KINDS, cohorts, strict=True)
        if cohort is not None and (cohort.states or cohort.submissions)
    ]
    if not known:
        return "nothing has run here yet"
    _, kind, cohort = max(known, key=lambda each: each[0])
    return kind.words.format(user=facts.user, runs=_runs(cohort))


def _runs(cohort: Cohort) -> str:
    ended = len(cohort.states)
    running = int((np.isnan(cohort.recent[FLOWN]) & ~np.isnan(cohort.recent[STARTED])).sum())
    text = f"{ended} run" if ended == 1 else f"{ended} runs"
    return f"{text} and {running} that still run" if running else text


def outcome_of(cohorts: Sequence[Cohort | None], weights: Weights) -> Outcome:
    """Rates of the cohorts by how much each counts, with one run's worth of doubt."""
    completed = cancelled = total = 0.0
    for cohort, weight in zip(cohorts, weights, strict=True):
        if cohort is None or not cohort.states:
            continue
        share = float(weight) / len(cohort.states)
        completed += share * cohort.states.count(JobState.COMPLETED)
        cancelled += share * cohort.states.count(JobState.CANCELLED)
        total += float(weight)
    return _rates(completed, cancelled, total, _runs_behind(cohorts))


def _runs_behind(cohorts: Sequence[Cohort | None]) -> int:
    return max((len(cohort.states) for cohort in cohorts if cohort), default=0)


def _rates(completed: float, cancelled: float, total: float, runs: int) -> Outcome:
    doubted = runs + 3 * _DOUBT
    scale = runs / total if total else 0.0
    good = (completed * scale + _DOUBT) / doubted
    stopped = (cancelled * scale + _DOUBT) / doubted
    return Outcome(
        completed=round(good, 3),
        failed=round(max(0.0, 1 - good - stopped), 3),
        cancelled=round(stopped, 3),
    )
