"""When it ends: from the run's own points and from how similar runs went. Pure: no clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from schedmate.model import EndsBy, RunProfile, Spread
from schedmate.tracker.timeline import Timeline

Basis = Literal["own", "similar"]


@dataclass(frozen=True, slots=True)
class Forecast:
    rate_per_s: float | None
    """Units a second now, without pauses; None while nothing tells it."""
    remaining_s: Spread | None
    """Counted from the newest point, or from `now`; None where nothing tells the end."""
    total: float | None
    """What the count will be at the end, where anything tells it."""
    ends_by: EndsBy
    basis: Basis
    confidence: float
    """In `remaining_s`, 0 to 1."""


def forecast(
    timeline: Timeline,
    *,
    total: float | None,
    likes: Sequence[RunProfile] = (),
    cap_s: float | None = None,
    now: float | None = None,
) -> Forecast | None:
    """Say how fast it goes and when it ends; None without anything to tell either from.

    `total` is what the log or the workload record says the run will do, in the timeline's unit;
    `likes` are profiles of similar finished runs in the same unit, most similar first. `cap_s`
    is how long after its beginning the run is ended anyway (a cap in the code, a limit).
    `now` is a time of the clock of `Timeline.add`.
    """
    raise NotImplementedError
