"""A lasting drop of speed, as distinct from dips, pauses, warm-up and schedules."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from schedmate.model import RunProfile, Slowdown
from schedmate.tracker.forecasting.pace import Block, blocks_of, change_in, end_of_warmup, mean_pace
from schedmate.tracker.forecasting.similar_runs import Comparison, compare, warped
from schedmate.tracker.forecasting.timeline import Point, Timeline

_WORTH_REPORTING = 0.9
"""Of the speed before; packing jobs costs more, thermal drift less."""
_MIN_POINTS = 10
_MIN_SHARE = {"own": 0.03, "similar": 0.06}
"""A drop has to last for so many points and this share of the time so far.

A similar run's curve is known at a few marks only, so that its own drops are seen a bit off."""

_MIN_PAST = 0.1
"""And be compared with this share of what was done so far."""


@dataclass(frozen=True, slots=True)
class _Drop:
    at: float
    """The count, or the similar run's time, where it began."""
    factor: float


def slowdown(
    timeline: Timeline, similar: Sequence[RunProfile] = (), *, total: float | None = None
) -> Slowdown | None:
    """A drop of speed that lasts, against the job's own past or against similar runs.

    Where a similar run can be compared, only what differs from it counts: steps that grow by
    the same schedule there are no slow-down. A run that was slower from the start is none either.
    """
    run = _best_match(timeline, similar, total)
    if run is None:
        return _slowdown_in(timeline, timeline.points, "own")
    return _slowdown_in(timeline, warped(timeline.points, run.profile, run.stretch), "similar")


def _best_match(
    timeline: Timeline, similar: Sequence[RunProfile], total: float | None
) -> Comparison | None:
    found = [compare(timeline, run, total) for run in similar if run.curve]
    usable = [one for one in found if one.ratio is not None]
    return min(usable, key=lambda one: one.mismatch, default=None)


def _slowdown_in(
    timeline: Timeline, points: Sequence[Point], against: Literal["own", "similar"]
) -> Slowdown | None:
    drop = _drop_in(blocks_of(points, most=len(points)), _MIN_SHARE[against] * timeline.elapsed_s)
    if drop is None:
        return None
    since = next(before.at for before, after in pairwise(points) if after.done > drop.at)
    return Slowdown(since_s=since, factor=round(drop.factor, 3), against=against)


def _drop_in(blocks: Sequence[Block], least_s: float) -> _Drop | None:
    if not blocks:
        return None
    begin, start = _last_change(blocks)
    before, after = blocks[begin:start], blocks[start:]
    lasted_s = math.fsum(block.seconds for block in after)
    if not before or len(after) < _MIN_POINTS or lasted_s < least_s:
        return None
    past, now = mean_pace(before)[0], mean_pace(after)[0]
    factor = past / now if now > 0 else 1.0
    return _Drop(after[0].start, factor) if factor < _WORTH_REPORTING else None


def _last_change(blocks: Sequence[Block]) -> tuple[int, int]:
    """Where the past to compare with begins, and where the present does.

    A short past at the beginning is none: first steps may also be faster than what comes.
    """
    least = _MIN_PAST * math.fsum(block.units for block in blocks)
    begin = start = end_of_warmup(blocks)
    while (later := change_in(blocks[start:], 0.0)) is not None:
        start += later
        past = blocks[begin:start]
        if len(past) < _MIN_POINTS or math.fsum(block.units for block in past) < least:
            begin = start
    return begin, start
