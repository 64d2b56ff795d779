"""When the run ends and by what: its total, a cap in the code, the scheduler's limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from schedmate.model import EndsBy, Mark, RunProfile, Slowdown, Spread
from schedmate.tracker.facts import Facts
from schedmate.tracker.forecasting.forecast import Forecast, passed
from schedmate.tracker.run_position import Standing
from schedmate.tracker.scan import LogScan

_ENOUGH_POINTS = 8
_EARLIEST_STOP = 0.2
"""A run that may stop early is rarely stopped before this share of what is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    rate_per_s: float | None = None
    eta_s: Spread | None = None
    ends_by: EndsBy = "unknown"
    slowdown: Slowdown | None = None


def outlook(facts: Facts, scan: LogScan, stand: Standing, *, finished: bool) -> Outlook:
    told = _by_count(facts, scan, stand)
    if finished:
        stated = None if scan.ended_by == "unknown" else scan.ended_by
        over = stated or ("unknown" if stand.total is None else "total")
        return replace(told, eta_s=Spread(0.0, 0.0, 0.0), ends_by=over)
    aged = replace(told, eta_s=_aged(facts, stand, told))
    elapsed = facts.run_time_s(stand.series)
    return _within_limit(facts.limit_s, elapsed, _may_stop_early(facts, aged))


def _by_count(facts: Facts, scan: LogScan, stand: Standing) -> Outlook:
    found, slower = _forecast(facts, scan, stand)
    if found is not None and found.remaining_s is not None:
        return Outlook(
            rate_per_s=found.rate_per_s,
            eta_s=found.remaining_s,
            ends_by=found.ends_by,
            slowdown=slower,
        )
    rate = None if found is None else found.rate_per_s
    told = _by_what_is_printed(stand, rate or _average_rate(facts, stand))
    return replace(told, slowdown=slower)


def _forecast(
    facts: Facts, scan: LogScan, stand: Standing
) -> tuple[Forecast | None, Slowdown | None]:
    """From the count itself, or from the finer one inside it while the count has hardly moved."""
    series, inner = stand.series, stand.inner
    if inner is not None and inner.total and len(series.timeline.points) < _ENOUGH_POINTS:
        left = None if stand.total is None else (stand.total - stand.done) * inner.total
        total = None if left is None else inner.counted + left
        finer, slower = facts.recall.forecast(inner.timeline, total=total, cap_s=facts.cap_s)
        if finer is not None and finer.rate_per_s:
            return replace(finer, rate_per_s=finer.rate_per_s / inner.total), slower
    likes = _comparable(facts.likes, stand)
    newest = scan.stamps.last.get(series.stamps or "") if facts.now is None else None
    return facts.recall.forecast(
        series.timeline, total=stand.total, likes=likes, cap_s=facts.cap_s, now=newest
    )


def _comparable(likes: Sequence[RunProfile], stand: Standing) -> list[RunProfile]:
    """Runs that counted the same; where there is no total, others tell how long they took."""
    alike = [like for like in likes if like.unit == stand.unit]
    if alike or stand.total is not None:
        return alike
    return [
        replace(like, unit=stand.unit, curve=(Mark(0.0, 0.0), Mark(like.duration_s, 0.0)))
        for like in likes
    ]


def _average_rate(facts: Facts, stand: Standing) -> float | None:
    """Where neither the clock nor the log timed the lines, the time since the start has to do."""
    if stand.series.rate_per_s is not None:
        return stand.series.rate_per_s
    elapsed = facts.elapsed_s
    return stand.series.gained / elapsed if elapsed and stand.series.gained > 0 else None


def _by_what_is_printed(stand: Standing, rate: float | None) -> Outlook:
    """A single rate or a printed end: the spread is a guess, and wide."""
    seconds = stand.series.eta_s
    if rate and stand.total is not None:
        seconds = max(0.0, stand.total - stand.done) / rate
    ends_by: EndsBy = "unknown" if stand.total is None else "total"
    wide = None if seconds is None else Spread(0.8 * seconds, seconds, 1.5 * seconds)
    return Outlook(rate_per_s=rate, eta_s=wide, ends_by=ends_by)


def _aged(facts: Facts, stand: Standing, told: Outlook) -> Spread | None:
    """Counted from now; but the next line will be due, however long the newest is ago."""
    if told.eta_s is None or facts.now is None or stand.seen_at is None:
        return told.eta_s
    age = max(0.0, facts.now - stand.seen_at)
    if told.rate_per_s:
        age = min(age, max(1.0, stand.series.increment) / told.rate_per_s)
    return passed(told.eta_s, age)


def _may_stop_early(facts: Facts, told: Outlook) -> Outlook:
    stops = None if facts.workload is None else facts.workload.early_stopping
    if stops is None or not stops.value or told.eta_s is None or told.ends_by != "total":
        return told
    early = replace(told.eta_s, p10=_EARLIEST_STOP * told.eta_s.p10)
    return replace(told, eta_s=early, ends_by="early_stop")


def _within_limit(limit_s: float | None, elapsed: float | None, told: Outlook) -> Outlook:
    """The scheduler ends what would go on for longer than it allows."""
    if limit_s is None or elapsed is None or told.eta_s is None:
        return told
    left = max(0.0, limit_s - elapsed)
    if told.eta_s.p50 <= left:
        return told
    return replace(told, eta_s=Spread(min(told.eta_s.p10, left), left, left), ends_by="limit")
