"""Times that run up to a known end: simulated time, or time since the start beside what is left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from schedmate.tracker.unknown import words
from schedmate.tracker.unknown.declared import DeclaredNumbers
from schedmate.tracker.unknown.fields import Column, Table
from schedmate.tracker.unknown.totals import BETWEEN, WORD, separated

_STRAIGHT: Final = 0.95
_ENOUGH: Final = 5
_MOST_LINES: Final = 1e7
"""An end that is more lines away than this is that of something else."""


@dataclass(frozen=True, slots=True)
class TimeShare:
    roles: dict[str, int]
    confidence: float
    total: float | None = None


def time_shares(table: Table, declared: DeclaredNumbers | None) -> Iterator[TimeShare]:
    """Readings of a table by a time that rises evenly; whole numbers are counts, not times."""
    for column in table.columns:
        if not _passes(column):
            continue
        role = {"current": column.index}
        for other in table.columns:
            if _is_end(table, column, other):
                yield TimeShare(role | {"total": other.index}, BETWEEN)
            elif _is_left(column, other):
                yield TimeShare(role | {"remaining": other.index}, WORD)
        found = None if declared is None else declared.total_of(column.names, max(column.values))
        if found is not None and found[0] <= _MOST_LINES * _each(column):
            yield TimeShare(role, found[1], found[0])


def _each(column: Column) -> float:
    """How far one line goes, on average."""
    return max(column.values) / len(column.values)


def _passes(column: Column) -> bool:
    if column.kind == "other" or len(set(column.values)) < _ENOUGH or min(column.values) < 0:
        return False
    timed = column.kind == "clock" or column.measure in words.TIME_UNITS
    named = column.named(words.TIMES) or column.before == "t"
    if not (timed or named) or column.suffix == "%" or column.named(words.ETAS):
        return False
    return column.trend.rising and column.trend.straightness >= _STRAIGHT


def _is_end(table: Table, column: Column, other: Column) -> bool:
    if other.kind != column.kind or not other.trend.constant:
        return False
    if column.kind == "number" and column.whole and column.measure not in words.TIME_UNITS:
        return False
    return other.values[0] >= max(column.values) and separated(table, column, other)


def _is_left(column: Column, other: Column) -> bool:
    """The time that is left, by its name; it may go up for a while."""
    if other.kind != column.kind or other.index == column.index or other.trend.constant:
        return False
    named = column.named(words.TIMES) or column.kind == "clock"
    return named and other.named(words.ETAS) and other.values[-1] < other.values[0]
