"""From what all logs of a job say to one answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from schedmate.model import Phase, Prediction, Progress, Spread, Workload
from schedmate.tracker.eta import Estimate, passed
from schedmate.tracker.rhythm import Rhythm
from schedmate.tracker.scan import LogScan
from schedmate.tracker.standing import Standing, standing

_CADENCE_CONFIDENCE = 0.2
_NEARLY = 0.99


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All there is to answer from. Without `now` the logs are at their end."""

    logs: tuple[str, ...]
    scans: Sequence[LogScan]
    workload: Workload | None = None
    prediction: Prediction | None = None
    now: float | None = None
    started_at: float | None = None
    rhythm: Rhythm | None = None

    @property
    def elapsed_s(self) -> float | None:
        if self.now is None or self.started_at is None:
            return None
        return max(0.0, self.now - self.started_at)


def progress_of(facts: Facts) -> Progress:
    found = _best(facts)
    if found is None:
        return _without_count(facts)
    index, stand = found
    scan = facts.scans[index]
    speed = stand.estimate(facts.elapsed_s)
    elapsed = stand.series.run_time_s if facts.elapsed_s is None else facts.elapsed_s
    return Progress(
        log=facts.logs[index],
        phase=_phase(facts, scan, stand),
        unit=stand.unit,
        current=stand.current,
        total=stand.total,
        fraction=stand.fraction,
        epoch=scan.epoch,
        ends_by="unknown" if stand.total is None else "total",
        rate_per_s=None if speed is None else speed.rate_per_s,
        elapsed_s=elapsed,
        eta_s=_eta(facts, stand, speed),
        metrics=_metrics(facts, scan),
        checkpoint=next((one.checkpoint for one in facts.scans if one.checkpoint), None),
        confidence=stand.confidence,
        format=scan.format or "none",
    )


def _best(facts: Facts) -> tuple[int, Standing] | None:
    """The log that counts: with a total before without, then the surest, then the first."""
    found = [
        (index, standing(scan.table, facts.workload)) for index, scan in enumerate(facts.scans)
    ]
    known = [(index, stand) for index, stand in found if stand is not None]
    return max(
        known,
        key=lambda one: (one[1].total is not None, one[1].confidence, one[1].series.moves > 0),
        default=None,
    )


def _metrics(facts: Facts, best: LogScan) -> dict[str, float]:
    merged: dict[str, float] = {}
    for scan in (*facts.scans, best):
        merged |= scan.metrics
    return merged


def _phase(facts: Facts, scan: LogScan, stand: Standing) -> Phase:
    if any(one.ending.failed for one in facts.scans):
        return "failed"
    aside = scan.table.aside(stand.series)
    said_so = scan.finished_at is not None and stand.series.moved <= scan.finished_at
    if said_so or (stand.complete and (aside is None or aside.complete)):
        return "finished"
    busy: Phase = "training"
    if scan.hint in ("evaluating", "checkpointing"):
        busy = scan.hint
    if _stalled(facts, patient=busy != "training"):
        return "stalled"
    return busy


def _stalled(facts: Facts, *, patient: bool) -> bool:
    if facts.rhythm is None or facts.now is None:
        return False
    return facts.rhythm.is_stalled(facts.now, patient=patient)


def _eta(facts: Facts, stand: Standing, speed: Estimate | None) -> Spread | None:
    """Counted from now; the newest line is at most one unit old, whatever the clock says."""
    if stand.complete:
        return Spread(0.0, 0.0, 0.0)
    if speed is None or stand.total is None:
        return None
    seen_at = stand.seen_at
    if facts.now is None or seen_at is None:
        return speed.remaining_s
    age = min(max(0.0, facts.now - seen_at), 1 / speed.rate_per_s)
    return passed(speed.remaining_s, age)


def _without_count(facts: Facts) -> Progress:
    """No line of progress at all: what the log's end, its rhythm and the prediction tell."""
    phase = _bare_phase(facts)
    base = Progress(
        log=facts.logs[0] if facts.logs else "",
        phase=phase,
        elapsed_s=facts.elapsed_s,
        metrics=_metrics(facts, facts.scans[0]) if facts.scans else {},
        checkpoint=next((one.checkpoint for one in facts.scans if one.checkpoint), None),
    )
    return base if phase == "failed" else _by_cadence(facts, base)


def _bare_phase(facts: Facts) -> Phase:
    if any(scan.ending.failed for scan in facts.scans):
        return "failed"
    asides = [scan.table.aside(None) for scan in facts.scans]
    said = [one.aside for one in asides if one is not None and one.aside is not None]
    hinted = [scan.hint for scan in facts.scans if scan.hint is not None]
    busy = next(iter(said + hinted), "unknown" if facts.now is None else "starting")
    return "stalled" if _stalled(facts, patient=bool(said or hinted)) else busy


def _by_cadence(facts: Facts, base: Progress) -> Progress:
    """The prediction minus the time that has passed, while the log keeps its rhythm."""
    elapsed = facts.elapsed_s
    predicted = None if facts.prediction is None else facts.prediction.duration_s
    if elapsed is None or predicted is None or predicted.p50 <= 0:
        return base
    return replace(
        base,
        phase="training" if base.phase == "starting" else base.phase,
        fraction=min(_NEARLY, elapsed / predicted.p50),
        eta_s=passed(predicted, elapsed),
        confidence=_CADENCE_CONFIDENCE,
        format="cadence",
    )
