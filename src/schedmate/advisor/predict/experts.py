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
from schedmate.advisor.predict.kin import (
    ENDED,
    FLOWN,
    KEPT,
    KINDS,
    RELATIVE,
    STARTED,
    Group,
)

_DECAYS = (0.3, 0.8, 0.97)
_BY_AGE = np.array([[decay**age for age in reversed(range(KEPT))] for decay in _DECAYS])
"""Oldest first, as groups remember their jobs."""
_FLIGHT_WEIGHTS = np.array([0.9**age for age in range(KEPT)])
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
    return Opinions(rows, who)


def _add_recent(
    rows: Mass, present: Sequence[tuple[int, Group]], limit: float, site: Mass, now: float
) -> None:
    recent = np.full((len(present), 3, KEPT), np.nan)
    for number, (kind, group) in enumerate(present):
        recent[number, :, -group.recent.shape[1] :] = group.recent
        if limit and KINDS[kind] in RELATIVE:
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


def _add_long_memories(rows: Mass, present: Sequence[tuple[int, Group]]) -> None:
    for number, (kind, group) in enumerate(present):
        if group.long is not None and KINDS[kind] not in RELATIVE:
            rows[number * WAYS + _LONG] = group.long


def _put(
    rows: Mass, first_row: Places, ended: Weights, flights: tuple[Places, Weights, Weights]
) -> None:
    """Ends by each of the decays, and flights; between two points of the grid, each gets as much
    as it is near."""
    there = ended == ended  # noqa: PLR0124 - not NaN
    group, at = np.nonzero(there)
    row = first_row[group] + np.arange(len(_DECAYS))[:, None]
    count = len(group)
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


def _add_running(rows: Mass, at: Places, places: Places, weights: Weights, site: Mass) -> None:
    """Each is taken to end as the user's jobs do that took longer than it has by now."""
    usual = rows[_USUAL] @ SMEAR + 0.5 * site / site.sum()
    longer = np.cumsum(usual[::-1])[::-1]
    since = np.bincount(at * SIZE + places, weights / longer[places], rows.size)
    since = since.reshape(rows.shape)[_FLIGHTS::WAYS]
    which = np.flatnonzero(np.bincount(at // WAYS, minlength=len(since)))
    rows[which * WAYS + _FLIGHTS] += usual * np.cumsum(since[which], axis=1)
