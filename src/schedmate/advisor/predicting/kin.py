"""Whom a job is likened to: groups of past and running jobs, of which it would be one more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from schedmate.advisor.predicting.facts import Facts
from schedmate.model import JobState

KEPT = 32
"""Jobs remembered in a group: what is older has changed."""
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
)
RELATIVE = frozenset({"user_limit", "limit"})
"""Groups whose times are shares of the limit asked for."""
_BETWEEN = "\x1f"


@dataclass(slots=True)
class Flight:
    """A job since it was submitted; `place` is known once it has ended."""

    started_at: float | None = None
    place: float | None = None


@dataclass(slots=True)
class Group:
    """The newest jobs of one kind, oldest first: the ended as they ended, all as they came."""

    places: list[float] = field(default_factory=list)
    states: list[JobState] = field(default_factory=list)
    flights: list[Flight] = field(default_factory=list)
    count: int = 0
    last_end: float = 0.0

    def submitted(self, flight: Flight) -> None:
        self.flights.append(flight)
        del self.flights[:-KEPT]

    def ended(self, place: float, state: JobState, at: float) -> None:
        self.places.append(place)
        self.states.append(state)
        del self.places[:-KEPT], self.states[:-KEPT]
        self.count += 1
        self.last_end = at


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
