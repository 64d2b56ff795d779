"""When a run ends, as quantiles: from its own points and from similar runs. Pure: no clock."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal

from schedmate.model import EndsBy, RunProfile, Spread
from schedmate.model.advice import Z90
from schedmate.tracker.forecasting.pace import Pace, pace_of, pauses_to_come
from schedmate.tracker.forecasting.similar_runs import Comparison, UsualEnd, compare, usual_end
from schedmate.tracker.forecasting.step_schedule import DEARER_DOUBT, StepSchedule
from schedmate.tracker.forecasting.timeline import Timeline

Basis = Literal["own", "similar"]

_MAX_SIMILAR = 32

# From public logs (bench/accuracy/remaining_time.py): step logs at 10 % of their time, series of
# evaluations at 25 %. Three widths (_OWN_MORE, _SIMILAR, _SURVIVORS_TAIL) were also chosen with
# each record or benchmark left out in turn, for a coverage of 80 %: 0.015, 0.0015 and mostly 0.16
# came out and covered 76, 79 and 79 % of what was left out; those below are a little wider. The
# others were not, and the figures on the same logs flatter them. _OWN_MORE leaves out the 61 runs
# whose steps grow by more than 30 %: _BY_SCHEDULE is for them.
_GROWTH = 0.005
"""Runs take a little longer than their first part suggests: heat, fragments, what comes last.

Half of what those logs would have: elsewhere steps may really stay the same."""
_OWN_LESS = 0.008
_OWN_MORE, _MAX_MORE = 0.018, 0.08
"""Steps rather grow than shrink; over the root of the share done, as a window that grows shows."""
_BY_SCHEDULE = 0.85
"""Steps that grow by a schedule may double: at a tenth of the time, p90 is twice p50."""
_FEW = 0.5
"""With one or two blocks their agreement proves nothing."""
_SIMILAR = 0.0018
"""Between two runs of the same code on the same machines ..."""
_OTHER_PACE, _MAX_OTHER_PACE = 0.25, 0.1
"""... more by this share of how much faster or slower this one is ..."""
_OTHER_TOTAL = 0.01
"""... and where it has another total."""
_MAX_MISMATCH = 0.1
"""So much worse than a straight line may a similar run's curve fit before it counts as unlike."""
_SAME_PACE = 0.3
"""What a difference of pace weighs against one of shape when runs are weighed by similarity."""
_TAIL = 0.25
_SURVIVORS, _LONE_SURVIVOR, _SURVIVORS_TAIL = 0.001, 0.05, 0.15
"""Where the end is known from similar runs only, the spread of their ends is most of it."""
SLACK = 0.02
_SURE = 0.9


@dataclass(frozen=True, slots=True)
class Forecast:
    rate_per_s: float | None
    """Units a second now, without pauses; None while unknown."""
    remaining_s: Spread | None
    """Counted from the newest point, or from `now`; None where the end is unknown."""
    total: float | None
    """What the count will be at the end, where it is known."""
    ends_by: EndsBy
    basis: Basis
    confidence: float
    """In `remaining_s`, 0 to 1."""


def forecast(
    timeline: Timeline,
    *,
    total: float | None,
    similar: Sequence[RunProfile] = (),
    cap_s: float | None = None,
    now: float | None = None,
    grows: bool = False,
    schedule: StepSchedule | None = None,
) -> Forecast | None:
    """How fast the run goes and when it ends; None where neither is known.

    `total` is what the log or the workload record says the run will do, in the timeline's unit;
    `similar` are profiles of similar finished runs in the same unit, most similar first. `cap_s`
    is how long after its beginning the run is ended anyway (a cap in the code, a limit).
    `now` is a time of the clock of `Timeline.add`. `grows` says that steps will take longer by a
    schedule that is not known any further, `schedule` is one that is.
    """
    forecaster = _Forecaster(timeline, pace_of(timeline.points), total, now, grows, schedule)
    known = [run for run in similar if run.duration_s > 0][:_MAX_SIMILAR]
    found = forecaster.by_similar(known) or forecaster.by_own()
    if found is None and cap_s is None:
        return None
    return forecaster.cut(found, cap_s)


@dataclass(frozen=True, slots=True)
class _Forecaster:
    """One question and what is needed for every way to answer it."""

    timeline: Timeline
    pace: Pace | None
    total: float | None
    now: float | None
    grows: bool = False
    schedule: StepSchedule | None = None

    @property
    def rate(self) -> float | None:
        return None if self.pace is None else 1 / self.pace.seconds

    @property
    def age_s(self) -> float:
        return 0.0 if self.now is None else self.timeline.since_newest_s(self.now)

    @property
    def believed_age_s(self) -> float:
        """No more of the silence than is usual between points: the rest of it did nothing."""
        points = self.timeline.points
        if len(points) < 2:  # noqa: PLR2004 - nothing usual yet
            return 0.0
        return min(self.age_s, points[-1].at - points[-2].at)

    @property
    def elapsed_s(self) -> float:
        return self.timeline.elapsed_s + self.age_s

    def by_own(self) -> Forecast | None:
        if self.pace is None:
            return None
        if self.total is None:
            return Forecast(self.rate, None, None, "unknown", "own", 0.0)
        spread = spread_of([self._own_estimate(self.pace, self.total)], tail=0.5)
        return self._answer(spread, self.total, "total", "own")

    def by_similar(self, similar: Sequence[RunProfile]) -> Forecast | None:
        if not similar:
            return None
        end = usual_end(similar, self.total)
        if end.after_s is not None:
            return self._by_cap(end, end.after_s)
        found = [compare(self.timeline, run, self.total) for run in end.similar]
        if end.total is not None:
            found = [one for one in found if self._explains(one)]
        opinions = (self._estimate(one, end.total, len(found)) for one in found)
        estimates = [one for one in opinions if one is not None]
        if not estimates:
            return None
        count = end.total if end.total is not None else _usual_count(found)
        tail = _TAIL if end.total is not None else _SURVIVORS_TAIL
        return self._answer(spread_of(estimates, tail=tail), count, end.ends_by, "similar")

    def cut(self, found: Forecast | None, cap_s: float | None) -> Forecast | None:
        """The run is ended at its cap, no matter how much it has done."""
        if cap_s is None:
            return found
        left = max(0.0, cap_s - self.elapsed_s)
        rest = found.remaining_s if found is not None else None
        if found is None or rest is None:
            return Forecast(self.rate, _by_clock(left), None, "cap", "own", _SURE)
        by_cap = rest.p50 > left
        return replace(
            found,
            remaining_s=_by_clock(left, rest) if by_cap else capped(rest, left),
            ends_by="cap" if by_cap else found.ends_by,
        )

    def _own_estimate(self, pace: Pace, total: float) -> Estimate:
        done = self.timeline.done
        pauses = pauses_to_come(self.timeline, pace.seconds, total)
        dearer = self._dearer(pace, total)
        seconds = dearer * pace.seconds * max(0.0, total - done) + pauses.seconds
        begin = self.timeline.points[0].done
        share = min(1.0, max(0.0, (done - begin) / (total - begin))) if total > begin else 1.0
        unsure = pauses.deviation_s / seconds if seconds > 0 else 0.0
        doubt = math.hypot(pace.deviation, unsure, _FEW / pace.blocks**2)
        more = min(_MAX_MORE, _OWN_MORE / math.sqrt(max(share, 0.01)))
        doubt = math.hypot(doubt, DEARER_DOUBT * math.log(max(1.0, dearer)))
        if self.grows and self.schedule is None:
            more = math.hypot(more, _BY_SCHEDULE * (1 - share) ** 2)
        return Estimate(
            seconds * (1 + _GROWTH), math.hypot(doubt, _OWN_LESS), math.hypot(doubt, more)
        )

    def _dearer(self, pace: Pace, total: float) -> float:
        """What a step to come costs by the schedule, in steps of the present pace."""
        done = self.timeline.done
        if self.schedule is None or total <= done:
            return 1.0
        now = self.schedule.mean_cost(min(pace.since, done), done, total)
        return self.schedule.mean_cost(done, total, total) / now

    def _explains(self, run: Comparison) -> bool:
        """Whether a similar run's curve fits at least nearly as well as a straight line."""
        own = 0.0 if self.pace is None else self.pace.roughness
        return run.ratio is not None and run.mismatch <= own + _MAX_MISMATCH

    def _estimate(self, run: Comparison, end: float | None, of: int) -> Estimate | None:
        at = self.elapsed_s - self.believed_age_s
        rest = run.rest_s(at, self.timeline.done, end)
        if rest is None:
            return None
        if end is None:
            doubt = _SURVIVORS + _LONE_SURVIVOR / of**2
            return Estimate(rest, doubt, doubt)
        ratio = 0.0 if run.ratio is None else abs(math.log(run.ratio.seconds))
        unlike = math.hypot(_SIMILAR, run.mismatch)
        own = 0.0 if run.ratio is None else run.ratio.deviation
        other = _OTHER_TOTAL if run.stretch != 1.0 else 0.0
        doubt = math.hypot(_SIMILAR, own, min(_MAX_OTHER_PACE, _OTHER_PACE * ratio), other)
        return Estimate(rest, doubt, doubt, 1 / math.hypot(unlike, _SAME_PACE * ratio) ** 2)

    def _by_cap(self, end: UsualEnd, after_s: float) -> Forecast:
        left = max(0.0, after_s - self.elapsed_s)
        return Forecast(self.rate, _by_clock(left), end.total, end.ends_by, "similar", _SURE)

    def _answer(
        self, spread: Spread, total: float | None, ends_by: EndsBy, basis: Basis
    ) -> Forecast:
        width = (spread.p90 - spread.p10) / (2 * spread.p50) if spread.p50 > 0 else 0.0
        rest = passed(spread, self.believed_age_s)
        return Forecast(self.rate, rest, total, ends_by, basis, 1 / (1 + 4 * width))


def _by_clock(left: float, rest: Spread | None = None) -> Spread:
    """A run that is ended after some time checks it between two steps, or saves before."""
    soonest = (1 - SLACK) * left
    return Spread(soonest if rest is None else min(soonest, rest.p10), left, (1 + SLACK) * left)


def _usual_count(similar: Sequence[Comparison]) -> float | None:
    counts = [one.profile.done * one.stretch for one in similar if one.profile.done > 0]
    return median(counts) if counts else None


_WIDEST = 3.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """One opinion on the seconds left, how far off it may be either way, and its weight.

    `less` and `more` are deviations of the logarithm.
    """

    seconds: float
    less: float
    more: float
    weight: float = 1.0

    def at(self, deviations: float) -> float:
        auxiliary = self.less if deviations < 0 else self.more
        return self.seconds * math.exp(deviations * min(auxiliary, _WIDEST))


def spread_of(estimates: Sequence[Estimate], *, tail: float) -> Spread:
    """The middle of all opinions, as wide as they differ and as each is unsure of itself.

    `tail` is the share of opinions to be left out at either end.
    """
    middle = _quantile(estimates, 0.5, lambda one: one.seconds)
    low = _quantile(estimates, tail, lambda one: one.at(-Z90))
    high = _quantile(estimates, 1 - tail, lambda one: one.at(Z90))
    return Spread(min(low, middle), middle, max(high, middle))


def passed(spread: Spread, seconds: float) -> Spread:
    """The same end, seen `seconds` later."""
    return Spread(*(max(0.0, value - seconds) for value in (spread.p10, spread.p50, spread.p90)))


def capped(spread: Spread, seconds: float) -> Spread:
    """The same rest where it ends after so many seconds at the latest."""
    most = max(0.0, seconds)
    return Spread(*(min(most, value) for value in (spread.p10, spread.p50, spread.p90)))


def _quantile(
    estimates: Sequence[Estimate], share: float, value: Callable[[Estimate], float]
) -> float:
    """Weighted, and between neighbours in proportion, so that two opinions meet halfway."""
    ordered = sorted((value(one), one.weight) for one in estimates)
    wanted = share * math.fsum(weight for _, weight in ordered)
    below, before = -math.inf, ordered[0][0]
    so_far = 0.0
    for number, weight in ordered:
        centre = so_far + weight / 2
        if centre >= wanted:
            part = (wanted - below) / (centre - below) if math.isfinite(below) else 1.0
            return before + part * (number - before)
        below, before, so_far = centre, number, so_far + weight
    return before
