"""When the run ends and by what: its total, a cap in the code, the scheduler's limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from schedmate.model import EndsBy, Mark, RunProfile, Slowdown, Spread
from schedmate.tracker.facts import Facts
from schedmate.tracker.forecasting.forecast import SLACK, Forecast, capped, passed
from schedmate.tracker.position import RunPosition
from schedmate.tracker.scan import LogScan

_ENOUGH_POINTS = 8
_LESS, _MORE = 0.8, 1.5
_START_UP_S, _START_UP_SHARE = 20.0, 0.4
"""The average since the start includes the start-up, which does not come again."""
_AFTER_S = 15.0
"""A last evaluation, a model that is saved, the end of the process; similar runs show their own."""
_LESS_BY_AVERAGE, _MORE_BY_AVERAGE = 0.65, 1.8
_LAST_STEP = 4.0
"""Where steps may grow, the last one takes so many times as long as the first.

Chosen on one half of the public logs of remaining_time.py."""
_STEADY = 0.8
_EARLIEST_STOP = 0.2
"""A run that may stop early is rarely stopped before this share of what is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EtaEstimate:
    rate_per_s: float | None = None
    eta_s: Spread | None = None
    ends_by: EndsBy = "unknown"
    slowdown: Slowdown | None = None


def estimate_eta(
    facts: Facts, scan: LogScan, position: RunPosition, *, finished: bool
) -> EtaEstimate:
    estimate = _by_count(facts, scan, position)
    if finished:
        stated = None if scan.ended_by == "unknown" else scan.ended_by
        over = stated or ("total" if position.at_end else "unknown")
        return replace(estimate, eta_s=Spread(0.0, 0.0, 0.0), ends_by=over)
    estimate = replace(estimate, eta_s=_with_gaps(facts, position, estimate))
    estimate = replace(estimate, eta_s=_at_most(facts, position, estimate))
    aged = replace(estimate, eta_s=_aged(facts, position, estimate))
    elapsed = facts.run_time_s(position.series)
    ahead = _stopped_early(facts, scan, aged)
    return _within_limit(facts.limit_s, elapsed, ahead, stable=_is_stable(position))


def _by_count(facts: Facts, scan: LogScan, position: RunPosition) -> EtaEstimate:
    found, slower = _forecast(facts, scan, position)
    if found is not None and found.remaining_s is not None:
        return EtaEstimate(
            rate_per_s=found.rate_per_s,
            eta_s=found.remaining_s,
            ends_by=found.ends_by,
            slowdown=slower,
        )
    rate = None if found is None else found.rate_per_s
    estimate = _by_what_is_printed(position, rate or _printed_rate(position))
    if estimate.eta_s is None and estimate.rate_per_s is None:
        estimate = _by_average_rate(facts, scan, position)
    return replace(estimate, slowdown=slower)


def _forecast(
    facts: Facts, scan: LogScan, position: RunPosition
) -> tuple[Forecast | None, Slowdown | None]:
    """From the count itself, or from the finer one inside it while the count has hardly moved."""
    series, inner = position.series, position.inner
    if inner is not None and inner.total and len(series.timeline.points) < _ENOUGH_POINTS:
        left = None if position.total is None else (position.total - position.done) * inner.total
        total = None if left is None else inner.counted + left
        finer, slower = facts.forecasts.forecast(
            inner.timeline, total=total, cap_s=facts.cap_s, grows=facts.grows(scan)
        )
        if finer is not None and finer.rate_per_s:
            return replace(finer, rate_per_s=finer.rate_per_s / inner.total), slower
    similar = _comparable(facts.similar, position)
    newest = scan.stamps.last.get(series.stamps or "") if facts.now is None else None
    return facts.forecasts.forecast(
        series.timeline,
        total=None if position.total is None else position.total - position.before,
        similar=similar,
        cap_s=facts.cap_s,
        now=newest,
        grows=facts.grows(scan),
        schedule=facts.schedule(scan) if position.unit == "step" else None,
    )


def _comparable(similar: Sequence[RunProfile], position: RunPosition) -> list[RunProfile]:
    """Runs that counted the same; where there is no total, other runs show how long they took."""
    alike = [run for run in similar if run.unit == position.unit]
    if alike or position.total is not None:
        return alike
    return [
        replace(run, unit=position.unit, curve=(Mark(0.0, 0.0), Mark(run.duration_s, 0.0)))
        for run in similar
    ]


def _printed_rate(position: RunPosition) -> float | None:
    series, inner = position.series, position.inner
    if series.rate_per_s is not None or inner is None or not (inner.rate_per_s and inner.total):
        return series.rate_per_s
    return inner.rate_per_s / inner.total


def _by_average_rate(facts: Facts, scan: LogScan, position: RunPosition) -> EtaEstimate:
    """Where neither the clock nor the log timed the lines, the time since the start has to do.

    Other lines may have stamps; the first of them comes after most of the start-up.
    """
    written, gained = facts.written_s or 0.0, position.series.gained
    if not position.series.per_lap:
        gained += max(0.0, position.done - position.series.done)
    start_up = min(_START_UP_S, _START_UP_SHARE * written)
    stamped = scan.stamps.span_s - position.series.stamped_before_s
    working = facts.elapsed_s or stamped or written - start_up
    if working <= 0 or gained <= 0:
        return _by_what_is_printed(position, None)
    rate, total = gained / working, position.total
    if total is None or total <= position.done:
        return _by_what_is_printed(position, rate, _LESS_BY_AVERAGE, _MORE_BY_AVERAGE)
    schedule = facts.schedule(scan) if position.unit == "step" else None
    if schedule is not None:
        first = max(0.0, position.done - gained)
        dearer, doubt = schedule.rest_cost(first, position.done, total)
        less, more = _LESS_BY_AVERAGE / doubt, _MORE_BY_AVERAGE * doubt
        estimate = _by_what_is_printed(position, rate / dearer, less, more)
        return replace(estimate, rate_per_s=rate)
    share = gained / (gained + total - position.done)
    more = _growth_after(share) if facts.grows(scan) else _MORE_BY_AVERAGE
    return _by_what_is_printed(position, rate, _LESS_BY_AVERAGE, more)


def _growth_after(share: float) -> float:
    """What a step of the rest costs, in those of the share done, where steps grow evenly."""
    slope = (_LAST_STEP - 1) / 2
    return (1 + slope * (1 + share)) / (1 + slope * share)


def _by_what_is_printed(
    position: RunPosition, rate: float | None, less: float = _LESS, more: float = _MORE
) -> EtaEstimate:
    """A single rate or a printed end: the spread is a guess, and wide."""
    seconds = position.series.eta_s
    if rate and position.total is not None:
        seconds = max(0.0, position.total - position.done) / rate
    ends_by: EndsBy = "unknown" if position.total is None else "total"
    wide = None if seconds is None else Spread(less * seconds, seconds, more * seconds)
    return EtaEstimate(rate_per_s=rate, eta_s=wide, ends_by=ends_by)


def _with_gaps(facts: Facts, position: RunPosition, estimate: EtaEstimate) -> Spread | None:
    """A bar that is drawn anew each epoch does not time what comes between; its file does."""
    eta, written = estimate.eta_s, facts.written_s
    series = (position.series, position.inner)
    printed = [one.run_time_s for one in series if one is not None and one.earlier_laps_s]
    timed = next((seconds for seconds in printed if seconds), None)
    if eta is None or written is None or timed is None or estimate.ends_by != "total":
        return eta
    longer = (written - min(_START_UP_S, _START_UP_SHARE * written)) / timed
    if longer <= 1:
        return eta
    likely = 1 + (longer - 1) * timed / (timed + _START_UP_S / 2)
    return Spread(eta.p10, likely * eta.p50, max(likely, written / timed) * eta.p90)


def _at_most(facts: Facts, position: RunPosition, estimate: EtaEstimate) -> Spread | None:
    """What may come after the last count; all epochs, where it may be of the first of several."""
    eta, rate, most = estimate.eta_s, estimate.rate_per_s, position.most
    if eta is None or facts.similar or estimate.ends_by != "total":
        return eta
    latest = eta.p90 if not rate or most is None else max(eta.p90, (most - position.done) / rate)
    return replace(eta, p90=latest + _AFTER_S)


def _aged(facts: Facts, position: RunPosition, estimate: EtaEstimate) -> Spread | None:
    """Counted from now; but the next line will be due, however long the newest is ago, and what has
    been late for so long may be late for as long again."""
    if estimate.eta_s is None or facts.now is None or position.seen_at is None:
        return estimate.eta_s
    age = max(0.0, facts.now - position.seen_at)
    if age >= estimate.eta_s.p90 + _AFTER_S:
        return None  # by its own pace it would be over
    if not estimate.rate_per_s:
        return passed(estimate.eta_s, age)
    due = min(age, max(1.0, position.series.increment) / estimate.rate_per_s)
    left = passed(estimate.eta_s, due)
    return replace(left, p90=left.p90 + age - due)


def may_stop_early(facts: Facts, scan: LogScan) -> bool:
    """Whether the code, or else the log, states that the run may stop before its last step."""
    in_code = None if facts.workload is None else facts.workload.early_stopping
    return scan.may_stop_early if in_code is None else in_code.value


def _stopped_early(facts: Facts, scan: LogScan, estimate: EtaEstimate) -> EtaEstimate:
    if not may_stop_early(facts, scan) or estimate.eta_s is None or estimate.ends_by != "total":
        return estimate
    early = replace(estimate.eta_s, p10=_EARLIEST_STOP * estimate.eta_s.p10)
    return replace(estimate, eta_s=early, ends_by="early_stop")


def _is_stable(position: RunPosition) -> bool:
    """Several observations, the newer half of which does not go faster than all of them."""
    counts = (position.series, position.inner)
    points = max((one.timeline.points for one in counts if one is not None), key=len)
    if len(points) < _ENOUGH_POINTS:
        return False
    first, middle, last = points[0], points[len(points) // 2], points[-1]
    whole = (last.at - first.at) / (last.done - first.done)
    return (last.at - middle.at) / (last.done - middle.done) >= _STEADY * whole


def _within_limit(
    limit_s: float | None, elapsed: float | None, estimate: EtaEstimate, *, stable: bool
) -> EtaEstimate:
    """The scheduler ends what would go on for longer than it allows. That it comes to this is
    stated only where a stable estimate ends beyond the limit even at its soonest."""
    if limit_s is None or elapsed is None or estimate.eta_s is None:
        return estimate
    left = max(0.0, limit_s - elapsed)
    if estimate.eta_s.p50 <= left:
        return estimate
    if left and not (stable and estimate.eta_s.p10 > left):
        return replace(estimate, eta_s=capped(estimate.eta_s, left))
    soonest = min(estimate.eta_s.p10, (1 - SLACK) * left)
    return replace(estimate, eta_s=Spread(soonest, left, (1 + SLACK) * left), ends_by="limit")
