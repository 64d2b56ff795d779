"""How fast a count rises (warm-up left out, lasting changes included), and what pauses cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from statistics import fmean, median

from schedmate.tracker.forecasting.timeline import Pause, Point, Timeline

_MAX_BLOCKS = 32
_MIN_SIDE = 3
"""Blocks on either side of a change."""
_CLEAR = 5.0
"""Deviations between the means of both sides of a change."""
_WORTH = 0.02
"""A smaller change is not worth giving up what was before it."""
_MIN_ERROR = 1e-9
_OUTLIER = 4.0
_FASTEST_PACE = 1e-15
"""Seconds a unit; a faster one is an artefact of the timestamps."""


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of the run without its pauses."""

    start: float
    """What was done when it began."""
    units: float
    seconds: float

    @property
    def pace(self) -> float:
        return self.seconds / self.units


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds a unit since the last lasting change."""

    seconds: float
    deviation: float
    """Of `seconds` as a mean, by how much its blocks differ; relative."""
    blocks: int
    since: float
    """What was done when the speed changed last."""
    roughness: float
    """How much the blocks differ since the warm-up, all changes included; relative."""


def pace_of(points: Sequence[Point], *, lasting: float = 0.05) -> Pace | None:
    """The pace now; a change counts when it has lasted for the share `lasting` of the count."""
    blocks = blocks_of(points)
    if not blocks:
        return None
    warm = end_of_warmup(blocks)
    least = lasting * math.fsum(block.units for block in blocks)
    start = warm
    while (later := change_in(blocks[start:], least)) is not None:
        start += later
    steady = blocks[start:]
    seconds, deviation = mean_pace(steady)
    if seconds <= _FASTEST_PACE:
        return None
    return Pace(seconds, deviation, len(steady), steady[0].start, _roughness(blocks[warm:]))


def blocks_of(points: Sequence[Point], most: int = _MAX_BLOCKS) -> list[Block]:
    blocks = (_block(before, after) for before, after in pairwise(sparse(points, most)))
    return [block for block in blocks if block.units > 0 and block.seconds >= 0]


def sparse(points: Sequence[Point], most: int = _MAX_BLOCKS) -> Sequence[Point]:
    """Points with as many left out between each two, so that both ends of the run stay dense."""
    last = len(points) - 1
    each = math.ceil(last / max(1, most))
    if each <= 1:
        return points
    return [points[index] for index in sorted({*range(last, -1, -each), 0})]


def change_in(blocks: Sequence[Block], least_units: float) -> int | None:
    """Where the speed changed most clearly, at least so long ago; an index of blocks or None."""
    if len(blocks) < 2 * _MIN_SIDE:
        return None
    paces, units = _within_reason(blocks), [block.units for block in blocks]
    sums = list(zip(*(accumulate(part) for part in _parts(paces, units)), strict=True))
    best, where = _CLEAR, None
    for split in range(_MIN_SIDE, len(blocks) - _MIN_SIDE + 1):
        before = sums[split - 1]
        after = tuple(whole - part for whole, part in zip(sums[-1], before, strict=True))
        clarity = _clarity(_moments(*before), split, _moments(*after), len(blocks) - split)
        if clarity > best and after[0] >= least_units:
            best, where = clarity, split
    return where


def _roughness(blocks: Sequence[Block]) -> float:
    usual = math.fsum(block.seconds for block in blocks) / math.fsum(one.units for one in blocks)
    if usual <= 0:
        return 0.0
    off = (min(1.0, abs(block.pace / usual - 1)) * block.units for block in blocks)
    return math.fsum(off) / math.fsum(block.units for block in blocks)


def _parts(paces: Sequence[float], units: Sequence[float]) -> tuple[list[float], ...]:
    seconds = [pace * unit for pace, unit in zip(paces, units, strict=True)]
    squares = [pace * second for pace, second in zip(paces, seconds, strict=True)]
    return list(units), seconds, squares


def _moments(units: float, seconds: float, squares: float) -> tuple[float, float]:
    mean = seconds / units
    return mean, max(0.0, squares / units - mean * mean)


def _clarity(
    before: tuple[float, float], blocks_before: int, after: tuple[float, float], blocks_after: int
) -> float:
    """Deviations between both means; 0 for a difference that is not worth it."""
    difference = abs(after[0] - before[0])
    if difference <= _WORTH * max(after[0], before[0]):
        return 0.0
    error = math.sqrt(before[1] / blocks_before + after[1] / blocks_after)
    return difference / max(error, _MIN_ERROR * difference)


def end_of_warmup(blocks: Sequence[Block]) -> int:
    """Leave out first blocks that are slower than all that came later, up to half of them."""
    if len(blocks) < 2:  # noqa: PLR2004 - one alone is all there is
        return 0
    usual = median(block.pace for block in blocks[len(blocks) // 2 :])
    around = 1.4826 * median(abs(block.pace - usual) for block in blocks[len(blocks) // 2 :])
    slow = usual + max(_WORTH * usual, 2 * around)
    first = next(index for index, block in enumerate(blocks) if block.pace <= slow)
    return min(first, len(blocks) // 2)


def mean_pace(blocks: Sequence[Block]) -> tuple[float, float]:
    parts = _parts(_within_reason(blocks), [block.units for block in blocks])
    mean, variance = _moments(*map(math.fsum, parts))
    relative = math.sqrt(variance / len(blocks)) / mean if mean > 0 else 0.0
    return mean, relative


def _within_reason(blocks: Sequence[Block]) -> list[float]:
    """Their paces, with one that hung (a suspended machine) cut to an outlier's length.

    Looks that catch now one step and now two see paces of which none is right alone: a block
    that is fast because it holds one unit more than others stays as it is.
    """
    paces = [block.pace for block in blocks]
    middle, units = median(paces), median(block.units for block in blocks)
    apart = 1.4826 * median(abs(pace - middle) for pace in paces)
    reach = _OUTLIER * max(apart, 0.01 * middle)
    return [
        min(pace, middle + reach) if 0 < block.units - units <= 1 else _between(pace, middle, reach)
        for block, pace in zip(blocks, paces, strict=True)
    ]


def _between(pace: float, middle: float, reach: float) -> float:
    return min(max(pace, middle - reach), middle + reach)


def _block(before: Point, after: Point) -> Block:
    return Block(
        before.done,
        (after.done - after.paused_units) - (before.done - before.paused_units),
        (after.at - after.paused_s) - (before.at - before.paused_s),
    )


_ENOUGH_UNANNOUNCED = 3
"""One or two long gaps without an announcement are accidents, not a habit."""
_TOGETHER = 0.1
"""Pauses closer than this share of the widest distance are one: it may take several steps."""
_REGULAR_SHARE = 0.6
_TOLERANCE = 0.1
_MAX_LENGTH = 3.0
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
    lengths = [min(stop.extra_s, _MAX_LENGTH * usual) for stop in stops]
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
