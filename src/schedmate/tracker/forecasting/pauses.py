"""What evaluations, checkpoints and other pauses will still cost, from those seen so far."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median

from schedmate.tracker.forecasting.timeline import Pause, Timeline

_ENOUGH_UNANNOUNCED = 3
"""One or two long gaps that nobody announced are accidents, not a habit."""
_TOGETHER = 0.1
"""Pauses closer than this share of the widest distance are one: it may take several steps."""
_REGULAR_SHARE = 0.6
_TOLERANCE = 0.1
_LONGEST = 3.0
"""A pause of more than this many usual ones is an accident of its own."""
_LONE_DOUBT = 0.5


@dataclass(frozen=True, slots=True)
class PauseCost:
    """Seconds to come, and how far off that may be."""

    seconds: float = 0.0
    deviation_s: float = 0.0


@dataclass(frozen=True, slots=True)
class _Stop:
    """A pause without the time that its units would have taken anyway."""

    done: float
    units: float
    extra_s: float


def pauses_to_come(timeline: Timeline, pace_s: float, end: float) -> PauseCost:
    """Expect the pauses of each kind as often and as long as before, up to the count `end`."""
    kinds = sorted({pause.kind for pause in timeline.pauses})
    costs = [
        _cost(timeline, [pause for pause in timeline.pauses if pause.kind == kind], pace_s, end)
        for kind in kinds
    ]
    return PauseCost(
        math.fsum(cost.seconds for cost in costs),
        math.hypot(*(cost.deviation_s for cost in costs)),
    )


def _cost(timeline: Timeline, pauses: Sequence[Pause], pace_s: float, end: float) -> PauseCost:
    if pauses[0].kind == "unknown" and len(pauses) < _ENOUGH_UNANNOUNCED:
        return PauseCost()
    stops = _together(
        [_Stop(one.done, one.units, max(0.0, one.gap_s - pace_s * one.units)) for one in pauses]
    )
    usual = median(stop.extra_s for stop in stops)
    lengths = [min(stop.extra_s, _LONGEST * usual) for stop in stops]
    length = fmean(lengths)
    count = _still_to_come(stops, timeline, end)
    around = math.sqrt(fmean((one - length) ** 2 for one in lengths))
    doubt = _LONE_DOUBT * length * count if len(stops) == 1 else 0.0
    return PauseCost(length * count, math.hypot(around * math.sqrt(count), doubt))


def _together(stops: Sequence[_Stop]) -> list[_Stop]:
    near = _TOGETHER * max((b.done - a.done for a, b in pairwise(stops)), default=0.0)
    joined = [stops[0]]
    for stop in stops[1:]:
        last = joined[-1]
        if stop.done - last.done <= near:
            joined[-1] = _Stop(last.done, last.units, last.extra_s + stop.extra_s)
        else:
            joined.append(stop)
    return joined


def _still_to_come(stops: Sequence[_Stop], timeline: Timeline, end: float) -> float:
    begin = timeline.points[0].done
    if len(stops) == 1:
        every = stops[0].done - begin
        return _in_rest(every, stops[0], end) if every > 2 * stops[0].units else 0.0
    between = [after.done - before.done for before, after in pairwise(stops)]
    every = median(between)
    slack = max(_TOLERANCE * every, stops[-1].units)
    if sum(abs(one - every) <= slack for one in between) >= _REGULAR_SHARE * len(between):
        return _in_rest(every, stops[-1], end)
    seen_over = timeline.done - max(begin, stops[0].done - fmean(between))
    return len(stops) * max(0.0, end - timeline.done) / max(seen_over, every)


def _in_rest(every: float, last: _Stop, end: float) -> float:
    return max(0.0, math.floor((end - last.done + last.units) / every))
