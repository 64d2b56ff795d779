"""From what was done when to how long the rest will take. Pure: no clock, no file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from schedmate.model import Spread

_MOST_POINTS = 256
_WARMUP_UNITS = 10.0
_WARMUP_SHARE = 0.1
_WINDOW_SHARE = 0.5
_MOST_BLOCKS = 10
_OUTLIER = 5.0
_Z90 = 1.2816
_LEAST_SPREAD = 0.01
_FASTEST_PACE = 1e-15
"""Seconds a unit; whatever seems faster is an accident of its times."""


@dataclass(frozen=True, slots=True)
class Point:
    """So much was done at that time."""

    at: float
    done: float


@dataclass(frozen=True, slots=True)
class Estimate:
    rate_per_s: float
    remaining_s: Spread


@dataclass(frozen=True, slots=True)
class _Block:
    units: float
    seconds: float

    @property
    def pace(self) -> float:
        return self.seconds / self.units


class Pace:
    """The points of one count, in bounded memory: dense where new, sparse where old."""

    def __init__(self) -> None:
        self._points: list[Point] = []

    @property
    def points(self) -> Sequence[Point]:
        return self._points

    def add(self, at: float, done: float, *, whole_seconds: bool) -> None:
        """Note a point; of several at the same time one is kept.

        A time printed in whole seconds is right for the first line that shows it; the clock of
        a look is right for the last line it found.
        """
        last = self._points[-1] if self._points else None
        if last is not None and at < last.at:
            self._points.clear()  # the clock was set back: times before and after do not compare
        elif last is not None and done <= last.done:
            return
        elif last is not None and at == last.at:
            if not whole_seconds:
                self._points[-1] = Point(at, done)
            return
        self._points.append(Point(at, done))
        if len(self._points) > _MOST_POINTS:
            del self._points[1 : _MOST_POINTS // 2 : 2]

    def clear(self) -> None:
        self._points.clear()


def estimate(points: Sequence[Point], remaining: float) -> Estimate | None:
    """How fast it goes and how long `remaining` more will take, as far as the points tell.

    The first steps (start-up, compilation, warm-up) do not count; the later half of the rest
    does, pauses included, because they will come again. The spread is that of its ten blocks.
    """
    steady = _without_warmup(points)
    window = _recent(steady)
    blocks = _blocks(window)
    pace = _mean_pace(blocks)
    if pace <= _FASTEST_PACE:
        return None
    longer = _mean_pace(_blocks(steady))
    return Estimate(1 / pace, _spread(blocks, pace, longer, max(0.0, remaining)))


def simple_estimate(rate_per_s: float, remaining: float) -> Estimate:
    """From a single rate that somebody else measured: the spread is a guess, and wide."""
    seconds = max(0.0, remaining) / rate_per_s
    return Estimate(rate_per_s, Spread(0.8 * seconds, seconds, 1.5 * seconds))


def passed(spread: Spread, seconds: float) -> Spread:
    """The same end, seen `seconds` later."""
    return Spread(*(max(0.0, value - seconds) for value in (spread.p10, spread.p50, spread.p90)))


def _without_warmup(points: Sequence[Point]) -> Sequence[Point]:
    if len(points) < 4:  # noqa: PLR2004 - too few to give any away
        return points
    start, span = points[0].done, points[-1].done - points[0].done
    warm = start + min(_WARMUP_UNITS, _WARMUP_SHARE * span)
    first = next(index for index, point in enumerate(points) if point.done > warm)
    return points[min(first, len(points) - 3) :]


def _recent(points: Sequence[Point]) -> Sequence[Point]:
    if len(points) <= _MOST_BLOCKS:
        return points
    start = points[-1].done - _WINDOW_SHARE * (points[-1].done - points[0].done)
    first = next(index for index, point in enumerate(points) if point.done >= start)
    return points[min(first, len(points) - _MOST_BLOCKS) :]


def _blocks(points: Sequence[Point]) -> list[_Block]:
    steps = len(points) - 1
    count = min(_MOST_BLOCKS, steps)
    marks = [points[index * steps // count] for index in range(count + 1)] if count > 0 else []
    return [
        _Block(after.done - before.done, after.at - before.at) for before, after in pairwise(marks)
    ]


def _mean_pace(blocks: Sequence[_Block]) -> float:
    """Seconds a unit, with a block that hung (a suspended machine) cut to a long pause."""
    if not blocks:
        return 0.0
    most = _OUTLIER * median(block.pace for block in blocks)
    seconds = sum(min(block.seconds, most * block.units) for block in blocks)
    return seconds / sum(block.units for block in blocks)


def _spread(blocks: Sequence[_Block], pace: float, longer: float, remaining: float) -> Spread:
    middle = pace * remaining
    relative = _variation(blocks, pace, remaining)
    low = min(middle * max(0.0, 1 - _Z90 * relative), longer * remaining)
    high = max(middle * (1 + _Z90 * relative), longer * remaining)
    return Spread(low, middle, high)


def _variation(blocks: Sequence[_Block], pace: float, remaining: float) -> float:
    """Relative error of the rest: of the mean we know, and of the blocks still to come."""
    known = len(blocks)
    units = sum(block.units for block in blocks)
    to_come = max(1.0, remaining * known / units)
    squares = sum(block.units * (block.pace - pace) ** 2 for block in blocks) / units
    few = 0.5 / known**2  # with one or two blocks their likeness proves nothing
    return few + max(_LEAST_SPREAD, math.sqrt(squares) / pace * math.sqrt(1 / known + 1 / to_come))
