"""What was done when, in bounded memory, and the profile that later runs learn from. Pure."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Literal, NamedTuple

from schedmate.model import EndsBy, Mark, Phase, RunProfile, Unit

_MAX_POINTS = 144
_KEPT_POINTS = 112
_ALWAYS_NEW = 8
_MAX_PAUSES = 24
_RECENT_GAPS = 24
_MIN_RECENT_GAPS = 8
_LONGER = 0.2
"""An unannounced pause makes its gap longer by this share at least ..."""
_BEYOND_NOISE = 8.0
"""... and stands out by this many deviations of the gaps before it."""
_MAX_IN_A_ROW = 2
"""More long gaps in a row are no pauses: the speed has changed."""
_CLOCK_WAS_UNSET_S = 3e8
"""A gap of ten years: the machine found out what time it is."""
_NO_TIME, _NO_COUNT = 1e12, 1e18


class Point(NamedTuple):
    """So much was done so many seconds after the run began; what of both fell into pauses."""

    at: float
    done: float
    paused_s: float = 0.0
    paused_units: float = 0.0


class Pause(NamedTuple):
    """A gap in which the job did something else as well; it ended with `done`."""

    kind: Phase
    done: float
    gap_s: float
    units: float


@dataclass(slots=True)
class Timeline:
    """The points of one count through one run; all fields are its state and go into JSON.

    `began` is when the run began, on the clock of `add`; without it the first point counts as
    the beginning. Times inside are seconds after it, without the jumps of that clock.
    """

    began: float | None = None
    points: list[Point] = field(default_factory=list)
    pauses: list[Pause] = field(default_factory=list)
    """The newest few, announced or found."""
    shift_s: float = 0.0
    """What the clock was set back by in all, added to its times since."""
    recent: list[float] = field(default_factory=list)
    """Seconds a unit of the newest gaps that were no announced pauses."""
    announced: Phase | None = None
    long_gaps: list[Pause] = field(default_factory=list)
    """Gaps that may turn out to be pauses, the newest last."""
    long_in_a_row: int = 0

    @property
    def done(self) -> float:
        return self.points[-1].done if self.points else 0.0

    @property
    def elapsed_s(self) -> float:
        """From the beginning of the run to the newest point."""
        return self.points[-1].at if self.points else 0.0

    def since_newest_s(self, now: float) -> float:
        """How old the newest point, or else the run, is by the clock of `add`; never negative."""
        if self.began is None:
            return 0.0
        age = self._on_our_clock(now) - self.elapsed_s
        return age if 0.0 < age < _CLOCK_WAS_UNSET_S else 0.0

    def add(self, at: float, done: float, *, whole_seconds: bool = False) -> None:
        """Note that `done` units of the whole run were done at that time of some clock.

        A time printed in whole seconds is right for the first line that shows it; the clock of
        a look is right for the last line it found. A count that does not rise is no point.
        """
        if not (abs(at) < _NO_TIME and abs(done) < _NO_COUNT):
            return
        if not self.points:
            self._begin(at, done)
        elif done > self.points[-1].done:
            self._append(at, done, whole_seconds=whole_seconds)

    def pause(self, kind: Phase) -> None:
        """Say that the job evaluates or saves: its gap to the next point is a pause."""
        if self.points:
            self.announced = kind

    def restart(self) -> None:
        """Forget the points of a count that began again; the run and its clock go on."""
        self.points.clear()
        self.pauses.clear()
        self.recent.clear()
        self.long_gaps.clear()
        self.announced, self.long_in_a_row = None, 0

    def _begin(self, at: float, done: float) -> None:
        if self.began is None or at < self.began or at - self.began > _CLOCK_WAS_UNSET_S:
            self.began, self.shift_s = at, 0.0
        self.points.append(Point(self._on_our_clock(at), done))

    def _on_our_clock(self, at: float) -> float:
        return at - (self.began or 0.0) + self.shift_s

    def _append(self, at: float, done: float, *, whole_seconds: bool) -> None:
        last = self.points[-1]
        gap, units = self._on_our_clock(at) - last.at, done - last.done
        if gap == 0.0:
            if not whole_seconds:
                self.points[-1] = last._replace(done=done)
            return
        if not 0.0 < gap < _CLOCK_WAS_UNSET_S:
            usual = self._usual_pace() * units
            self.shift_s += usual - gap
            gap = usual
        self._judge(gap, units, done)
        paused_s, paused_units = self.points[-1][2:]
        if self.announced is not None:
            paused_s, paused_units = paused_s + gap, paused_units + units
            self.announced = None
        self.points.append(Point(last.at + gap, done, paused_s, paused_units))
        if len(self.points) > _MAX_POINTS:
            self.points = thinned(self.points, _KEPT_POINTS)

    def _usual_pace(self) -> float:
        return median(self.recent) if self.recent else 0.0

    def _judge(self, gap: float, units: float, done: float) -> None:
        """Tell a pause from a change of speed: after a pause it goes on as before."""
        if self.announced is not None:
            self._keep_pause(Pause(self.announced, done, gap, units))
            return
        if self._is_long(gap / units):
            self.long_in_a_row += 1
            self.long_gaps.append(Pause("unknown", done, gap, units))
            if self.long_in_a_row > _MAX_IN_A_ROW:
                self.long_gaps.clear()
            if self.long_in_a_row == _MIN_RECENT_GAPS:
                self.recent.clear()
        else:
            self._settle_long_gaps()
        self.recent.append(gap / units)
        del self.recent[:-_RECENT_GAPS]

    def _is_long(self, pace: float) -> bool:
        if len(self.recent) < _MIN_RECENT_GAPS:
            return False
        middle = median(self.recent)
        if pace < (1 + _LONGER) * middle:
            return False
        deviation = 1.4826 * median(abs(one - middle) for one in self.recent)
        return pace > middle + _BEYOND_NOISE * deviation

    def _settle_long_gaps(self) -> None:
        """The gaps before this one were pauses: note so in the points since."""
        for pause in self.long_gaps:
            self._keep_pause(pause)
            for index in range(len(self.points) - 1, 0, -1):
                point = self.points[index]
                if point.done < pause.done:
                    break
                self.points[index] = point._replace(
                    paused_s=point.paused_s + pause.gap_s,
                    paused_units=point.paused_units + pause.units,
                )
        self.long_gaps.clear()
        self.long_in_a_row = 0

    def _keep_pause(self, pause: Pause) -> None:
        self.pauses.append(pause)
        del self.pauses[:-_MAX_PAUSES]


def thinned(points: Sequence[Point], keep: int) -> list[Point]:
    """Leave out points where they are closest, measured by how far they are from both ends."""
    spare = len(points) - keep
    first, last = points[0].done, points[-1].done
    even = (last - first) / (keep / 2)

    def closeness(index: int) -> float:
        done = points[index].done
        wanted = min(even, (last - done) / 8, (done - first) / 4)
        return (points[index + 1].done - points[index - 1].done) / wanted if wanted else math.inf

    inner = sorted(range(1, len(points) - _ALWAYS_NEW), key=closeness)
    dropped: set[int] = set()
    for index in inner:
        if len(dropped) < spare and not {index - 1, index + 1} & dropped:
            dropped.add(index)
    return [point for index, point in enumerate(points) if index not in dropped]


_MAX_MARKS = 48
_EVEN_MARKS = 12
_EARLY = 0.05
"""Errors count by their share of the time so far, but not more than in this share of the run."""


def profile_of(
    timeline: Timeline,
    *,
    unit: Unit | Literal["line"],
    total: float | None = None,
    ends_by: EndsBy = "unknown",
    ended_at: float | None = None,
) -> RunProfile | None:
    """The curve of a finished run, at most 48 marks; None where nothing was counted.

    `ended_at` is when the run ended, on the clock of `Timeline.add`, if later than its last point.
    """
    if not timeline.points:
        return None
    curve = [Mark(point.at, point.done) for point in _chosen(timeline.points)]
    if ended_at is not None and (after := timeline.since_newest_s(ended_at)) > 0:
        curve.append(Mark(curve[-1].at + after, curve[-1].done))
    return RunProfile(unit=unit, curve=tuple(curve), total=total, ends_by=ends_by)


def _chosen(points: Sequence[Point]) -> list[Point]:
    """A few at even distances, then always the one that the curve so far misses most."""
    last = len(points) - 1
    if last < _MAX_MARKS - 1:
        return list(points)
    dones = [point.done for point in points]
    step = (dones[-1] - dones[0]) / _EVEN_MARKS
    even = {bisect_left(dones, dones[0] + step * mark) for mark in range(_EVEN_MARKS)}
    chosen = sorted(even | {0, last})
    worst = [_worst_between(points, *pair) for pair in pairwise(chosen)]
    while len(chosen) < _MAX_MARKS - 1:
        gap = max(range(len(worst)), key=worst.__getitem__)
        index = worst[gap][1]
        chosen.insert(gap + 1, index)
        worst[gap : gap + 1] = [
            _worst_between(points, chosen[gap], index),
            _worst_between(points, index, chosen[gap + 2]),
        ]
    return [points[index] for index in chosen]


def _worst_between(points: Sequence[Point], first: int, last: int) -> tuple[float, int]:
    """How far the straight line misses the curve at most, relative to its time, and where."""
    start, end = points[first], points[last]
    slope = (end.at - start.at) / (end.done - start.done)
    least = _EARLY * points[-1].at
    misses = (
        (
            abs(start.at + slope * (points[index].done - start.done) - points[index].at)
            / max(points[index].at, least, math.ulp(0.0)),
            index,
        )
        for index in range(first + 1, last)
    )
    return max(misses, default=(-1.0, first))
