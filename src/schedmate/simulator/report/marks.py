"""What stands in a frame: lines, dots and bars."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Protocol

from schedmate.simulator.report.frame import Frame
from schedmate.simulator.report.words import text


class Line(Protocol):
    @property
    def policy(self) -> str: ...

    @property
    def x(self) -> Sequence[float]: ...

    @property
    def y(self) -> Sequence[float]: ...


COLOURS = 7
DASHES = 4
_DOT = 3.5
_ROW = 20
_BAR = 12


def style_of(number: int) -> str:
    """Colour and dashes of the n-th policy: 28 that differ in both colour and grey."""
    return f"c{number % COLOURS} d{number % DASHES}"


def steps(frame: Frame, x: Sequence[float], y: Sequence[float], *, number: int, name: str) -> str:
    """A line that keeps each value until the next."""
    path = [f"M{frame.across(x[0])} {frame.up(y[0])}"]
    here = (frame.across(x[0]), frame.up(y[0]))
    for value, level in zip(x[1:], y[1:], strict=True):
        place = (frame.across(value), frame.up(level))
        path += [f"H{place[0]}"] if place[0] != here[0] else []
        path += [f"V{place[1]}"] if place[1] != here[1] else []
        here = place
    return _line("".join(path), number, name)


def joined(
    frame: Frame,
    x: Sequence[float],
    y: Sequence[float],
    *,
    number: int,
    name: str,
    aside: float = 0.0,
) -> str:
    """A dot at each value and a line between them, moved `aside` from where others stand."""
    places = [
        (round(frame.across(value) + aside, 1), frame.up(level))
        for value, level in zip(x, y, strict=True)
        if math.isfinite(level)
    ]
    dots = "".join(
        f'<circle class="dot c{number % COLOURS}" cx="{across}" cy="{up}" r="{_DOT}"/>'
        for across, up in places
    )
    path = "L".join(f"{across} {up}" for across, up in places)
    return (_line(f"M{path}", number, name) if places else "") + dots


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
    parts = [
        f"M{round(frame.across(value) + aside, 1)} {frame.up(least)}V{frame.up(most)}"
        for value, least, most in zip(x, low, high, strict=True)
        if math.isfinite(least) and math.isfinite(most)
    ]
    return f'<path class="whisker c{number % COLOURS}" d="{"".join(parts)}"/>'


def lollipop(frame: Frame, *, row: int, value: float, label: str, what: str) -> str:
    """A dot in the n-th row, tied to one."""
    y = round(frame.up(row), 1)
    better = "good" if value >= 1 else "bad"
    dot = frame.across(value)
    return (
        f'<g class="row {better}"><title>{text(what)}</title>'
        f'<path class="stick" d="M{frame.across(1.0)} {y}H{dot}"/>'
        f'<circle class="dot" data-value="{value:.6g}" cx="{dot}" cy="{y}" r="4.5"/>'
        f'<text class="value" x="{dot}" y="{y - 7}">{text(label)}</text></g>'
    )


def bar(frame: Frame, *, row: int, value: float, number: int, label: str) -> str:
    """A bar in the n-th row, from zero."""
    y = round(frame.up(row) - _BAR / 2, 1)
    begin, end = frame.across(frame.x.low), frame.across(value)
    return (
        f'<rect class="bar c{number % COLOURS}" data-value="{value:.10g}" x="{begin}" y="{y}" '
        f'width="{round(end - begin, 1)}" height="{_BAR}"/>'
        f'<text class="value bar-value" x="{end + 4}" y="{y + _BAR - 2}">{text(label)}</text>'
    )


def rows_height(rows: int) -> int:
    """How tall a frame must be for so many rows."""
    return 58 + (_ROW + 4) * rows


def hover_data(
    frame: Frame,
    lines: Sequence[Line],
    *,
    shows: str,
    along: str = "time",
    near: bool = False,
    labels: Sequence[str] | None = None,
) -> str:
    """What a script needs to say the values where the mouse is, as an attribute of the picture.

    `shows` and `along` are what y and x are: `time`, `share`, `ratio` or `number`. With `near`
    only the values that were drawn are shown, by their `labels` where they have some.
    """
    hover = {
        "shows": shows,
        "along": along,
        "near": near,
        "labels": labels,
        "x": [frame.x.low, frame.x.high, frame.x.log, frame.left, frame.right],
        "lines": [
            [line.policy, [_short(value) for value in line.x], [_short(value) for value in line.y]]
            for line in lines
        ],
    }
    return f' data-hover="{text(json.dumps(hover, separators=(",", ":")))}"'


def _short(value: float) -> float | None:
    return float(f"{value:.4g}") if math.isfinite(value) else None


def _line(path: str, number: int, name: str) -> str:
    return (
        f'<path class="line {style_of(number)}" data-name="{text(name)}" d="{path}">'
        f"<title>{text(name)}</title></path>"
    )
