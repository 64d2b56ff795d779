"""What each group of kin says of a job's time: a row of mass for every way to look at it.

A group speaks five times: by its newest end, by its newer ones, by all that it remembers, by the
jobs as they were submitted, and by what it has ever seen. The fourth counts those that still run:
they take longer than they have run by now, which at a burst's start is all that is known of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from schedmate.advisor.predict.grid import (
    SIZE,
    Mass,
    Places,
    Weights,
    blur,
    place_of,
    places_of,
)
from schedmate.advisor.predict.kin import KEPT, KINDS, RELATIVE, Group

_DECAYS = (0.3, 0.8, 0.97)
_BY_AGE = np.array([[decay**age for age in range(KEPT)] for decay in _DECAYS])
_FLIGHT_WEIGHTS = [0.9**age for age in range(KEPT)]
_FLIGHTS, _LONG = len(_DECAYS), len(_DECAYS) + 1
WAYS = len(_DECAYS) + 2
_USUAL = len(_DECAYS) - 1
ROWS = WAYS * len(KINDS) + 3
"""And the limit itself, the site's long memory, and that anything up to a month may happen."""
SMEAR = blur(0.25)
_LONGEST = round(place_of(30 * 86_400.0))


@dataclass(frozen=True, slots=True)
class Opinions:
    """Rows of mass, each summing to one, and which of all `ROWS` they are."""

    mass: Mass
    who: Places


def opinions(
    groups: Sequence[Group | None], limit_s: float | None, site: Mass, now: float
) -> Opinions:
    """`groups` are of the `KINDS`, `site` is the mass of all ends."""
    present = [(kind, group) for kind, group in enumerate(groups) if group is not None]
    limit = place_of(limit_s) if limit_s else None
    rows = np.zeros((WAYS * len(present) + 3, SIZE), np.float32)
    _add_ends(rows, present, limit or 0.0)
    _add_flights(rows, [group for _, group in present], site, now)
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
    return Opinions(rows, who)


def _add_ends(rows: Mass, present: Sequence[tuple[int, Group]], limit: float) -> None:
    places: list[float] = []
    ages: list[int] = []
    first_rows: list[int] = []
    for number, (kind, group) in enumerate(present):
        count = len(group.places)
        shift = limit if KINDS[kind] in RELATIVE else 0.0
        places += [each + shift for each in group.places] if shift else group.places
        ages += range(count - 1, -1, -1)
        first_rows += [number * WAYS] * count
    if places:
        at = np.array(first_rows)[None, :] + np.arange(len(_DECAYS))[:, None]
        _put(rows, at, np.broadcast_to(np.array(places), at.shape), _BY_AGE[:, ages])


def _add_long_memories(rows: Mass, present: Sequence[tuple[int, Group]]) -> None:
    for number, (kind, group) in enumerate(present):
        if group.long is not None and KINDS[kind] not in RELATIVE:
            rows[number * WAYS + _LONG] = group.long


def _put(rows: Mass, at: Places, places: Weights, weights: Weights) -> None:
    """Between two points of the grid, each gets as much as it is near."""
    places = np.clip(places, 0, SIZE - 1.001)
    lower = places.astype(np.int64)
    share = places - lower
    flat = (at * SIZE + lower).ravel()
    put = np.bincount(flat, (weights * (1 - share)).ravel(), rows.size)
    put += np.bincount(flat + 1, (weights * share).ravel(), rows.size)
    rows += put.reshape(rows.shape)


def _add_flights(rows: Mass, groups: Sequence[Group], site: Mass, now: float) -> None:
    known: list[tuple[int, float, float]] = []
    running: list[tuple[int, float, float]] = []
    for number, group in enumerate(groups):
        row = number * WAYS + _FLIGHTS
        for flight, weight in zip(reversed(group.flights), _FLIGHT_WEIGHTS, strict=False):
            if flight.place is not None:
                known.append((row, flight.place, weight))
            elif flight.started_at is not None:
                running.append((row, now - flight.started_at, weight))
    if known:
        at, places, weights = np.array(known).T
        _put(rows, at.astype(np.int64), places, weights)
    if running:
        at, elapsed, weights = np.array(running).T
        _add_running(rows, at.astype(np.int64), places_of(elapsed), weights, site)


def _add_running(rows: Mass, at: Places, places: Places, weights: Weights, site: Mass) -> None:
    """Each is taken to end as the user's jobs do that took longer than it has by now."""
    usual = rows[_USUAL] @ SMEAR + 0.5 * site / site.sum()
    longer = np.cumsum(usual[::-1])[::-1]
    since = np.bincount(at * SIZE + places, weights / longer[places], rows.size)
    which = np.unique(at)
    rows[which] += usual * np.cumsum(since.reshape(rows.shape)[which], axis=1)
