"""One answer from all logs of a job."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from schedmate.model import EarlyWarning, Progress, RunProfile, Spread
from schedmate.tracker.curves import RunCurves, speed_curve
from schedmate.tracker.eta import EtaEstimate, estimate_eta, may_stop_early
from schedmate.tracker.facts import Facts
from schedmate.tracker.forecasting.forecast import forecast
from schedmate.tracker.forecasting.timeline import profile_of
from schedmate.tracker.phases import bare_phase, is_complete, phase_of, working_phase
from schedmate.tracker.position import RunPosition
from schedmate.tracker.run_position import run_position
from schedmate.tracker.scan import LogScan

_CADENCE_CONFIDENCE = 0.2
_NEARLY = 0.99


def progress_of(facts: Facts) -> Progress:
    progress = _counted_progress(facts)
    return replace(progress, warnings=tuple(_warnings(facts, progress)))


def _counted_progress(facts: Facts) -> Progress:
    found = best_position(facts)
    if found is None:
        return _without_count(facts)
    index, position = found
    scan = facts.scans[index]
    phase = phase_of(facts, scan, position)
    ahead = estimate_eta(facts, scan, position, finished=phase == "finished")
    elapsed = facts.run_time_s(position.series)
    of_time = _time_fraction(position, elapsed, ahead)
    return replace(
        _base(facts, scan),
        log=facts.logs[index],
        phase=phase,
        unit=position.unit,
        counted=position.series.thing,
        current=position.current,
        total=position.total,
        fraction=position.fraction if of_time is None else of_time,
        fraction_of="work" if of_time is None else "time",
        epoch=scan.epoch,
        ends_by=ahead.ends_by,
        rate_per_s=ahead.rate_per_s,
        elapsed_s=elapsed,
        eta_s=ahead.eta_s,
        slowdown=ahead.slowdown,
        complete=is_complete(facts, scan, position),
        confidence=position.confidence,
        format=scan.format or "none",
    )


def best_position(facts: Facts) -> tuple[int, RunPosition] | None:
    """The log that counts: with a total before without, then the surest, then the first."""
    found = [
        (index, run_position(scan, facts.total_sources(scan)))
        for index, scan in enumerate(facts.scans)
    ]
    known = [(index, position) for index, position in found if position is not None]
    return max(
        known,
        key=lambda one: (one[1].total is not None, one[1].confidence, one[1].series.moves > 0),
        default=None,
    )


def _base(facts: Facts, best: LogScan | None) -> Progress:
    """What does not depend on a count, from all logs; the best one's word counts most."""
    metrics: dict[str, float] = {}
    links: list[str] = []
    for scan in facts.scans if best is None else (*facts.scans, best):
        metrics |= scan.metrics
        links += [link for link in scan.links if link not in links]
    return Progress(
        log=facts.logs[0] if facts.logs else "",
        elapsed_s=facts.elapsed_s,
        metrics=metrics,
        links=tuple(links),
        checkpoint=next((one.checkpoint for one in facts.scans if one.checkpoint), None),
    )


def _warnings(facts: Facts, progress: Progress) -> Iterator[EarlyWarning]:
    """What may still be prevented; a run that is over needs a diagnosis instead."""
    if progress.phase in ("finished", "failed"):
        return
    if progress.phase == "stalled":
        yield EarlyWarning(reason="hang", text="it has been silent for far longer than usual")
    if progress.ends_by == "limit":
        yield EarlyWarning(
            reason="time_limit",
            text="its limit comes before its end",
            firm=not any(may_stop_early(facts, scan) for scan in facts.scans),
        )
    shown: set[str] = set()
    for scan in facts.scans:
        many = scan.table.whole_runs() is not None
        for warning in scan.warning_signs.warnings(one_of_many=many):
            if warning.reason not in shown:
                shown.add(warning.reason)
                yield warning


def _time_fraction(
    position: RunPosition, elapsed: float | None, estimate: EtaEstimate
) -> float | None:
    """Where the time ends the run, or where the work has no known end."""
    by_time = position.total is None or estimate.ends_by in ("cap", "limit")
    if not by_time or estimate.eta_s is None or not elapsed:
        return None
    return elapsed / (elapsed + estimate.eta_s.p50)


def _without_count(facts: Facts) -> Progress:
    """No line of progress at all: an answer from the log's end, its rhythm and similar runs."""
    stated = any(scan.declared("finished") for scan in facts.scans)
    base = replace(_base(facts, None), phase=bare_phase(facts), complete=stated)
    if base.phase in ("failed", "finished"):
        return base
    return _by_cadence(facts, base)


def _by_cadence(facts: Facts, base: Progress) -> Progress:
    """How much of a similar run's log is written, else how much of its time has passed. Of a job
    that is overdue neither is known."""
    left = _left_by_lines(facts)
    elapsed = facts.elapsed_s
    predicted = None if facts.prediction is None else facts.prediction.duration_s
    if left is None and elapsed is not None and predicted is not None:
        left = predicted.left_after(elapsed)
    if left is None or elapsed is None or not left.p50:
        return base
    return replace(
        base,
        phase=working_phase(facts) if base.phase == "starting" else base.phase,
        fraction=min(_NEARLY, elapsed / (elapsed + left.p50)),
        fraction_of="time",
        eta_s=left,
        confidence=_CADENCE_CONFIDENCE,
        format="cadence",
    )


def _left_by_lines(facts: Facts) -> Spread | None:
    similar = [run for run in facts.similar if run.unit == "line"]
    for scan in facts.scans if similar else ():
        found = forecast(scan.written, total=None, similar=similar, now=facts.now)
        if found is not None and found.remaining_s is not None:
            return found.remaining_s
    return None


def curves_from(facts: Facts) -> RunCurves | None:
    """The loss and the speed so far; None where nothing was counted or no loss was kept."""
    found = best_position(facts)
    losses = [scan.losses for scan in facts.scans if scan.losses is not None]
    if found is None or not losses:
        return None
    _, position = found
    loss = max(losses, key=lambda one: len(one.points))
    speed = speed_curve(position.series) if position.series.clock else []
    return RunCurves(loss=loss, speed=speed, unit=position.unit)


def profile_from(facts: Facts) -> RunProfile | None:
    """How the run went: by its count, or by the lines it wrote where it counted nothing."""
    found = best_position(facts)
    if found is None:
        written = max(
            (scan.written for scan in facts.scans), key=lambda one: one.done, default=None
        )
        return None if written is None else profile_of(written, unit="line")
    index, position = found
    ends_by = facts.scans[index].ended_by or ("total" if position.at_end else "unknown")
    return profile_of(
        position.series.timeline, unit=position.unit, total=position.total, ends_by=ends_by
    )
