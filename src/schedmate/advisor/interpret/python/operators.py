"""Arithmetic, comparisons and logic on values, within bounds."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable
from typing import Any

from schedmate.advisor.interpret.python.known_prefix import before_holes, beginning
from schedmate.advisor.interpret.python.truth import Scaled, derived, opaque, same
from schedmate.advisor.interpret.python.values import (
    UNKNOWN,
    UNKNOWN_DATA,
    Dotted,
    KnownPrefix,
    LocalClass,
    LocalFunction,
    Sequence,
    Table,
    Value,
)

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_ORDER: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_MAX_NUMBER = 10**40
_MAX_SHIFT = 130
_MAX_TEXT = 20_000
_MAX_ITEMS = 2_000
_SET_BY_LAUNCHERS = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR")
"""Where there is a launcher that sets them, they are in the environment that we know."""
_UNSAFE = re.compile(r"\*|%\(|%[-+ #0]{0,5}[\d.]{3}")
"""Names and widths in a `%` format: `%999999999d` would cost memory."""


def unary(op: ast.unaryop, value: Value) -> Value:
    data = value.data
    if isinstance(data, (int, float)):
        if isinstance(op, ast.USub):
            return derived(-data, value)
        if isinstance(op, ast.UAdd):
            return derived(+data, value)
        if isinstance(op, ast.Invert) and isinstance(data, int):
            return derived(~data, value)
    return UNKNOWN


def binary(op: ast.operator, left: Value, right: Value) -> Value:
    one, other = left.data, right.data
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return derived(_number(op, one, other), left, right) if _sane(op, one, other) else UNKNOWN
    if isinstance(left, KnownPrefix) and isinstance(op, (ast.Add, ast.Div)):
        return left
    if isinstance(one, str) or isinstance(other, str):
        return _text(op, left, right)
    if isinstance(one, Sequence):
        return _sequence(op, left, right)
    if isinstance(op, ast.BitOr) and isinstance(one, Dotted) and other is None:
        return left
    if isinstance(one, Table) and isinstance(other, Table) and isinstance(op, ast.BitOr):
        merged = Table(one.parts | other.parts, one.kind, one.complete and other.complete)
        return derived(merged, left, right)
    return _scaled(op, left, right)


def _scaled(op: ast.operator, left: Value, right: Value) -> Value:
    """A new unknown each time, so that it differs from others."""
    if isinstance(op, ast.Mult):
        for factor, unknown in ((left, right), (right, left)):
            if isinstance(factor.data, (int, float)) and opaque(unknown):
                return Scaled(UNKNOWN_DATA, factor=factor, unknown=unknown)
    divides = isinstance(op, (ast.Div, ast.FloorDiv))
    if divides and isinstance(left, Scaled) and left.unknown is right:
        return left.factor
    return Value(UNKNOWN_DATA)


def _sane(op: ast.operator, one: float, other: float) -> bool:
    if isinstance(op, ast.Pow):
        if abs(one) > 1 and abs(other) * math.log10(min(abs(one), 1e300)) > 40:  # noqa: PLR2004 - digits of _MAX_NUMBER
            return False
        return not (one == 0 and other < 0)
    if isinstance(op, (ast.LShift, ast.RShift)):
        return 0 <= other <= _MAX_SHIFT and abs(one) < _MAX_NUMBER
    return abs(one) <= _MAX_NUMBER and abs(other) <= _MAX_NUMBER


def _number(op: ast.operator, one: float, other: float) -> Any:
    try:
        result = _BINARY[type(op)](one, other)
    except (ArithmeticError, ValueError, TypeError, KeyError):
        return UNKNOWN.data
    if isinstance(result, complex) or (isinstance(result, float) and not math.isfinite(result)):
        return UNKNOWN.data
    return result


def _text(op: ast.operator, left: Value, right: Value) -> Value:
    one, other = left.data, right.data
    if isinstance(op, ast.Mod) and isinstance(one, str):
        return _formatted(left, right)
    if isinstance(op, ast.Mult) and isinstance(one, str) and isinstance(other, int):
        return derived(one * max(other, 0), left) if len(one) * other <= _MAX_TEXT else UNKNOWN
    if not (isinstance(one, str) and isinstance(other, str)):
        return beginning((left, right), "/" if isinstance(op, ast.Div) else "")
    if isinstance(op, ast.Add) and len(one) + len(other) <= _MAX_TEXT:
        return derived(one + other, left, right)
    if isinstance(op, ast.Div):
        joined = other if other.startswith("/") else f"{one.rstrip('/')}/{other}"
        return derived(joined[:_MAX_TEXT], left, right)
    return UNKNOWN


def _formatted(left: Value, right: Value) -> Value:
    parts = right.data.items if isinstance(right.data, Sequence) else [right]
    if not all(part.plain for part in parts) or _UNSAFE.search(left.data):
        return before_holes(left, parts)
    try:
        text = left.data % tuple(part.data for part in parts)
    except (TypeError, ValueError, OverflowError, MemoryError):
        return UNKNOWN
    return derived(text, left, *parts) if len(text) <= _MAX_TEXT else UNKNOWN


def _sequence(op: ast.operator, left: Value, right: Value) -> Value:
    one, other = left.data, right.data
    if isinstance(op, (ast.Add, ast.BitOr)) and isinstance(other, Sequence):
        items = (one.items + other.items)[:_MAX_ITEMS]
        complete = one.complete and other.complete and len(items) < _MAX_ITEMS
        return derived(Sequence(items, complete, one.kind), left, right)
    if isinstance(op, ast.Mult) and isinstance(other, int):
        times = max(0, min(other, _MAX_ITEMS // max(1, len(one.items))))
        return derived(
            Sequence(one.items * times, one.complete and times == max(0, other), one.kind),
            left,
            right,
        )
    return UNKNOWN


def compare(op: ast.cmpop, left: Value, right: Value) -> bool | None:
    """None where only running would tell."""
    if isinstance(op, (ast.Eq, ast.Is)):
        return _equal(left, right, identity=isinstance(op, ast.Is))
    if isinstance(op, (ast.NotEq, ast.IsNot)):
        equal = _equal(left, right, identity=isinstance(op, ast.IsNot))
        return None if equal is None else not equal
    if isinstance(op, (ast.In, ast.NotIn)):
        inside = contains(right, left)
        return None if inside is None else inside == isinstance(op, ast.In)
    if not (left.plain and right.plain):
        return None
    try:
        return bool(_ORDER[type(op)](left.data, right.data))
    except TypeError:
        return None


def _equal(left: Value, right: Value, *, identity: bool) -> bool | None:
    one, other = left.data, right.data
    if left.plain and right.plain:
        return one is other if identity and (one is None or other is None) else bool(one == other)
    if same(left, right):
        return True
    if one is None or other is None:
        return _is_none(right if one is None else left)
    for member, plain in ((one, right), (other, left)):
        if isinstance(member, Table) and member.kind == "enum" and plain.plain:
            return _equal(member.parts["value"], plain, identity=False)
    if isinstance(one, Dotted) and isinstance(other, Dotted):
        return one.name == other.name
    if isinstance(one, Table) and isinstance(other, Table) and one.kind == other.kind == "enum":
        return one.parts["name"].data == other.parts["name"].data and one.of is other.of
    if (
        isinstance(one, Sequence)
        and isinstance(other, Sequence)
        and one.complete
        and other.complete
    ):
        if len(one.items) != len(other.items):
            return False
        return (
            False
            if any(
                a.plain and b.plain and a.data != b.data
                for a, b in zip(one.items, other.items, strict=True)
            )
            else None
        )
    return None


def _is_none(value: Value) -> bool | None:
    data = value.data
    if value.plain:
        return data is None
    if isinstance(data, (Sequence, Table, LocalClass, LocalFunction, Dotted)):
        return False
    if isinstance(value, KnownPrefix):
        return False
    name = getattr(data, "kind", "").rpartition(".")[2]
    return False if name[:1].isupper() else None


def contains(container: Value, item: Value) -> bool | None:
    data = container.data
    if isinstance(data, str) and isinstance(item.data, str):
        return item.data in data
    if isinstance(data, Table) and item.plain:
        sure = data.complete or (data.kind == "environ" and item.data in _SET_BY_LAUNCHERS)
        return True if str(item.data) in data.parts else (False if sure else None)
    if not isinstance(data, Sequence):
        return None
    found = [_equal(item, each, identity=False) for each in data.items[:_MAX_ITEMS]]
    if True in found:
        return True
    return None if None in found or not data.complete else False
