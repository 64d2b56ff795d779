"""Numbers and names as people read them."""

from __future__ import annotations

import math
from html import escape as _escape

from schedmate.model.legible import legible

_UNITS = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"))
_TWO_UNITS_OF_DAYS = 2


def text(words: object) -> str:
    """Words of a trace or of ours, harmless in HTML and with nothing hidden in them."""
    return _escape(" ".join(legible(line) for line in str(words).split("\n")), quote=True)


def human_time(seconds: float) -> str:
    """`45 s`, `12 min`, `3.5 h`, `2.1 d`."""
    if not math.isfinite(seconds):
        return "-"
    for size, unit in _UNITS:
        if abs(seconds) >= size * (_TWO_UNITS_OF_DAYS if unit == "d" else 1) or unit == "s":
            return f"{_three_digits(seconds / size)} {unit}"
    raise AssertionError(seconds)


def whole_time(seconds: float) -> str:
    """A tick of an axis, which stands at a round time: `10 min`, `1 d`."""
    if seconds == 0:
        return "0"
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds / size:g} {unit}"
    return f"{seconds:g} s"


def human_number(value: float) -> str:
    """`12,345`, `0.7`."""
    if not math.isfinite(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"  # noqa: PLR2004 - three digits


def plural(count: float, one: str) -> str:
    """`1 job`, `1,200 jobs`."""
    return f"{human_number(count)} {one if count == 1 else one + 's'}"


def share(value: float) -> str:
    return f"{value:.0%}" if value in (0.0, 1.0) else f"{value:.1%}"


def times(value: float) -> str:
    """A ratio: `1.91x`."""
    return f"{value:.2f}x" if math.isfinite(value) else "-"


def _three_digits(value: float) -> str:
    if abs(value) >= 100:  # noqa: PLR2004 - three digits
        return f"{value:,.0f}"
    return f"{value:.3g}"
