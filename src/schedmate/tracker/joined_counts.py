"""Counts that follow each other, in epochs or in phases, as one count of the run."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

from schedmate.tracker.counting.series import Series
from schedmate.tracker.counting.table import LEARNED
from schedmate.tracker.position import AMBIGUOUS, NO_TOTAL, RunPosition
from schedmate.tracker.scan import LogScan
from schedmate.tracker.total_sources import ANNOUNCED, TotalSources

_PHASES = ("phase", "stage")
_ALL_KNOWN = 0.7
_UNKNOWN_LENGTHS = 0.4


def over_epochs(main: Series, sources: TotalSources) -> RunPosition | None:
    """A step that starts anew with each epoch, where a total of the run is known."""
    if main.total is not None or main.unit != "step" or main.epoch is None:
        return None
    stated, epochs = sources.of_run("step"), sources.epochs()
    if not main.epoch.is_integer() or (stated is None and epochs is None):
        return None
    laps = main.epochs_before
    each = sources.announced.get("step/epoch")
    if not each and stated and epochs and epochs.value > 1:
        each = stated.value / epochs.value
    certain = bool(each) and laps > 0 and main.current <= (each or 0.0)
    restarts = main.fell_over_epochs > 0 and main.rose_over_epochs == 0
    each = each or main.peak
    if not each or not (restarts or certain):
        return None
    done = laps * each + main.done
    total = None if epochs is None else epochs.value * each
    if stated is not None and stated.value >= max(done, 2 * each):
        total = stated.value
    total = total if total is not None and total >= done else None
    return RunPosition(
        unit=main.unit,
        current=done,
        done=done,
        total=total,
        confidence=NO_TOTAL if total is None else ANNOUNCED if certain else _ALL_KNOWN,
        series=main,
        before=laps * each,
    )


def over_parts(scan: LogScan) -> RunPosition | None:
    """Phases of a known number: those to come are taken to be as long as those that are known."""
    part = scan.table.part()
    if part is None or part.total is None or part.name not in _PHASES:
        return None
    count = scan.table.newest_of_run()
    if count is None or count.total is None or (count.laps and count.format == LEARNED):
        return None  # a learnt total of one round is none of the others
    lengths = scan.table.lengths_before(count) + [count.total] * count.laps
    waiting = count.seen < part.moved
    if waiting and count.complete:  # nothing was counted yet in the part that has begun
        lengths = [*lengths, count.total]
    if len(lengths) != round(part.done):
        return None
    to_come = part.total - len(lengths)
    known = lengths if waiting else [*lengths, count.total]
    before = sum(lengths)
    total = before + (0.0 if waiting else count.total)
    total += (to_come if waiting else to_come - 1) * fmean(known)
    done = before + (0.0 if waiting else count.done)
    if to_come > 1:  # the sum is a guess: it gives a share, and is not shown as a total
        return RunPosition(
            unit=part.unit,
            current=part.current,
            done=part.total * done / total,
            total=part.total,
            confidence=min(_UNKNOWN_LENGTHS, count.confidence),
            series=part,
            inner=count,
        )
    return RunPosition(
        unit=count.unit,
        current=done,
        done=done,
        total=total,
        confidence=min(_ALL_KNOWN, count.confidence),
        series=count,
        before=before,
    )


def after_others(scan: LogScan, position: RunPosition) -> RunPosition:
    """With the phases of an unknown number that were over before; more may follow."""
    before = sum(scan.table.lengths_before(position.series))
    if not before or position.total is None or position.before or position.series.per_lap:
        return position
    return replace(
        position,
        current=before + position.current,
        done=before + position.done,
        total=before + position.total,
        before=before,
        confidence=min(AMBIGUOUS, position.confidence),
    )
