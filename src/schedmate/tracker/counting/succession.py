"""Which counts of one log follow each other, and which are of things of one kind."""

from __future__ import annotations

from pathlib import PurePath

from schedmate.tracker.counting.series import Series

_MOVING = 3
_WELL_KNOWN = 5
_LASTING = 2
"""A count that moved half as often as the one before it is no interlude."""


def is_over(one: Series) -> bool:
    """A measured count at its end, as that of a phase is."""
    at_end = one.complete or (one.laps > 0 and one.done == 0)
    return at_end and one.measured >= _MOVING and not (one.aside or one.per_epoch)


def goes_on(before: Series, after: Series) -> bool:
    """Whether a count is of the phase after another: of the same kind, begun when that was over."""
    if before is after or before.seen >= after.born or not is_over(before):
        return False
    same = before.unit == after.unit and before.format == after.format
    return same and after.measured > 0 and not (after.aside or after.per_epoch)


def is_next_phase(after: Series, before: Series) -> bool:
    """Whether a measured count of the same kind began anew when the other was heard of last."""
    same = before.unit == after.unit and before.format == after.format
    if not same or before.seen >= after.born or after.moves < _WELL_KNOWN:
        return False
    anew = (after.first or 0.0) < before.done
    return anew and before.measured > 0 and after.measured > 0 and not (before.aside or after.aside)


def is_instead_of(after: Series, before: Series) -> bool:
    """Whether a count is the run's now: the one before it is at its end, or long left."""
    if not is_next_phase(after, before):
        return False
    return before.reached or _LASTING * after.moves >= before.moves


def is_alike(one: Series, other: Series) -> bool:
    """Whether two counts without metrics are of things of one kind, as bars of files are."""
    if one is other or one.format != other.format or one.unit != other.unit:
        return False
    if one.measured or other.measured or one.total is None or other.total is None:
        return False
    if one.total == other.total or (one.name != "" and one.name == other.name):
        return True
    ending = PurePath(one.name).suffix
    return ending != "" and ending == PurePath(other.name).suffix
