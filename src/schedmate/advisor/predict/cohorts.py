"""Cohorts: past and running jobs of which a job would be one more, and what each predicts.

A cohort predicts four times: by its newest end, by its newer ones, by all that it remembers, and
by the jobs as they were submitted (those that still run take longer than they have run by now).
Each prediction is a pmf over the grid of times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from schedmate.advisor.predict.distributions import (
    SIZE,
    Places,
    Pmf,
    Weights,
    blur,
    place_of,
    places_of,
)
from schedmate.advisor.predict.jobs import Facts
from schedmate.model import JobState, Outcome

KEPT = 32
"""Jobs that a cohort remembers one by one: what is older has changed."""
_DECAYS = np.array([0.3, 0.8, 0.97])
_OLDEST_FIRST = np.arange(KEPT)[::-1]
_FLIGHT, WAYS = len(_DECAYS), len(_DECAYS) + 1
_FLIGHT_DECAY = 0.9
_LONGEST = round(place_of(30 * 86_400.0))
_LEAST = float(np.finfo(np.float32).tiny)
SMEAR = blur(0.25)


@dataclass(frozen=True, slots=True)
class Kind:
    """One way to put jobs into cohorts: by the facts that they share."""

    name: str
    shares: tuple[str, ...]
    prior: float
    """The logit of its weight before anything is learnt: nearer cohorts count for more."""
    words: str
    needs: str = ""
    """Jobs without this belong to no such cohort."""
    relative: bool = False
    """Its times are shares of the limit asked for."""

    def key_of(self, facts: Facts) -> str | None:
        if self.needs and not getattr(facts, self.needs):
            return None
        return "\x1f".join((self.name, *(str(getattr(facts, each)) for each in self.shares)))


KINDS = (
    Kind("user", ("user",), 0.5, "{user}'s last {runs}"),
    Kind("user_request", ("user", "request"), 1.5, "{user}'s last {runs} with the same request"),
    Kind("request", ("request",), 0.0, "the last {runs} of all users with the same request"),
    Kind("everyone", (), -1.0, "the site's last {runs}"),
    Kind("user_limit", ("user",), 0.5, "how much of the limit {user}'s last {runs} used",
         needs="limit_s", relative=True),
    Kind("limit", (), -0.3, "how much of the limit the site's last {runs} used",
         needs="limit_s", relative=True),
    Kind("user_stem", ("user", "stem"), 3.0, "{user}'s last {runs} of about that name", "stem"),
    Kind("user_name", ("user", "name", "command"), 4.0, "{user}'s last {runs} of that very name",
         "stem"),
    Kind("user_word", ("user", "first_word"), 2.0, "{user}'s last {runs} whose names begin alike",
         "first_word"),
)  # fmt: skip
OTHERS = (0.0, -1.0, -2.0)
"""Logits of what belongs to no cohort: the limit itself, the site's long memory, and that anything
up to a month may happen."""
ROWS = WAYS * len(KINDS) + len(OTHERS)


@dataclass(slots=True)
class Flight:
    """A job since its submission; `place` is where on the grid it ended."""

    started_at: float | None = None
    place: float | None = None


@dataclass(slots=True)
class Cohort:
    """The newest jobs of one kind: the ended as they ended, all as they came."""

    ends: list[float] = field(default_factory=list)
    """Places on the grid; relative to the limit where the kind is."""
    states: list[JobState] = field(default_factory=list)
    flights: list[Flight] = field(default_factory=list)

    @property
    def none_ended(self) -> bool:
        """All of its jobs broke off."""
        return bool(self.states) and all(state.broke_off for state in self.states)

    def add_flight(self, flight: Flight) -> None:
        self.flights.append(flight)
        del self.flights[:-KEPT]

    def add_end(self, place: float, state: JobState) -> None:
        self.ends.append(place)
        self.states.append(state)
        del self.ends[:-KEPT], self.states[:-KEPT]

    def in_words(self) -> str:
        running = sum(each.started_at is not None and each.place is None for each in self.flights)
        text = f"{len(self.states)} run" + "s" * (len(self.states) != 1)
        return f"{text} and {running} that still run" if running else text


def expert_pmfs(
    cohorts: Sequence[Cohort | None], limit_s: float | None, site: Weights, now: float
) -> tuple[Pmf, Places]:
    """Rows of mass, each summing to one, and which of all `ROWS` they are. `cohorts` are of the
    `KINDS`, `site` is the mass of all ends."""
    limit = place_of(limit_s) if limit_s else 0.0
    mass = np.zeros((ROWS, SIZE))
    present = [(kind, cohort) for kind, cohort in enumerate(cohorts) if cohort is not None]
    if present:
        _add_jobs(mass, present, limit, site, now)
    if limit:
        mass[-3, round(limit)] = 1.0
    mass[-2] = site
    mass[-1, :_LONGEST] = 1.0
    total = mass.sum(axis=1)
    who = np.flatnonzero(total)
    return np.asarray(mass[who] / total[who, None], np.float32), who


def _add_jobs(
    mass: Weights, present: Sequence[tuple[int, Cohort]], limit: float, site: Weights, now: float
) -> None:
    first = np.array([kind for kind, _ in present]) * WAYS
    ended = [len(cohort.ends) for _, cohort in present]
    flown = [len(cohort.flights) for _, cohort in present]
    shift = np.repeat([limit * KINDS[kind].relative for kind, _ in present], ended)
    ends = np.array([end for _, cohort in present for end in cohort.ends]) + shift
    flights = [flight for _, cohort in present for flight in cohort.flights]
    places = np.array([flight.place for flight in flights], float)
    weights, done = _FLIGHT_DECAY ** _ages(flown), ~np.isnan(places)
    in_flight = np.repeat(first + _FLIGHT, flown)
    rows = [*np.repeat(first, ended) + np.arange(_FLIGHT)[:, None], in_flight[done]]
    _put(
        mass,
        np.concatenate(rows),
        np.concatenate([np.tile(ends, _FLIGHT), places[done]]),
        np.concatenate([(_DECAYS[:, None] ** _ages(ended)).ravel(), weights[done]]),
    )
    started = np.array([flight.started_at for flight in flights], float)
    running = ~done & ~np.isnan(started)
    if running.any():
        points = places_of(now - started[running])
        _add_running(mass, in_flight[running], points, weights[running], site)


def _ages(counts: Sequence[int]) -> Places:
    """Of so many jobs of each cohort, the oldest first."""
    return np.concatenate([_OLDEST_FIRST[KEPT - count :] for count in counts])


def _put(mass: Weights, rows: Places, places: Weights, weights: Weights) -> None:
    """Between two points of the grid, each gets as much as it is near."""
    places = np.minimum(np.maximum(places, 0.0), SIZE - 1.001)
    lower = places.astype(np.int64)
    above, at = places - lower, rows * SIZE + lower
    put = np.bincount(at, weights * (1 - above), mass.size)
    put += np.bincount(at + 1, weights * above, mass.size)
    mass += put.reshape(mass.shape)


def _add_running(
    mass: Weights, rows: Places, points: Places, weights: Weights, site: Weights
) -> None:
    """Each is taken to end as the user's jobs do that took longer than it has by now."""
    usual = mass[_FLIGHT - 1] @ SMEAR + 0.5 * site / site.sum()
    longer = np.maximum(np.cumsum(usual[::-1])[::-1], _LEAST)
    since = np.bincount(rows * SIZE + points, weights / longer[points], mass.size)
    flights = since.reshape(mass.shape)[_FLIGHT::WAYS]
    mass[_FLIGHT::WAYS] += usual * np.cumsum(flights, axis=1)


_DOUBT = 1 / 3


def rates(completed: float, cancelled: float, runs: float) -> Outcome:
    """Of that many runs, with one run's worth of doubt spread over the three ends."""
    good = (completed + _DOUBT) / (runs + 3 * _DOUBT)
    stopped = (cancelled + _DOUBT) / (runs + 3 * _DOUBT)
    return Outcome(
        completed=round(good, 3),
        failed=round(max(0.0, 1 - good - stopped), 3),
        cancelled=round(stopped, 3),
    )


def outcome_of(cohorts: Sequence[Cohort | None], weights: Weights) -> Outcome:
    """Rates of the cohorts by how much each counts."""
    known = [
        (float(weight), cohort.states)
        for weight, cohort in zip(weights, cohorts, strict=True)
        if cohort is not None and cohort.states
    ]
    runs, total = max((len(s) for _, s in known), default=0), sum(w for w, _ in known) or 1.0

    def count(state: JobState) -> float:
        return runs * sum(w * s.count(state) / len(s) for w, s in known) / total

    return rates(count(JobState.COMPLETED), count(JobState.CANCELLED), runs)
