"""Forecasts that are still valid: a little later the same end is only a little nearer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from schedmate.model import RunProfile, Slowdown
from schedmate.tracker.forecasting.forecast import Forecast, forecast, passed
from schedmate.tracker.forecasting.slowdown import slowdown
from schedmate.tracker.forecasting.step_schedule import StepSchedule
from schedmate.tracker.forecasting.timeline import Timeline

_GOOD_FOR = 0.05
"""Share of the run so far: so little more hardly changes what all the points before it show."""
_GOOD_FOR_S = 2.0
"""Nor is a newer forecast needed more often than that ..."""
_WELL_FOUNDED = 8
"""... where the last one rests on so many points."""


@dataclass(frozen=True, slots=True)
class _CachedForecast:
    timeline: Timeline
    total: float | None
    cap_s: float | None
    elapsed_s: float
    points: int
    forecast: Forecast | None
    slowdown: Slowdown | None


@dataclass(slots=True)
class ForecastCache:
    """One per tracked job: a thousand jobs polled every second must cost little."""

    cached: _CachedForecast | None = field(default=None, repr=False)

    def forecast(
        self,
        timeline: Timeline,
        *,
        total: float | None,
        similar: Sequence[RunProfile] = (),
        cap_s: float | None = None,
        now: float | None = None,
        grows: bool = False,
        schedule: StepSchedule | None = None,
    ) -> tuple[Forecast | None, Slowdown | None]:
        cached = self.cached
        if cached is None or not _still_good(cached, timeline, total, cap_s):
            cached = self.cached = _CachedForecast(
                timeline,
                total,
                cap_s,
                timeline.elapsed_s,
                len(timeline.points),
                forecast(
                    timeline,
                    total=total,
                    similar=similar,
                    cap_s=cap_s,
                    now=now,
                    grows=grows,
                    schedule=schedule,
                ),
                slowdown(timeline, similar, total=total),
            )
        return _later(cached.forecast, timeline.elapsed_s - cached.elapsed_s), cached.slowdown


def _still_good(
    cached: _CachedForecast, timeline: Timeline, total: float | None, cap_s: float | None
) -> bool:
    same = cached.timeline is timeline and (cached.total, cached.cap_s) == (total, cap_s)
    founded = cached.points >= _WELL_FOUNDED
    good_for = max(_GOOD_FOR_S if founded else 0.0, _GOOD_FOR * cached.elapsed_s)
    known = cached.forecast is not None and cached.forecast.remaining_s is not None
    return same and known and 0 <= timeline.elapsed_s - cached.elapsed_s < good_for


def _later(found: Forecast | None, seconds: float) -> Forecast | None:
    if found is None or found.remaining_s is None or seconds <= 0:
        return found
    return replace(found, remaining_s=passed(found.remaining_s, seconds))
