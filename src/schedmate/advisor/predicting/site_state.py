"""What a site model knows, as it is stored. Jobs on their way are told to it anew."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field

from schedmate.advisor.predicting.gates import GatesState
from schedmate.advisor.predicting.levels import LevelsState
from schedmate.model import BadInput, JobState
from schedmate.model.wire import dumps, loads

_LARGEST = 500_000_000


@dataclass(frozen=True, slots=True)
class GroupState:
    places: list[float]
    states: list[JobState]
    count: int
    last_end: float


@dataclass(frozen=True, slots=True)
class SiteState:
    """`groups` are those that got a job last, the newest at the end."""

    groups: dict[str, GroupState] = field(default_factory=dict)
    gates: GatesState = field(default_factory=GatesState)
    levels: LevelsState = field(default_factory=LevelsState)
    site: list[float] = field(default_factory=list)


def packed(state: SiteState) -> bytes:
    return zlib.compress(dumps(state).encode(), level=6)


def unpacked(data: bytes) -> SiteState:
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(data, _LARGEST)
    except zlib.error as error:
        raise BadInput("what is stored of the site's past is damaged") from error
    return loads(SiteState, text)
