"""How a run compares with similar finished runs, and where those ended."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from schedmate.model import EndsBy, Mark, RunProfile
from schedmate.tracker.forecasting.pace import Pace, pace_of, sparse
from schedmate.tracker.forecasting.timeline import Point, Timeline

_ENOUGH_MARKS = 4
_ENOUGH_POINTS = 4
_MIN_STRETCH = 1e-6
_SAME_TOTAL = 0.001
_CLEARLY = 0.03
_LASTING = 0.15
"""Two curves that change at slightly different counts differ for a while."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A similar run, with its count stretched to this run's."""

    profile: RunProfile
    stretch: float
    """Units of this run for one of the similar run."""
    ratio: Pace | None
    """Seconds of this run for one of the similar run's, as far as both can be compared."""

    @property
    def mismatch(self) -> float:
        """How unlike both curves are when one is scaled to the other: 0 for none."""
        return 0.0 if self.ratio is None else self.ratio.roughness

    def rest_s(self, elapsed_s: float, done: float, end: float | None) -> float | None:
        """What is left until this run's count is `end`, or the similar run ended; None if over."""
        pace = 1.0 if self.ratio is None else self.ratio.seconds
        last = self.profile.duration_s if end is None else self._at(end)
        here = elapsed_s if self.ratio is None else self._at(done)
        if end is None and (here >= last or self._is_past(done)):
            return None
        return max(0.0, pace * (last - here))

    def _is_past(self, done: float) -> bool:
        return self.ratio is not None and done >= self.profile.done * self.stretch

    def _at(self, done: float) -> float:
        return time_at(self.profile.curve, done / self.stretch)


def compare(timeline: Timeline, profile: RunProfile, total: float | None) -> Comparison:
    """Compare by shares of the totals, or by the count as it is where that fits clearly better."""
    plain = Comparison(profile, 1.0, _ratio(timeline, profile, 1.0))
    if not total or not profile.total or abs(total / profile.total - 1) < _SAME_TOTAL:
        return plain
    stretch = total / profile.total
    if not _MIN_STRETCH < stretch < 1 / _MIN_STRETCH:
        return plain
    shared = Comparison(profile, stretch, _ratio(timeline, profile, stretch))
    if shared.ratio is None:
        return plain
    better = plain.ratio is not None and plain.mismatch < shared.mismatch - _CLEARLY
    return plain if better else shared


def time_at(curve: Sequence[Mark], done: float) -> float:
    """When so much was done; beyond its end the curve goes on as it did on average."""
    index = bisect_right(curve, done, key=lambda mark: mark.done)
    if index == 0:
        return curve[0].at
    before = curve[index - 1]
    if index == len(curve):
        gained = before.done - curve[0].done
        return before.at + (done - before.done) * (before.at - curve[0].at) / (gained or 1.0)
    return _between(before, curve[index], done)


def warped(points: Sequence[Point], profile: RunProfile, stretch: float) -> list[Point]:
    """The run's points over the similar run's time instead of the count."""
    marks = profile.curve
    inside = [Point(one.at, one.done / stretch) for one in points]
    inside = [one for one in inside if marks[0].done <= one.done <= marks[-1].done]
    over_time, index = [], 0
    for point in inside:
        while index < len(marks) - 2 and marks[index + 1].done < point.done:
            index += 1
        over_time.append(Point(point.at, _between(marks[index], marks[index + 1], point.done)))
    return over_time


def _between(before: Mark, after: Mark, done: float) -> float:
    gained = after.done - before.done
    share = (done - before.done) / gained if gained > 0 else 1.0
    return before.at + share * (after.at - before.at)


def _ratio(timeline: Timeline, profile: RunProfile, stretch: float) -> Pace | None:
    if len(profile.curve) < _ENOUGH_MARKS:
        return None
    points = warped(sparse(timeline.points), profile, stretch)
    return pace_of(points, lasting=_LASTING) if len(points) >= _ENOUGH_POINTS else None


_REACHED = 0.98
_SAME_TIME = 0.02
"""Runs that end at a cap differ by no more than this."""


@dataclass(frozen=True, slots=True)
class UsualEnd:
    """`similar` are the runs that ended so; `total` is None where only they show the end."""

    ends_by: EndsBy
    total: float | None
    similar: tuple[RunProfile, ...]
    after_s: float | None = None


def usual_end(similar: Sequence[RunProfile], total: float | None) -> UsualEnd:
    """The total, unless most of the similar runs ended before theirs."""
    early = tuple(run for run in similar if _ended_early(run))
    if 2 * len(early) <= len(similar):
        ends_by: EndsBy = "unknown" if total is None else "total"
        return UsualEnd(ends_by, total, tuple(similar))
    causes = Counter(run.ends_by for run in early if run.ends_by not in ("unknown", "total"))
    ends_by = causes.most_common(1)[0][0] if causes else _guessed(early)
    if ends_by in ("cap", "limit"):
        return UsualEnd(ends_by, None, early, median(run.duration_s for run in early))
    return UsualEnd(ends_by, None, early)


def _ended_early(run: RunProfile) -> bool:
    if run.ends_by != "unknown":
        return run.ends_by != "total"  # though its curve ends before: a bar's clock has seconds
    return run.total is not None and run.done < _REACHED * run.total


def _guessed(early: Sequence[RunProfile]) -> EndsBy:
    """Several that ended after the same time but not at the same count were cut off."""
    times = [run.duration_s for run in early]
    counts = [run.done for run in early]
    alike = max(times) <= (1 + _SAME_TIME) * min(times)
    return "cap" if alike and max(counts) > (1 + _SAME_TIME) * min(counts) else "early_stop"
