"""Whether a run goes on where the one before it had saved, by count and loss. Pure."""

from __future__ import annotations

from statistics import fmean, stdev
from typing import TYPE_CHECKING, Final

from schedmate.model import Resume, RunCourse
from schedmate.tracker.report import best_position

if TYPE_CHECKING:
    from schedmate.model import EarlierRun, Progress, ResumeOutcome
    from schedmate.tracker.facts import Facts

_ANEW: Final = 0.1
"""Who begins within this share of what was saved has begun anew."""
_ENOUGH: Final = 4
"""So far the run before must have come, to tell that."""
_VALUES: Final = 4
"""So many of a loss are compared at least, ..."""
_CLEAR: Final = 2.0
"""... and only where it has changed by this many times its spread."""


def course_of(facts: Facts) -> RunCourse:
    """Nothing where the log was not read from the beginning of the run."""
    found = best_position(facts)
    scan = None if found is None else facts.scans[found[0]]
    if found is None or scan is None or not scan.whole:
        return RunCourse()
    position, series = found[1], found[1].series
    # a count that was put together of others does not show where it began
    alike = abs(position.done - series.counted) <= 1 and position.unit == series.unit
    return RunCourse(
        began=series.begun if alike else None,
        first_losses=tuple(scan.loss_ends.first),
        last_losses=tuple(scan.loss_ends.last),
    )


def resume_of(before: EarlierRun, now: RunCourse, progress: Progress) -> Resume | None:
    """None as long as the log does not show it."""
    began = now.began
    if began is None or progress.unit != before.unit or before.done is None:
        return None
    outcome = _outcome(before, now, began)
    if outcome is None or (outcome == "started_over" and not before.same_job):
        return None
    took = before.took_s if outcome == "resumed" else 0.0
    return Resume(outcome=outcome, began=began, after_s=progress.elapsed_s, before_s=took)


def _outcome(before: EarlierRun, now: RunCourse, began: float) -> ResumeOutcome | None:
    first, reached = before.course.began, before.saved or before.done or 0.0
    if first is not None and reached >= _ENOUGH and began <= max(1.0, first, _ANEW * reached):
        return "started_over" if first < reached else None
    if began <= (first or 0.0) or not _is_behind_checkpoint(before, began):
        return None
    goes_on = _loss_goes_on(before.course, now)
    return None if goes_on is None else "resumed" if goes_on else "started_over"


def _is_behind_checkpoint(before: EarlierRun, began: float) -> bool:
    """A step can be compared with that of the checkpoint; of epochs at most one may be lost."""
    if before.unit == "step":
        return before.saved is not None and began >= before.saved
    return before.unit == "epoch" and before.saves and began >= (before.done or 0.0) - 1


def _loss_goes_on(before: RunCourse, now: RunCourse) -> bool | None:
    """Whether it is nearer to where it was than to where it began; None where that is too early
    to tell. A loss that is not shown, or has hardly moved, says nothing against it."""
    first, last, new = before.first_losses, before.last_losses, now.first_losses
    if min(len(first), len(last)) < _VALUES:
        return True
    noise = max(stdev(first), stdev(last))
    moved = abs(fmean(first) - fmean(last))
    if moved <= _CLEAR * noise:
        return True
    if len(new) < _VALUES:
        return None
    return abs(fmean(new) - fmean(last)) <= abs(fmean(new) - fmean(first))
