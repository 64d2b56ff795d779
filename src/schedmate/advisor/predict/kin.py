"""Whom a job is likened to: groups of past and running jobs, of which it would be one more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from schedmate.advisor.predict.facts import Facts
from schedmate.advisor.predict.grid import SIZE, Mass, Weights
from schedmate.model import JobState

KEPT = 32
"""Jobs that a group remembers one by one: what is older has changed."""
_LONG_MEMORY = 0.998
GROUPS_KEPT = 100_000
_BURST_S = 60.0

KINDS = (
    "user",
    "user_request",
    "user_bursts",
    "request",
    "everyone",
    "user_limit",
    "limit",
    "user_stem",
    "user_name",
    "stem",
    "user_word",
)
RELATIVE = frozenset({"user_limit", "limit"})
"""Groups whose times are shares of the limit asked for."""
_BETWEEN = "\x1f"


STARTED, FLOWN, ENDED = range(3)
"""Rows of `Group.recent`: when the newest submitted jobs started, where on the grid they ended,
and where the newest ended ones did."""
_SMALL = 4


@dataclass(slots=True)
class Flight:
    """A job since it was submitted, and its number in each group that remembers it."""

    started_at: float | None = None
    groups: list[tuple[Group, int]] = field(default_factory=list)

    def starts(self, at: float) -> None:
        self.started_at = at
        self._note(STARTED, at)

    def ends(self, place: float) -> None:
        self._note(FLOWN, place)

    def _note(self, row: int, value: float) -> None:
        for group, number in self.groups:
            group.note(row, number, value)


class Group:
    """The newest jobs of one kind: the ended as they ended, all as they came."""

    __slots__ = ("count", "last_end", "long", "recent", "states", "submissions")

    def __init__(
        self,
        places: Sequence[float] = (),
        states: Sequence[JobState] = (),
        count: int = 0,
        last_end: float = 0.0,
        long: Mass | None = None,
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
    def places(self) -> Weights:
        ended = self.recent[ENDED]
        return np.asarray(ended[ended == ended])  # noqa: PLR0124 - not NaN

    def submitted(self, flight: Flight) -> None:
        flight.groups.append((self, self.submissions))
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
    """The key of its group of each of `KINDS`, where it has one."""
    user, stem = facts.user, facts.stem.strip()
    request = "/".join(map(str, facts.request))
    parts: tuple[Sequence[str] | None, ...] = (
        (user,),
        (user, request),
        (user,),
        (request,),
        (),
        (user,) if facts.limit_s else None,
        () if facts.limit_s else None,
        (user, stem) if stem else None,
        (user, facts.name, facts.command) if stem else None,
        (stem,) if stem else None,
        (user, facts.first_word) if facts.first_word else None,
    )
    return tuple(
        None if each is None else _BETWEEN.join((kind, *each))
        for kind, each in zip(KINDS, parts, strict=True)
    )


def joined_keys(keys: Sequence[str | None], since_last_s: float | None) -> list[str]:
    """Those of its groups that remember it; `since_last_s` the user submitted another job.

    A thousand jobs submitted at once would be all that is remembered of a user; so one group has
    only the first of each such burst.
    """
    first = since_last_s is None or since_last_s > _BURST_S
    return [
        key
        for kind, key in zip(KINDS, keys, strict=True)
        if key is not None and (first or kind != "user_bursts")
    ]


def is_relative(key: str) -> bool:
    return key.partition(_BETWEEN)[0] in RELATIVE


class Kin:
    """All groups of a site; those that got no new job for longest are forgotten first."""

    def __init__(self) -> None:
        self.groups: dict[str, Group] = {}

    def get(self, key: str | None) -> Group | None:
        return None if key is None else self.groups.get(key)

    def joined(self, key: str) -> Group:
        """The group of `key`, now the newest."""
        group = self.groups.pop(key, None) or Group()
        self.groups[key] = group
        if len(self.groups) > GROUPS_KEPT:
            del self.groups[next(iter(self.groups))]
        return group
