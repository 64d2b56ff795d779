"""A figure of several panels of lines, as SVG."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT, _LEFT, _TOP, _GAP, _BOTTOM = 300, 260, 46, 34, 36, 118
_LABEL_ROWS, _LABEL_ROW = 3, 13
_COLOURS = {
    "constant": "#9aa0a6",
    "permuted": "#c58b2a",
    "last_two": "#7b9ec9",
    "history": "#4d7fbf",
    "qssf": "#2f5597",
    "site_model": "#6a51a3",
    "semantic": "#c0392b",
    "oracle": "#2e7d32",
    "order": "#4d7fbf",
    "requeue": "#6a51a3",
    "sharing": "#c58b2a",
    "stopping": "#7b9ec9",
    "all": "#c0392b",
    "1 + wait/run": "#9aa0a6",
}
_BOLD = ("semantic", "oracle", "all")


@dataclass(frozen=True, slots=True)
class Line:
    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    bars: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """Where real data lie on the x-axis, with an interval."""

    name: str
    low: float
    at: float
    high: float


def figure(panels: Mapping[str, Sequence[Line]], marks: Sequence[Mark], *, x: str = "") -> str:
    values = [bar for lines in panels.values() for line in lines for bar in line.y]
    low, high = min([1.0, *values]) - 0.03, max([1.0, *values]) + 0.05
    width = _LEFT + len(panels) * (_WIDTH + _GAP)
    height = _TOP + _HEIGHT + _BOTTOM
    drawn = [
        _panel(name, lines, marks, left=_LEFT + number * (_WIDTH + _GAP), span=(low, high))
        for number, (name, lines) in enumerate(panels.items())
    ]
    label = x or "share of the variance of log run times that the code explains"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="11"><rect width="{width}" height="{height}" '
        f'fill="#ffffff"/>{"".join(drawn)}{_legend(panels, width, height)}'
        f'<text x="{width / 2}" y="{_TOP + _HEIGHT + 74}" text-anchor="middle">{escape(label)}'
        "</text></svg>\n"
    )


def _panel(
    name: str,
    lines: Sequence[Line],
    marks: Sequence[Mark],
    *,
    left: float,
    span: tuple[float, float],
) -> str:
    low, high = span
    most = max([1.0, *(at for line in lines for at in line.x)])

    def across(value: float) -> float:
        return left + _WIDTH * value / most

    def down(value: float) -> float:
        return _TOP + _HEIGHT * (high - value) / (high - low)

    parts = [f'<text x="{left}" y="{_TOP - 12}" font-weight="bold">beside {escape(name)}</text>']
    step = next(each for each in (0.1, 0.25, 0.5, 1.0, 10.0) if high - low < 10 * each)
    tick = round(low / step) * step
    while tick <= high:
        if tick >= low:
            parts.append(
                f'<line x1="{left}" x2="{left + _WIDTH}" y1="{down(tick):.1f}" '
                f'y2="{down(tick):.1f}" stroke="#e6e6e6"/><text x="{left - 4}" '
                f'y="{down(tick) + 4:.1f}" text-anchor="end">{tick:.2f}</text>'
            )
        tick += step
    parts += [_mark(mark, place, across) for place, mark in enumerate(_by_place(marks))]
    parts += [
        f'<text x="{across(share):.1f}" y="{_TOP + _HEIGHT + 14}" '
        f'text-anchor="middle">{share:g}</text>'
        for share in (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5)
        if share <= most
    ]
    for line in lines:
        colour = _COLOURS.get(line.name, "#333333")
        points = [(across(at), down(y)) for at, y in zip(line.x, line.y, strict=True)]
        path = " ".join(f"{at:.1f},{y:.1f}" for at, y in points)
        wide = 2.5 if line.name in _BOLD else 1.4
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{wide}"/>'
        )
        for (at, _), (least, most_) in zip(points, line.bars, strict=True):
            if line.name in ("semantic", "oracle"):
                top, bottom = down(min(most_, high)), down(max(least, low))
                parts.append(
                    f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{top:.1f}" y2="{bottom:.1f}" '
                    f'stroke="{colour}"/>'
                )
    return "".join(parts)


def _by_place(marks: Sequence[Mark]) -> list[Mark]:
    return sorted(marks, key=lambda mark: mark.at)


def _mark(mark: Mark, place: int, across: Callable[[float], float]) -> str:
    """Itself as a line down to its label, its interval as a bar across; neighbours stand in other
    rows."""
    at, left, right = (across(min(max(x, 0.0), 1.0)) for x in (mark.at, mark.low, mark.high))
    row = place % _LABEL_ROWS
    below, bar = _TOP + _HEIGHT + 28 + _LABEL_ROW * row, _TOP + _HEIGHT - 5 - 7 * row
    return (
        f'<rect x="{left:.1f}" y="{bar - 2}" height="4" width="{max(right - left, 1.0):.1f}" '
        f'fill="#d9b64a" fill-opacity="0.6"/><line x1="{at:.1f}" x2="{at:.1f}" y1="{_TOP}" '
        f'y2="{below - 9}" stroke="#8a6d1d" stroke-dasharray="3 2" stroke-width="0.8"/>'
        f'<text x="{at:.1f}" y="{below}" text-anchor="middle" fill="#8a6d1d">'
        f"{escape(mark.name)} {mark.at:.2f}</text>"
    )


def _legend(panels: Mapping[str, Sequence[Line]], width: float, height: float) -> str:
    names = list(dict.fromkeys(line.name for lines in panels.values() for line in lines))
    apart = (width - 2 * _LEFT) / max(len(names), 1)
    return "".join(
        f'<line x1="{_LEFT + n * apart:.1f}" x2="{_LEFT + n * apart + 18:.1f}" y1="{height - 18}" '
        f'y2="{height - 18}" stroke="{_COLOURS.get(name, "#333333")}" stroke-width="2.5"/>'
        f'<text x="{_LEFT + n * apart + 22:.1f}" y="{height - 14}">{escape(name)}</text>'
        for n, name in enumerate(names)
    )
