"""How a run went, thinned to what the next one like it can learn from."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from schedmate.model import EndsBy, Mark, RunProfile, Unit
from schedmate.tracker.forecasting.timeline import Point, Timeline

_MOST_MARKS = 48
_EVEN_MARKS = 12
_EARLY = 0.05
"""Errors count by their share of the time so far, but not more than in this share of the run."""


def profile_of(
    timeline: Timeline,
    *,
    unit: Unit | Literal["line"],
    total: float | None = None,
    ends_by: EndsBy = "unknown",
    ended_at: float | None = None,
) -> RunProfile | None:
    """The curve of a finished run, at most 48 marks; None where nothing was counted.

    `ended_at` is when the run ended, on the clock of `Timeline.add`, if later than its last point.
    """
    if not timeline.points:
        return None
    curve = [Mark(point.at, point.done) for point in _chosen(timeline.points)]
    if ended_at is not None and (after := timeline.since_newest_s(ended_at)) > 0:
        curve.append(Mark(curve[-1].at + after, curve[-1].done))
    return RunProfile(unit=unit, curve=tuple(curve), total=total, ends_by=ends_by)


def _chosen(points: Sequence[Point]) -> list[Point]:
    """A few at even distances, then always the one that the curve so far misses most."""
    last = len(points) - 1
    if last < _MOST_MARKS - 1:
        return list(points)
    dones = [point.done for point in points]
    step = (dones[-1] - dones[0]) / _EVEN_MARKS
    even = {bisect_left(dones, dones[0] + step * mark) for mark in range(_EVEN_MARKS)}
    chosen = sorted(even | {0, last})
    worst = [_worst_between(points, *pair) for pair in pairwise(chosen)]
    while len(chosen) < _MOST_MARKS - 1:
        gap = max(range(len(worst)), key=worst.__getitem__)
        index = worst[gap][1]
        chosen.insert(gap + 1, index)
        worst[gap : gap + 1] = [
            _worst_between(points, chosen[gap], index),
            _worst_between(points, index, chosen[gap + 2]),
        ]
    return [points[index] for index in chosen]


def _worst_between(points: Sequence[Point], first: int, last: int) -> tuple[float, int]:
    """How far the straight line misses the curve at most, relative to its time, and where."""
    start, end = points[first], points[last]
    slope = (end.at - start.at) / (end.done - start.done)
    least = _EARLY * points[-1].at
    misses = (
        (
            abs(start.at + slope * (points[index].done - start.done) - points[index].at)
            / max(points[index].at, least, math.ulp(0.0)),
            index,
        )
        for index in range(first + 1, last)
    )
    return max(misses, default=(-1.0, first))
