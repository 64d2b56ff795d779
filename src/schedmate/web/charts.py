"""Charts as geometry: a template draws them as SVG, so that they need no script.

Shapes are in a box of `WIDTH` by `HEIGHT` that is stretched to its place; scales are text
beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from schedmate.web.wording import in_words

WIDTH, HEIGHT = 1000, 300
_TICKS: Final = 4
_STEPS: Final = (1.0, 2.0, 2.5, 5.0, 10.0)
Point = tuple[float, float]
Scale = Literal["time", "seconds", "count"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """`place` is in percent from the left or from the bottom; `at` a moment, if it is one."""

    place: float
    text: str
    at: float | None = None


@dataclass(frozen=True, slots=True)
class Shape:
    kind: Literal["line", "area"]
    colour: int
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    title: str
    summary: str
    """What it shows in words, for those who do not see it."""
    shapes: tuple[Shape, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    legend: tuple[tuple[int, str], ...] = ()


def line_chart(
    title: str, points: Sequence[Point], *, scale: Scale, from_zero: bool = False, colour: int = 0
) -> Chart | None:
    """None where there is nothing to draw."""
    finite = [(x, y) for x, y in points if math.isfinite(x) and math.isfinite(y)]
    if len(finite) < 2:  # noqa: PLR2004 - one point is no line
        return None
    left, right = finite[0][0], finite[-1][0]
    values = [y for _, y in finite]
    low, high, marks = _nice(0.0 if from_zero else min(values), max(values))
    place = _placer(left, right, low, high)
    path = "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in map(place, finite))
    ends = f"from {values[0]:.4g} to {values[-1]:.4g}"
    summary = f"{title}: {ends}, between {min(values):.4g} and {max(values):.4g}"
    return Chart(
        title=title,
        summary=summary,
        shapes=(Shape("line", colour, path),),
        x_ticks=x_ticks(left, right, scale),
        y_ticks=_y_ticks(low, high, marks),
    )


def stacked_chart(
    title: str,
    rows: Sequence[tuple[str, Sequence[float]]],
    *,
    begin: float,
    step_s: float,
    summary: str,
) -> Chart | None:
    """Columns of equal width in steps, one row above the other."""
    if not rows:
        return None
    bins = len(rows[0][1])
    base = [0.0] * bins
    high = max(sum(column) for column in zip(*(row for _, row in rows), strict=True))
    low, high, marks = _nice(0.0, high)
    place = _placer(0.0, float(bins), low, high)
    shapes = []
    for colour, (_, row) in enumerate(rows):
        top = [under + value for under, value in zip(base, row, strict=True)]
        outline = [*_steps(top), *reversed(list(_steps(base)))]
        path = "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in map(place, outline)) + "Z"
        shapes.append(Shape("area", colour, path))
        base = top
    return Chart(
        title=title,
        summary=summary,
        shapes=tuple(shapes),
        x_ticks=x_ticks(begin, begin + bins * step_s, "time"),
        y_ticks=_y_ticks(low, high, marks),
        legend=tuple((colour, name) for colour, (name, _) in enumerate(rows)),
    )


def x_ticks(left: float, right: float, scale: Scale) -> tuple[Tick, ...]:
    places = [left + (right - left) * part / _TICKS for part in range(_TICKS + 1)]
    words: Callable[[float], str] = (
        in_words if scale == "seconds" else lambda value: f"{value:,.0f}"
    )
    return tuple(
        Tick(
            place=100 * part / _TICKS,
            text="" if scale == "time" else words(value),
            at=value if scale == "time" else None,
        )
        for part, value in enumerate(places)
    )


def _y_ticks(low: float, high: float, marks: Iterable[float]) -> tuple[Tick, ...]:
    return tuple(Tick(place=100 * (one - low) / (high - low), text=f"{one:,.6g}") for one in marks)


def _steps(values: Sequence[float]) -> Iterable[Point]:
    for place, value in enumerate(values):
        yield float(place), value
        yield place + 1.0, value


def _placer(left: float, right: float, low: float, high: float) -> Callable[[Point], Point]:
    across, up = (right - left) or 1.0, (high - low) or 1.0

    def place(point: Point) -> Point:
        x, y = point
        return WIDTH * (x - left) / across, HEIGHT * (1 - (y - low) / up)

    return place


def _nice(low: float, high: float) -> tuple[float, float, list[float]]:
    """Round bounds around both, and the marks between them."""
    span = (high - low) or abs(high) or 1.0
    rough = span / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(one * power for one in _STEPS if one * power >= rough * (1 - 1e-9))
    first, last = math.floor(low / step), math.ceil(high / step)
    last = max(last, first + 1)
    marks = [round(number * step, 12) for number in range(first, last + 1)]
    return marks[0], marks[-1], marks
