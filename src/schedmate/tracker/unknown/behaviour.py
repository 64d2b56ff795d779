"""What the numbers of a template mean, judged by how they behave."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.model import Unit
from schedmate.tracker.formats.base import MAX_COUNT, metric_name
from schedmate.tracker.unknown import words
from schedmate.tracker.unknown.declared import LETTERS, DeclaredNumbers
from schedmate.tracker.unknown.fields import Column, Table
from schedmate.tracker.unknown.time_shares import TimeShare, time_shares
from schedmate.tracker.unknown.totals import Total, find_total, is_separated, regular

CERTAIN: Final = 0.5
"""Above it, the answer may be acted on."""
_FILE_ENDING = lazy_pattern(r"\.[A-Za-z]")
_TO_GO = lazy_pattern(r"\s{0,2}(?:\w{1,20}\s){0,3}(?:to go|to do|left|remaining|remain|more)\b")
_UNIX_TIME: Final = ((9e8, 4e9), (9e11, 4e12))
_ENOUGH: Final = 5
_STRAIGHT: Final = 0.97
_STEPPED: Final = 0.6


@dataclass(frozen=True, slots=True)
class Meaning:
    """Roles are columns by name: `current`, `total`, `epoch`, `elapsed`, `m_loss`."""

    roles: dict[str, int]
    unit: Unit
    confidence: float
    total: float | None = None
    """Where no column prints it."""
    rank: float = 0.0
    candidates: tuple[int, ...] = field(default=())
    """The columns that could be the count."""
    rounds: float | None = None
    """How often a count of one epoch, generation or the like goes round, where that is stated."""

    @property
    def has_total(self) -> bool:
        """In every line, or learnt."""
        return self.total is not None or not self.roles.keys().isdisjoint({"total", "remaining"})


def meaning_of(table: Table, declared: DeclaredNumbers | None = None) -> Meaning | None:
    """The most convincing reading of the table, or None where nothing counts."""
    counts = [column for column in table.numbers if may_count(table, column)]
    readings = [_count_reading(table, column, declared) for column in counts]
    readings += [one for column in table.numbers if (one := _share_reading(column))]
    readings += [one for column in table.numbers if (one := _left_reading(table, column, declared))]
    readings += [_time_reading(one) for one in time_shares(table, declared)]
    best = max(readings, key=lambda one: one.rank, default=None)
    if best is not None and not best.has_total:
        ended = [one for one in readings if one.has_total and one.confidence > CERTAIN]
        best = max(ended, key=lambda one: one.rank, default=best)
    if best is not None:
        best = _what_ends_first(table, best, readings)
    if best is None or (len(table.texts) < _ENOUGH and not _plain(best)):
        return None
    return _completed(table, best, tuple(column.index for column in counts), declared)


def _what_ends_first(table: Table, best: Meaning, readings: list[Meaning]) -> Meaning:
    """`Max Iteration: 1000000`, but also `Total Time: 10`: the nearer of the two ends the run."""
    if best.total is None or best.unit == "percent":
        return best
    stated = [one for one in readings if one.total and one.confidence >= best.confidence]
    return max([best, *stated], key=lambda one: _share_done(table, one))


def _share_done(table: Table, reading: Meaning) -> float:
    count = reading.roles.get("current")
    done = table.columns[count].values[-1] if count is not None else 0.0
    share = done / reading.total if reading.total else 0.0
    return round(share, 1)  # two ends that agree leave the first


def may_count(table: Table, column: Column) -> bool:
    trend = column.trend
    if not (trend.rising or trend.rounds or trend.jittering) or max(column.values) >= MAX_COUNT:
        return False
    if min(column.values) < 0 or len(set(column.values)) < 3:  # noqa: PLR2004 - two values are no behaviour
        return False
    if column.named(words.NO_COUNT | words.TIMES | words.ETAS) and not _says_step(column):
        things = column.named(words.NAMED_THINGS) and trend.rising
        if not (things and trend.exactness >= _STEPPED and is_separated(table, column)):
            return False
    if table.keeps_pace(column) and trend.exactness < _STEPPED:
        return False
    return not (_is_quantity(column) or _is_unix_time(column) or column.suffix == "%")


def _says_step(column: Column) -> bool:
    """The word right at the number counts: `time step 5` is a step, `step time 5` is a time."""
    last = words.pieces(column.before)[-1:]
    return bool(last) and last[0] in words.STEPS | words.EPOCHS | words.SAMPLES | words.TOKENS


def _is_quantity(column: Column) -> bool:
    """Seconds, bytes and rates are no counts."""
    measure = column.measure
    attached = column.suffix.lower()
    if column.suffix == "B" and words.unit_of(column.before, column.after) == "token":
        return False
    if "/" in measure or not words.MEASURES.isdisjoint((measure, attached)):
        return True
    return attached in words.TIME_UNITS or (measure in words.TIME_UNITS and measure != "h")


def _is_unix_time(column: Column) -> bool:
    low = min(column.values)
    return any(start < low < end for start, end in _UNIX_TIME)


def _count_reading(table: Table, count: Column, declared: DeclaredNumbers | None = None) -> Meaning:
    total = find_total(table, count, declared)
    roles = {"current": count.index}
    if total is not None and total.column is not None:
        roles["total"] = total.column
    if total is not None and total.left is not None:
        roles["remaining"] = total.left
    return Meaning(
        roles=roles,
        unit=_unit(table, count, total),
        confidence=_confidence(table, count, total),
        total=total.value if total is not None and total.column is total.left is None else None,
        rank=_rank(table, count, total),
    )


def _unit(table: Table, count: Column, total: Total | None) -> Unit:
    near = [count.before, count.suffix, count.after]
    if total is not None and total.column is not None:
        near.append(table.columns[total.column].after)
    return words.unit_of(*near)


def _named_count(column: Column) -> bool:
    vocabulary = words.STEPS | words.EPOCHS | words.SAMPLES | words.TOKENS
    return column.named(vocabulary) or words.names(column.measure, vocabulary)


def _confidence(table: Table, count: Column, total: Total | None) -> float:
    if total is not None and total.confidence > CERTAIN:
        doubtful = is_auxiliary(table) or _counts_data(table, count)
        return min(CERTAIN, total.confidence) if doubtful else total.confidence
    learning = any(
        column.trend.sinking and not column.whole and column.index != count.index
        for column in table.numbers
    )
    named = _named_count(count) and not _FILE_ENDING.match(table.gaps[count.index + 1][-1])
    signs = named + learning + (count.trend.exactness >= _STEPPED)
    alone = (0.2, 0.4, 0.55, 0.65)[signs]
    if not count.whole:
        alone = min(alone, 0.45)
    if is_auxiliary(table):
        alone = min(alone, 0.35)
    return alone if total is None else min(alone, total.confidence)


def _counts_data(table: Table, count: Column) -> bool:
    """`step 900 ... shard 3/1204`: a run need not read all of its data, and may read it twice."""
    return count.named(words.DATA) and any(
        other.index != count.index and other.trend.rising and _named_count(other)
        for other in table.numbers
        if not other.named(words.DATA)
    )


def is_auxiliary(table: Table) -> bool:
    return words.names(table.first_words.lower(), words.AUXILIARY)


def _rank(table: Table, count: Column, total: Total | None) -> float:
    rank = 4 * total.confidence if total is not None and total.confidence > LETTERS else 0.0
    rank += 1.5 * count.trend.exactness + (1.5 if _named_count(count) else 0.0)
    rank += 0.5 * regular(count) + (0.0 if count.whole else -1.5)
    rank -= 0.5 * (words.unit_of(count.before, count.after) in ("sample", "token"))
    if count.trend.rounds:
        rank -= 0.6
    if count.named(words.OVERALL):
        rank += 1.0
    doubtful = is_auxiliary(table) or _counts_data(table, count)
    return rank - 0.05 * count.index - (2.0 if doubtful else 0.0)


def _share_reading(column: Column) -> Meaning | None:
    """`12.0%` that rises evenly, or `progress 0.12` on its way to 1."""
    trend = column.trend
    if not trend.rising or len(set(column.values)) < 3 or column.named(words.NO_COUNT):  # noqa: PLR2004 - see above
        return None
    if trend.straightness < _STRAIGHT and trend.exactness < _STEPPED:
        return None
    named = column.named(words.DONE_SHARE) or words.names(column.after, words.DONE_SHARE)
    if column.suffix == "%" and max(column.values) <= 100:  # noqa: PLR2004 - percent
        opened = column.gap.rstrip().endswith(("(", "[", "|"))
        another = column.before and not (opened or named or _named_count(column))
        return _share(column, 100.0, 0.8 if named else 0.4 if another else 0.65)
    if (
        not column.whole
        and not column.suffix
        and min(column.values) >= 0
        and max(column.values) <= 1
    ):
        return _share(column, 1.0, 0.7 if named else 0.35)
    return None


def _share(column: Column, total: float, confidence: float) -> Meaning:
    return Meaning(
        roles={"current": column.index},
        unit="percent",
        confidence=confidence,
        total=total,
        rank=3.2 * confidence + 0.5,
    )


def _time_reading(share: TimeShare) -> Meaning:
    """A time never beats a count that has a total of the same standing."""
    return Meaning(
        roles=share.roles,
        unit="percent",
        confidence=share.confidence,
        total=share.total,
        rank=3.2 * share.confidence + 0.5,
    )


def _left_reading(table: Table, column: Column, declared: DeclaredNumbers | None) -> Meaning | None:
    """A whole number that goes down evenly to zero is what is left to do."""
    trend = column.trend
    if not (column.whole and trend.counting_down) or min(column.values) < 0:
        return None
    if _is_quantity(column) or column.named(words.TIMES | frozenset({"eta"})):
        return None
    if trend.mirrored.exactness < _STEPPED or len(set(column.values)) < 3:  # noqa: PLR2004 - see above
        return None
    behind = table.gaps[column.index + 1][-1]
    named = column.named(words.LEFT) or words.names(column.after, words.LEFT)
    named = named or _TO_GO.match(behind) is not None
    stated = None if declared is None else declared.total_of(column.names, column.values[0])
    confidence = 0.75 if named and stated else 0.6 if named else 0.42
    return Meaning(
        roles={"remaining": column.index},
        unit=words.unit_of(column.before, column.after),
        confidence=confidence,
        total=stated[0] if named and stated else _first_of(column),
        rank=(3.2 if named else 2.5) * confidence + 0.5,
    )


def _first_of(column: Column) -> float:
    """The count before the first line: the rounder of what it shows and one step more."""
    shown = column.values[0]
    before = shown + column.trend.mirrored.rate
    return before if _roundness(before) > _roundness(shown) else shown


def _roundness(value: float) -> int:
    text = str(int(value))
    return len(text) - len(text.rstrip("0"))


def _plain(reading: Meaning) -> bool:
    """Three lines are enough for `3/90` that goes on evenly."""
    return reading.has_total and reading.confidence > CERTAIN and reading.unit != "percent"


def _completed(
    table: Table,
    reading: Meaning,
    candidates: tuple[int, ...],
    declared: DeclaredNumbers | None,
) -> Meaning:
    roles = dict(reading.roles)
    roles |= epoch_columns(table, roles)
    roles |= elapsed_column(table, roles)
    roles |= metric_columns(table, roles)
    count = roles.get("current")
    inner = count is not None and table.columns[count].trend.rounds > 1 and "epoch" not in roles
    confidence = min(CERTAIN, reading.confidence) if inner else reading.confidence
    epoch = None if declared is None or "epochs" in roles else roles.get("epoch")
    stated = None
    if declared is not None and epoch is not None:
        column = table.columns[epoch]
        stated = declared.total_of(column.names, max(column.values))
    return Meaning(
        roles=roles,
        unit=reading.unit,
        confidence=confidence,
        total=reading.total,
        rank=reading.rank,
        candidates=candidates,
        rounds=None if stated is None else stated[0],
    )


_MAX_METRICS: Final = 4
_SCALES: Final = ("k", "K", "M", "B")
_NAME = lazy_pattern(r"[a-z][a-z0-9_]{0,30}")
_READABLE: Final = frozenset({"ms", "s", "sec", "m", "min", "h"})
_MAX_EPOCHS: Final = 100_000


def epoch_columns(table: Table, roles: Mapping[str, int]) -> dict[str, int]:
    """A small number that stays while another goes round, and then moves by one."""
    count = roles.get("current")
    if count is None:
        return {}
    for column in table.numbers:
        if column.index in roles.values() or not column.whole or max(column.values) > _MAX_EPOCHS:
            continue
        if _is_epoch(column, table.columns[count]):
            return {"epoch": column.index} | _epochs(table, column, roles)
    return {}


def _is_epoch(column: Column, count: Column) -> bool:
    if column.trend.constant:  # `epochs=2` is a number of them
        one_of_them = column.named(words.EPOCHS) and not column.before.endswith("s")
        return one_of_them or column.suffix.lower() in words.EPOCHS
    moves = [move for move in column.trend.moves if move]
    if not all(move > 0 for move in moves) or column.trend.rate >= 1:
        return False
    if column.named(words.EPOCHS):
        return True
    return any(count.trend.returns) and _moves_at_returns(column, count)


def _moves_at_returns(column: Column, count: Column) -> bool:
    pairs = zip(column.trend.moves, count.trend.returns, strict=True)
    return all(returned == (move > 0) for move, returned in pairs)


def _epochs(table: Table, epoch: Column, roles: Mapping[str, int]) -> dict[str, int]:
    index = epoch.index + 1
    if index >= len(table.columns) or index in roles.values():
        return {}
    other = table.columns[index]
    joined = re.fullmatch(r"\s{0,4}(?:/|of|von|sur|de)\s{0,4}", table.gap_before(index))
    fits = other.kind == "number" and other.whole and other.values[0] >= max(epoch.values)
    return {"epochs": index} if joined and fits and other.trend.constant else {}


def elapsed_column(table: Table, roles: Mapping[str, int]) -> dict[str, int]:
    """Seconds since the start, by their word or by the clock."""
    for column in table.columns:
        if column.kind == "other" or column.index in roles.values():
            continue
        if not column.trend.rising or column.named(words.ETAS) or "/" in column.measure:
            continue
        if column.measure in words.TIME_UNITS - _READABLE:
            continue
        if column.named(words.TIMES) or table.keeps_pace(column) or _rises_with_time(column):
            return {"elapsed": column.index}
    return {}


def _rises_with_time(column: Column) -> bool:
    """`t:38678ms` and `6.0m`: a duration that rises evenly is the time since the start."""
    timed = column.suffix.lower() in _READABLE and len(set(column.values)) >= _ENOUGH
    return timed and column.trend.straightness >= _STRAIGHT


def metric_columns(table: Table, roles: Mapping[str, int]) -> dict[str, int]:
    """Numbers with a point that have a name, and the one that sinks without any: the loss."""
    found: dict[str, int] = {}
    for column in table.numbers:
        if column.index in roles.values() or column.whole or len(found) >= _MAX_METRICS:
            continue
        if column.suffix in _SCALES:
            continue
        name = _NAME.fullmatch(metric_name(column.before.replace("-", "_").replace("/", "_")))
        if name and not column.named(words.TIMES | words.ETAS | words.SIZE_UNITS):
            found.setdefault(f"m_{name[0]}", column.index)
    unnamed = [
        column.index
        for column in table.numbers
        if not column.before and not column.whole and column.trend.sinking and not column.suffix
    ]
    free = [index for index in unnamed if index not in roles.values()]
    if len(free) == 1 and "m_loss" not in found:
        found["m_loss"] = free[0]
    return found
