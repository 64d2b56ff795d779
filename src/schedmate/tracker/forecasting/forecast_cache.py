"""Forecasts that are still valid: a little later the same end is only a little nearer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from schedmate.model import RunProfile, Slowdown
from schedmate.tracker.forecasting.forecast import Forecast, forecast, passed
from schedmate.tracker.forecasting.slowdown import slowdown
from schedmate.tracker.forecasting.timeline import Timeline

_GOOD_FOR = 0.05
"""Of the run so far: what comes in this time can hardly change what all before it told."""
_GOOD_FOR_S = 2.0
"""Nor does anybody need another word about the end more often than that ..."""
_WELL_FOUNDED = 8
"""... where the last one was told from so many points."""


@dataclass(frozen=True, slots=True)
class _Kept:
    timeline: Timeline
    total: float | None
    cap_s: float | None
    elapsed_s: float
    points: int
    forecast: Forecast | None
    slowdown: Slowdown | None


@dataclass(slots=True)
class Recall:
    """One for each followed job: a thousand jobs looked at every second must cost little."""

    kept: _Kept | None = field(default=None, repr=False)

    def forecast(
        self,
        timeline: Timeline,
        *,
        total: float | None,
        likes: Sequence[RunProfile] = (),
        cap_s: float | None = None,
        now: float | None = None,
    ) -> tuple[Forecast | None, Slowdown | None]:
        kept = self.kept
        if kept is None or not _still_good(kept, timeline, total, cap_s):
            kept = self.kept = _Kept(
                timeline,
                total,
                cap_s,
                timeline.elapsed_s,
                len(timeline.points),
                forecast(timeline, total=total, likes=likes, cap_s=cap_s, now=now),
                slowdown(timeline, likes, total=total),
            )
        return _later(kept.forecast, timeline.elapsed_s - kept.elapsed_s), kept.slowdown


def _still_good(kept: _Kept, timeline: Timeline, total: float | None, cap_s: float | None) -> bool:
    same = kept.timeline is timeline and (kept.total, kept.cap_s) == (total, cap_s)
    founded = kept.points >= _WELL_FOUNDED
    good_for = max(_GOOD_FOR_S if founded else 0.0, _GOOD_FOR * kept.elapsed_s)
    known = kept.forecast is not None and kept.forecast.remaining_s is not None
    return same and known and 0 <= timeline.elapsed_s - kept.elapsed_s < good_for


def _later(found: Forecast | None, seconds: float) -> Forecast | None:
    if found is None or found.remaining_s is None or seconds <= 0:
        return found
    return replace(found, remaining_s=passed(found.remaining_s, seconds))
