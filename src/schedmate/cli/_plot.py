"""Curves as a few lines of text."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from schedmate.cli._common import duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.tracker.curves import CurvePoint

_HEIGHT = 6
_WIDEST = 72
_LABEL = 9
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Of a Braille character, by row and column."""
_ROWS, _COLUMNS = len(_DOTS), len(_DOTS[0])


def plot(
    title: str,
    points: Sequence[CurvePoint],
    width: int,
    *,
    timed: bool,
    braille: bool,
    from_zero: bool = False,
) -> list[str]:
    """The points as lines of text with their scales; none where there is nothing to draw."""
    finite = [point for point in points if math.isfinite(point.value)]
    columns = min(_WIDEST, width - _LABEL - 2)
    if len(finite) < 2 or columns < _COLUMNS:  # noqa: PLR2004 - one point is no curve
        return []
    high = max(one.value for one in finite)
    low = 0.0 if from_zero else min(one.value for one in finite)
    first, last = finite[0].at, finite[-1].at
    draw = _braille if braille else _ascii
    rows = draw(finite, columns, low, high)
    scales = {0: f"{high:.4g}", _HEIGHT - 1: f"{low:.4g}"}
    edge = "┤" if braille else "|"
    drawn = [f"{scales.get(row, ''):>{_LABEL}} {edge}{text}" for row, text in enumerate(rows)]
    begin, end = (duration(first), duration(last)) if timed else (f"{first:,.0f}", f"{last:,.0f}")
    axis = f"{'':{_LABEL + 2}}{begin}{end:>{columns - len(begin)}}"
    return [f"{'':{_LABEL + 2}}{title}", *drawn, axis]


def _braille(points: Sequence[CurvePoint], columns: int, low: float, high: float) -> list[str]:
    cells = [[0] * columns for _ in range(_HEIGHT)]
    for x, y in _places(points, columns * _COLUMNS, _HEIGHT * _ROWS, low, high):
        cells[y // _ROWS][x // _COLUMNS] |= _DOTS[y % _ROWS][x % _COLUMNS]
    return ["".join(chr(0x2800 + cell) for cell in row).rstrip("\u2800") for row in cells]


def _ascii(points: Sequence[CurvePoint], columns: int, low: float, high: float) -> list[str]:
    cells = [[" "] * columns for _ in range(_HEIGHT)]
    for x, y in _places(points, columns, _HEIGHT, low, high):
        cells[y][x] = "*"
    return ["".join(row).rstrip() for row in cells]


def _places(
    points: Sequence[CurvePoint], width: int, height: int, low: float, high: float
) -> set[tuple[int, int]]:
    """Where the points and the lines between them lie, from the upper left."""
    first, last = points[0].at, points[-1].at
    across, up = (last - first) or 1.0, (high - low) or 1.0
    found = [
        ((one.at - first) / across * (width - 1), (high - one.value) / up * (height - 1))
        for one in points
    ]
    places = {(round(x), round(y)) for x, y in found}
    for (left, y), (right, later) in pairwise(found):
        for x in range(math.ceil(left), math.floor(right) + 1):
            share = (x - left) / (right - left) if right > left else 0.0
            places.add((x, round(y + share * (later - y))))
    return places
