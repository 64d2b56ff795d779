"""The numbers beside the count: epochs, elapsed time and metrics."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from schedmate.tracker.formats.base import metric_name
from schedmate.tracker.unknown import words
from schedmate.tracker.unknown.fields import Column, Table

_MOST_METRICS: Final = 4
_NAME = re.compile(r"[a-z][a-z0-9_]{0,30}")
_READABLE: Final = frozenset({"ms", "s", "sec", "m", "min", "h"})
_MOST_EPOCHS: Final = 100_000


def epoch_columns(table: Table, roles: Mapping[str, int]) -> dict[str, int]:
    """A small number that stays while another goes round, and then moves by one."""
    count = roles.get("current")
    if count is None:
        return {}
    for column in table.numbers:
        if column.index in roles.values() or not column.whole or max(column.values) > _MOST_EPOCHS:
            continue
        if _is_epoch(column, table.columns[count]):
            return {"epoch": column.index} | _epochs(table, column, roles)
    return {}


def _is_epoch(column: Column, count: Column) -> bool:
    if column.trend.constant:
        return column.named(words.EPOCHS) or column.suffix.lower() in words.EPOCHS
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
        if column.named(words.TIMES) or table.keeps_pace(column):
            return {"elapsed": column.index}
    return {}


def metric_columns(table: Table, roles: Mapping[str, int]) -> dict[str, int]:
    """Numbers with a point that have a name, and the one that sinks without any: the loss."""
    found: dict[str, int] = {}
    for column in table.numbers:
        if column.index in roles.values() or column.whole or len(found) >= _MOST_METRICS:
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
