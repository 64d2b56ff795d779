"""From values to places on paper, and the values that are worth a tick."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from schedmate.design.words import human_number, times, whole_time

_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86400.0
_LOG_TIMES = (1, 10, _MINUTE, 10 * _MINUTE, _HOUR, 6 * _HOUR, _DAY, 7 * _DAY, 30 * _DAY, 365 * _DAY)
_STEPS_OF_TIME = (
    *(1, 2, 5, 10, 15, 30),
    *(_MINUTE * step for step in (1, 2, 5, 10, 15, 30)),
    *(_HOUR * step for step in (1, 2, 3, 6, 12)),
    *(_DAY * step for step in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)),
)
_MOST_TICKS = 8
_FEW_TICKS = 4
_ROUND = (1.0, 2.0, 2.5, 5.0, 10.0)
_CLOCK_TICKS = 4
_FARTHEST = 1e200
_EVEN = 1e-9
"""Of the values' size, below which a spread between them is rounding."""
_ROUND_RATIOS = (1.0, 1.2, 1.5, 2.0, 3.0, 5.0, 7.0)


Kind = Literal["time", "clock", "share", "ratio", "number", "labels"]
"""What values are: seconds, moments, parts of one, ratios, plain numbers, names side by side."""


@dataclass(frozen=True, slots=True)
class Scale:
    """`low` and `high` become 0 and 1; what lies outside is drawn at the border."""

    low: float
    high: float
    log: bool
    ticks: tuple[float, ...]
    label: Callable[[float], str]
    kind: Kind = "number"

    def __call__(self, value: float) -> float:
        kept = min(max(value, self.low), self.high)
        if self.log:
            return math.log(kept / self.low) / math.log(self.high / self.low)
        return (kept - self.low) / (self.high - self.low)


def log_times(values: Sequence[float]) -> Scale:
    """Seconds; below one second counts as one."""
    low = max(1.0, min(values, default=1.0))
    high = max(low * 10, *values, 10.0)
    below = max((tick for tick in _LOG_TIMES if tick <= low), default=1.0)
    above = min((tick for tick in _LOG_TIMES if tick >= high), default=high)
    ticks = tuple(tick for tick in _LOG_TIMES if below <= tick <= above)
    return Scale(below, above, log=True, ticks=ticks, label=whole_time, kind="time")


def linear_times(high: float) -> Scale:
    step = next((step for step in _STEPS_OF_TIME if high / step <= _MOST_TICKS), high / _MOST_TICKS)
    return Scale(0.0, high, False, _multiples(step, high), whole_time, "time")


def counts(high: float) -> Scale:
    """From 0 to a round number, 1 at least."""
    high = max(high, 1.0)
    step = _round_step(high / _MOST_TICKS)
    top = step * math.ceil(high / step)
    return Scale(0.0, top, False, _multiples(step, top), human_number)


def numbers(values: Sequence[float], *, from_zero: bool = False) -> Scale:
    """Round bounds around all of them."""
    bounded = [min(max(value, -_FARTHEST), _FARTHEST) for value in values]
    low, high = 0.0 if from_zero else min(bounded), max(bounded)
    size = max(abs(low), abs(high))
    spread = high - low if high - low > size * _EVEN else size
    step = _round_step((spread if spread > 1 / _FARTHEST else 1.0) / _FEW_TICKS)
    first = math.floor(low / step)
    last = max(math.ceil(high / step), first + 1)
    ticks = tuple(float(f"{number * step:.12g}") for number in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], False, ticks, "{:,.6g}".format)


def spanned(values: Sequence[float]) -> Scale:
    """From the first to the last of a count, with few ticks at round numbers."""
    low = min(values[0], _FARTHEST)
    high = max(min(values[-1], 2 * _FARTHEST), low + max(1e-9, abs(low) * _EVEN))
    step = _round_step((high - low) / _FEW_TICKS)
    first = math.ceil(low / step - 1e-9)
    ticks = [step * number for number in range(first, math.floor(high / step + 1e-9) + 1)]
    return Scale(low, high, False, tuple(ticks), "{:,.6g}".format)


def along_times(high: float) -> Scale:
    """Seconds from zero on, with few ticks: an axis of a small plot."""
    whole = high or 1.0
    step = next((one for one in _STEPS_OF_TIME if whole / one <= _FEW_TICKS), whole / _FEW_TICKS)
    return Scale(0.0, whole, False, _multiples(step, whole), whole_time, "time")


def clock(begin: float, end: float) -> Scale:
    """Moments, in UTC; a script shows them in the reader's own time zone."""
    ticks = tuple(begin + (end - begin) * part / _CLOCK_TICKS for part in range(_CLOCK_TICKS + 1))
    return Scale(begin, max(end, begin + 1.0), False, ticks, _moment, "clock")


def shares(high: float = 1.0) -> Scale:
    """From none to all; to more where two jobs share what each counts as held."""
    return Scale(0.0, high, False, (0.0, 0.25, 0.5, 0.75, 1.0), "{:.0%}".format, "share")


def log_ratios(values: Sequence[float]) -> Scale:
    """Around one, which is always shown."""
    known = [value for value in values if value > 0 and math.isfinite(value)]
    low, high = min([0.8, *known]), max([1.25, *known])
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [base * 10.0**decade for decade in decades for base in _ROUND_RATIOS]
    inside = [tick for tick in ticks if low <= tick <= high]
    if len(inside) > _MOST_TICKS:
        inside = [tick for tick in inside if f"{tick:e}"[:3] in ("1.0", "2.0", "5.0")]
    if len(inside) > _MOST_TICKS:
        inside = [tick for tick in inside if f"{tick:e}"[:3] == "1.0"]
    return Scale(low / 1.05, high * 1.05, True, tuple(inside), _short_ratio, "ratio")


def plain(values: Sequence[float]) -> Scale:
    """A linear axis with a tick at each value that was tried, and some room beside them."""
    room = 0.05 * (max(values) - min(values)) or 1.0
    return Scale(min(values) - room, max(values) + room, False, tuple(values), human_number)


def places(labels: Sequence[str]) -> Scale:
    """Kinds side by side: the n-th at n."""
    return Scale(
        -0.5,
        len(labels) - 0.5,
        False,
        tuple(float(place) for place in range(len(labels))),
        lambda place: labels[int(place)],
        "labels",
    )


def rows(labels: Sequence[str]) -> Scale:
    """Kinds below each other, the first on top."""
    aside = places(labels)
    return _Downwards(aside.low, aside.high, False, aside.ticks, aside.label, aside.kind)


class _Downwards(Scale):
    __slots__ = ()

    def __call__(self, value: float) -> float:
        return 1.0 - Scale.__call__(self, value)


def _moment(at: float) -> str:
    """Without the year where it is the present one."""
    moment = datetime.fromtimestamp(at, UTC)
    year = "" if moment.year == datetime.now(UTC).year else " %Y"
    return moment.strftime(f"%b %-d{year}, %H:%M UTC")


def _short_ratio(value: float) -> str:
    return times(value) if value < 1 else f"{value:g}x"


def _round_step(least: float) -> float:
    decade = 10.0 ** math.floor(math.log10(least))
    return next(step * decade for step in _ROUND if step * decade >= least * (1 - 1e-9))


def _multiples(step: float, high: float) -> tuple[float, ...]:
    return tuple(step * number for number in range(math.floor(high / step * (1 + 1e-9)) + 1))
