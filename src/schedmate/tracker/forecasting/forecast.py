"""When it ends: from the run's own points and from how similar runs went. Pure: no clock."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal

from schedmate.model import EndsBy, RunProfile, Spread
from schedmate.tracker.forecasting.likeness import Likeness, likeness
from schedmate.tracker.forecasting.pace import Pace, pace_of
from schedmate.tracker.forecasting.pauses import pauses_to_come
from schedmate.tracker.forecasting.spread import Guess, capped, passed, spread_of
from schedmate.tracker.forecasting.timeline import Timeline
from schedmate.tracker.forecasting.usual_end import UsualEnd, usual_end

Basis = Literal["own", "similar"]

_MOST_LIKES = 32

# From public logs (bench/accuracy/remaining_time.py): step logs at 10 % of their time, series of
# evaluations at 25 %. Three widths (_OWN_MORE, _SIMILAR, _SURVIVORS_TAIL) were also chosen with
# each record or benchmark left out in turn, for a coverage of 80 %: 0.015, 0.0015 and mostly 0.16
# came out and covered 76, 79 and 79 % of what was left out; those below are a little wider. The
# others were not, and the figures on the same logs flatter them. _OWN_MORE leaves out the 61 runs
# whose steps grow by more than 30 %: what has not begun to show is in no spread of a lone run.
_GROWTH = 0.005
"""Runs take a little longer than their first part suggests: heat, fragments, what comes last.

Half of what those logs would have: elsewhere steps may really stay the same."""
_OWN_LESS = 0.008
_OWN_MORE, _MOST_MORE = 0.016, 0.08
"""Steps rather grow than shrink; over the root of the share done, as a window that grows shows."""
_FEW = 0.5
"""With one or two blocks their likeness proves nothing."""
_SIMILAR = 0.0018
"""Between two runs of the same code on the same machines ..."""
_OTHER_PACE, _MOST_OTHER_PACE = 0.25, 0.1
"""... more by this share of how much faster or slower this one is ..."""
_OTHER_TOTAL = 0.01
"""... and where it has another total."""
_UNLIKE = 0.1
"""So much worse than a straight line may a similar run's curve fit before it counts as unlike."""
_SAME_PACE = 0.3
"""What a difference of pace weighs against one of shape when runs are weighed by likeness."""
_TAIL = 0.25
_SURVIVORS, _LONE_SURVIVOR, _SURVIVORS_TAIL = 0.001, 0.05, 0.15
"""Where only the ends of similar runs tell the end, their own spread is most of it."""
_SLACK = 0.02
_SURE = 0.9


@dataclass(frozen=True, slots=True)
class Forecast:
    rate_per_s: float | None
    """Units a second now, without pauses; None while nothing tells it."""
    remaining_s: Spread | None
    """Counted from the newest point, or from `now`; None where nothing tells the end."""
    total: float | None
    """What the count will be at the end, where anything tells it."""
    ends_by: EndsBy
    basis: Basis
    confidence: float
    """In `remaining_s`, 0 to 1."""


def forecast(
    timeline: Timeline,
    *,
    total: float | None,
    likes: Sequence[RunProfile] = (),
    cap_s: float | None = None,
    now: float | None = None,
) -> Forecast | None:
    """Say how fast it goes and when it ends; None without anything to tell either from.

    `total` is what the log or the workload record says the run will do, in the timeline's unit;
    `likes` are profiles of similar finished runs in the same unit, most similar first. `cap_s`
    is how long after its beginning the run is ended anyway (a cap in the code, a limit).
    `now` is a time of the clock of `Timeline.add`.
    """
    asked = _Asked(timeline, pace_of(timeline.points), total, now)
    known = [like for like in likes if like.duration_s > 0][:_MOST_LIKES]
    found = asked.by_similar(known) or asked.by_own()
    if found is None and cap_s is None:
        return None
    return asked.cut(found, cap_s)


@dataclass(frozen=True, slots=True)
class _Asked:
    """One question and what is needed for every way to answer it."""

    timeline: Timeline
    pace: Pace | None
    total: float | None
    now: float | None

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
        spread = spread_of([self._own_guess(self.pace, self.total)], tail=0.5)
        return self._answer(spread, self.total, "total", "own")

    def by_similar(self, likes: Sequence[RunProfile]) -> Forecast | None:
        if not likes:
            return None
        end = usual_end(likes, self.total)
        if end.after_s is not None:
            return self._by_cap(end, end.after_s)
        found = [likeness(self.timeline, like, self.total) for like in end.likes]
        if end.total is not None:
            found = [one for one in found if self._explains(one)]
        opinions = (self._guess(one, end.total, len(found)) for one in found)
        guesses = [one for one in opinions if one is not None]
        if not guesses:
            return None
        count = end.total if end.total is not None else _usual_count(found)
        tail = _TAIL if end.total is not None else _SURVIVORS_TAIL
        return self._answer(spread_of(guesses, tail=tail), count, end.ends_by, "similar")

    def cut(self, found: Forecast | None, cap_s: float | None) -> Forecast | None:
        """The run is ended at its cap, whatever it has done by then."""
        if cap_s is None:
            return found
        left = max(0.0, cap_s - self.elapsed_s)
        rest = found.remaining_s if found is not None else None
        if found is None or rest is None:
            spread = Spread((1 - _SLACK) * left, left, (1 + _SLACK) * left)
            return Forecast(self.rate, spread, None, "cap", "own", _SURE)
        by_cap = rest.p50 > left
        return replace(
            found,
            remaining_s=capped(rest, left),
            ends_by="cap" if by_cap else found.ends_by,
        )

    def _own_guess(self, pace: Pace, total: float) -> Guess:
        done = self.timeline.done
        pauses = pauses_to_come(self.timeline, pace.seconds, total)
        seconds = pace.seconds * max(0.0, total - done) + pauses.seconds
        begin = self.timeline.points[0].done
        share = min(1.0, max(0.0, (done - begin) / (total - begin))) if total > begin else 1.0
        unsure = pauses.deviation_s / seconds if seconds > 0 else 0.0
        doubt = math.hypot(pace.deviation, unsure, _FEW / pace.blocks**2)
        more = min(_MOST_MORE, _OWN_MORE / math.sqrt(max(share, 0.01)))
        return Guess(seconds * (1 + _GROWTH), math.hypot(doubt, _OWN_LESS), math.hypot(doubt, more))

    def _explains(self, like: Likeness) -> bool:
        """Whether a similar run's curve fits at least nearly as well as a straight line."""
        own = 0.0 if self.pace is None else self.pace.roughness
        return like.ratio is not None and like.mismatch <= own + _UNLIKE

    def _guess(self, like: Likeness, end: float | None, of: int) -> Guess | None:
        at = self.elapsed_s - self.believed_age_s
        rest = like.rest_s(at, self.timeline.done, end)
        if rest is None:
            return None
        if end is None:
            doubt = _SURVIVORS + _LONE_SURVIVOR / of**2
            return Guess(rest, doubt, doubt)
        ratio = 0.0 if like.ratio is None else abs(math.log(like.ratio.seconds))
        unlike = math.hypot(_SIMILAR, like.mismatch)
        own = 0.0 if like.ratio is None else like.ratio.deviation
        other = _OTHER_TOTAL if like.stretch != 1.0 else 0.0
        doubt = math.hypot(_SIMILAR, own, min(_MOST_OTHER_PACE, _OTHER_PACE * ratio), other)
        return Guess(rest, doubt, doubt, 1 / math.hypot(unlike, _SAME_PACE * ratio) ** 2)

    def _by_cap(self, end: UsualEnd, after_s: float) -> Forecast:
        left = max(0.0, after_s - self.elapsed_s)
        spread = Spread((1 - _SLACK) * left, left, (1 + _SLACK) * left)
        return Forecast(self.rate, spread, end.total, end.ends_by, "similar", _SURE)

    def _answer(
        self, spread: Spread, total: float | None, ends_by: EndsBy, basis: Basis
    ) -> Forecast:
        width = (spread.p90 - spread.p10) / (2 * spread.p50) if spread.p50 > 0 else 0.0
        rest = passed(spread, self.believed_age_s)
        return Forecast(self.rate, rest, total, ends_by, basis, 1 / (1 + 4 * width))


def _usual_count(likes: Sequence[Likeness]) -> float | None:
    counts = [one.profile.done * one.stretch for one in likes if one.profile.done > 0]
    return median(counts) if counts else None
