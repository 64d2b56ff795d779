"""The charts of the pages, drawn by the design's plots: they need no script to be read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from schedmate.design import marks, scale
from schedmate.design.frame import Frame

Point = tuple[float, float]
Along = Literal["clock", "time", "count"]
_HEIGHT, _TALL = 180, 230


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    title: str
    summary: str
    """What it shows in words, for those who do not see it."""
    drawn: Markup
    """The plot and its legend."""


def line_chart(
    title: str,
    points: Sequence[Point],
    *,
    along: Along,
    unit: str = "",
    from_zero: bool = False,
    colour: int = 0,
) -> Chart | None:
    """None where there is nothing to draw."""
    finite = [(x, y) for x, y in points if math.isfinite(x) and math.isfinite(y)]
    if len(finite) < 2:  # noqa: PLR2004 - one point is no line
        return None
    line = marks.Series(title, *zip(*finite, strict=True))
    frame = Frame(
        x=_axis(along, line.x),
        y=scale.numbers(line.y, from_zero=from_zero),
        x_title=unit,
        height=_HEIGHT,
    )
    summary = (
        f"{title}: from {line.y[0]:.4g} to {line.y[-1]:.4g}, "
        f"between {min(line.y):.4g} and {max(line.y):.4g}"
    )
    path = marks.joined(frame, line.x, line.y, number=colour, name=title, plain=True)
    data = marks.values(frame, [line], colour=colour, from_zero=from_zero)
    return Chart(
        title=title,
        summary=summary,
        drawn=Markup(frame.drawn(path, title=summary, data=data)),  # noqa: S704 - escaped there
    )


def stacked_chart(
    title: str,
    rows: Sequence[tuple[str, Sequence[float]]],
    *,
    begin: float,
    step_s: float,
    summary: str,
) -> Chart | None:
    """Columns of equal width, one row above the other."""
    if not rows:
        return None
    columns = len(rows[0][1])
    edges = [begin + step_s * column for column in range(columns + 1)]
    sums = [sum(column) for column in zip(*(row for _, row in rows), strict=True)]
    frame = Frame(
        x=scale.clock(edges[0], edges[-1]),
        y=scale.numbers([0.0, *sums], from_zero=True),
        height=_TALL,
    )
    base, paths = [0.0] * columns, ""
    for number, (_, row) in enumerate(rows):
        top = [under + value for under, value in zip(base, row, strict=True)]
        paths += marks.area(frame, edges, base, top, number=number)
        base = top
    # the last column ends where nothing begins: its value is there twice
    lines = [marks.Series(name, edges, [*row, row[-1]]) for name, row in rows]
    data = marks.values(frame, lines, stepped=True, stacked=True)
    drawn = frame.drawn(paths, title=summary, data=data)
    legend = marks.legend([name for name, _ in rows], dashed=False)
    return Chart(title=title, summary=summary, drawn=Markup(drawn + legend))  # noqa: S704 - escaped


def _axis(along: Along, values: Sequence[float]) -> scale.Scale:
    if along == "clock":
        return scale.clock(values[0], values[-1])
    if along == "time":
        return scale.along_times(values[-1])
    return scale.spanned(values)
