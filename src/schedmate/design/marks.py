"""What stands in a frame: lines, areas, dots and bars, and the values behind them."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from schedmate.design.frame import Frame, percent
from schedmate.design.words import text


@dataclass(frozen=True, slots=True)
class Series:
    name: str
    x: Sequence[float]
    y: Sequence[float]


COLOURS = 7
DASHES = 4
_ROW = 24
_BAR = 12
_PERIOD = 16


def style_of(number: int) -> str:
    """Colour and dashes of the n-th line: 28 that differ in both colour and grey."""
    return f"c{number % COLOURS} d{number % DASHES}"


def legend(names: Sequence[str], *, dashed: bool = True) -> str:
    """Which line or area is whose."""
    look = [style_of(number) if dashed else f"c{number % COLOURS}" for number in range(len(names))]
    items = "".join(
        f'<li data-name="{text(name)}"><svg viewBox="0 0 34 10" aria-hidden="true">'
        f'<path class="{"line" if dashed else "bold line"} {kind}" d="M0 5H34"/></svg>'
        f"{text(name)}</li>"
        for kind, name in zip(look, names, strict=True)
    )
    return f'<ul class="legend">{items}</ul>'


def steps(frame: Frame, x: Sequence[float], y: Sequence[float], *, number: int, name: str) -> str:
    """A path that keeps each value until the next."""
    here = (frame.across(x[0]), frame.up(y[0]))
    path = [f"M{here[0]} {here[1]}"]
    for value, level in zip(x[1:], y[1:], strict=True):
        place = (frame.across(value), frame.up(level))
        path += [f"H{place[0]}"] if place[0] != here[0] else []
        path += [f"V{place[1]}"] if place[1] != here[1] else []
        here = place
    return _line("".join(path), style_of(number), name)


def joined(
    frame: Frame,
    x: Sequence[float],
    y: Sequence[float],
    *,
    number: int,
    name: str,
    plain: bool = False,
) -> str:
    """A path from value to value; a line that is alone is `plain`, without dashes."""
    places = [
        f"{frame.across(value)} {frame.up(level)}"
        for value, level in zip(x, y, strict=True)
        if math.isfinite(level)
    ]
    style = f"c{number % COLOURS}" if plain else style_of(number)
    return _line(f"M{'L'.join(places)}", style, name) if places else ""


def area(
    frame: Frame, x: Sequence[float], low: Sequence[float], high: Sequence[float], *, number: int
) -> str:
    """Columns from `low` to `high`; `x` has their edges, one more than there are columns."""
    edges = [edge for edge in x for _ in (0, 1)][1:-1]
    top = list(zip(edges, (one for one in high for _ in (0, 1)), strict=True))
    base = list(zip(edges, (one for one in low for _ in (0, 1)), strict=True))
    corners = "L".join(f"{frame.across(at)} {frame.up(one)}" for at, one in [*top, *base[::-1]])
    return f'<path class="area c{number % COLOURS}" d="M{corners}Z"/>'


def dots(frame: Frame, line: Series, *, number: int, words: Sequence[str], aside: float = 0) -> str:
    """A dot at each value, with what it is; `aside` are pixels away from where others stand."""
    return "".join(
        f'<circle class="dot c{number % COLOURS}" cx="{percent(frame.across(at))}" '
        f'cy="{percent(frame.up(level))}" r="4"{_moved(aside)}>'
        f"<title>{text(said)}</title></circle>"
        for at, level, said in zip(line.x, line.y, words, strict=True)
        if math.isfinite(level)
    )


def whiskers(
    frame: Frame,
    x: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    *,
    number: int,
    aside: float,
) -> str:
    """From the least to the most at each value."""
    return "".join(
        f'<line class="whisker c{number % COLOURS}" x1="{percent(frame.across(value))}" '
        f'x2="{percent(frame.across(value))}" y1="{percent(frame.up(least))}" '
        f'y2="{percent(frame.up(most))}"{_moved(aside)}/>'
        for value, least, most in zip(x, low, high, strict=True)
        if math.isfinite(least) and math.isfinite(most)
    )


def lollipop(frame: Frame, *, row: int, value: float, label: str, what: str) -> str:
    """A dot in the n-th row, tied to one."""
    y, dot, one = percent(frame.up(row)), percent(frame.across(value)), percent(frame.across(1))
    better = "good" if value >= 1 else "bad"
    return (
        f'<g class="row-of {better}"><title>{text(what)}</title>'
        f'<line class="stick" x1="{one}" x2="{dot}" y1="{y}" y2="{y}"/>'
        f'<circle class="dot" data-value="{value:.6g}" cx="{dot}" cy="{y}" r="4.5"/>'
        f'<text class="value" x="{dot}" y="{y}" dy="-7">{text(label)}</text></g>'
    )


def bar(frame: Frame, *, row: int, value: float, number: int, label: str) -> str:
    """A bar in the n-th row, from zero."""
    y, width = percent(frame.up(row)), percent(frame.across(value))
    return (
        f'<rect class="bar-of c{number % COLOURS}" data-value="{value:.10g}" x="0" y="{y}" '
        f'width="{width}" height="{_BAR}" rx="3" transform="translate(0 {-_BAR // 2})"/>'
        f'<text class="value bar-value" x="{width}" dx="5" y="{y}" dy="4">{text(label)}</text>'
    )


def period(frame: Frame, *, row: int, span: tuple[float, float], look: str, what: str) -> str:
    """A bar in the n-th row from one moment to another; `look` is its class."""
    begin, end = (frame.across(at) for at in span)
    return (
        f'<rect class="period {look}" x="{percent(begin)}" y="{percent(frame.up(row))}" '
        f'width="{percent(max(end - begin, 1.0))}" height="{_PERIOD}" rx="2" '
        f'transform="translate(0 {-_PERIOD // 2})"><title>{text(what)}</title></rect>'
    )


def rows_height(rows: int) -> int:
    """How tall a frame must be for so many rows, in pixels."""
    return _ROW * max(rows, 1)


def values(
    frame: Frame,
    lines: Sequence[Series],
    *,
    stepped: bool = False,
    stacked: bool = False,
    colour: int = 0,
    from_zero: bool = True,
) -> str:
    """The values behind a plot as an attribute of it, for a script that draws it again.

    `stacked` lines stand one above the other; `stepped` ones keep each value until the next.
    The first one has this `colour`.
    """
    found = {
        "x": {
            "kind": frame.x.kind,
            "log": frame.x.log,
            "ticks": frame.x.ticks,
            "title": frame.x_title,
        },
        "y": {"kind": frame.y.kind, "zero": from_zero, "title": frame.y_title},
        "height": frame.height,
        "colour": colour,
        "stepped": stepped,
        "stacked": stacked,
        "lines": [
            [line.name, [_exact(at) for at in line.x], [_short(value) for value in line.y]]
            for line in lines
        ],
    }
    return f' data-plot="{text(json.dumps(found, separators=(",", ":")))}"'


def _exact(value: float) -> float:
    """A moment of today has ten digits before the point."""
    return float(f"{value:.12g}")


def _short(value: float) -> float | None:
    return float(f"{value:.4g}") if math.isfinite(value) else None


def _line(path: str, style: str, name: str) -> str:
    return (
        f'<path class="line {style}" data-name="{text(name)}" d="{path}">'
        f"<title>{text(name)}</title></path>"
    )


def _moved(aside: float) -> str:
    return f' transform="translate({aside:g} 0)"' if aside else ""
