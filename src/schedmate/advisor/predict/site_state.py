"""What a site model knows, as it is stored. Jobs on their way are told to it anew."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field

import numpy as np

from schedmate.advisor.predict.gates import GatesState
from schedmate.advisor.predict.grid import SIZE, Mass
from schedmate.advisor.predict.kin import Group
from schedmate.advisor.predict.levels import LevelsState
from schedmate.model import BadInput, JobState
from schedmate.model.wire import dumps, loads

_LARGEST = 500_000_000
_FADED = 1e-3


@dataclass(frozen=True, slots=True)
class GroupState:
    places: list[float]
    states: list[JobState]
    count: int
    last_end: float
    long: dict[int, float] = field(default_factory=dict)
    """Where on the grid its jobs ended over a long time, and how many there."""


@dataclass(frozen=True, slots=True)
class SiteState:
    """`groups` are those that got a job last, the newest at the end."""

    groups: dict[str, GroupState] = field(default_factory=dict)
    gates: GatesState = field(default_factory=GatesState)
    levels: LevelsState = field(default_factory=LevelsState)
    site: list[float] = field(default_factory=list)


def state_of(group: Group) -> GroupState:
    places = [round(place, 3) for place in group.places.tolist()]
    long = np.zeros(0) if group.long is None else group.long
    seen = {int(point): round(float(long[point]), 3) for point in np.flatnonzero(long > _FADED)}
    return GroupState(places, group.states, group.count, group.last_end, seen)


def long_of(state: GroupState) -> Mass | None:
    if not state.long:
        return None
    long = np.zeros(SIZE, np.float32)
    for point, seen in state.long.items():
        if 0 <= point < SIZE:
            long[point] = seen
    return long


def packed(state: SiteState) -> bytes:
    return zlib.compress(dumps(state).encode(), level=6)


def unpacked(data: bytes) -> SiteState:
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(data, _LARGEST)
    except zlib.error as error:
        raise BadInput("what is stored of the site's past is damaged") from error
    return loads(SiteState, text)
