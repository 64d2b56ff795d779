"""Values that code states outright: constants, arithmetic on them, names of other constants."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}
_MAX_DEPTH = 30
_MAX_NUMBER = 1e30
_MAX_EXPONENT = 100


class NotStated(Exception):
    """The code computes the value, so reading does not tell it."""


def stated_value(node: ast.expr, names: Mapping[str, ast.expr] | None = None) -> Any:
    """Return a str, number, bool, None or tuple of them, or raise `NotStated`."""
    return _value(node, names or {}, 0)


def _value(node: ast.expr, names: Mapping[str, ast.expr], depth: int) -> Any:
    if depth > _MAX_DEPTH:
        raise NotStated
    match node:
        case ast.Constant(value=str() | int() | float() | None as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(operand, names, depth)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _computed(op, _number(left, names, depth), _number(right, names, depth))
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return tuple(_value(part, names, depth + 1) for part in parts)
        case ast.Name(id=name) if name in names:
            return _value(names[name], names, depth + 1)
    raise NotStated


def _number(node: ast.expr, names: Mapping[str, ast.expr], depth: int) -> int | float:
    value = _value(node, names, depth + 1)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise NotStated
    return value


def _computed(op: ast.operator, left: float, right: float) -> int | float:
    too_large = abs(left) > _MAX_NUMBER or abs(right) > _MAX_NUMBER
    if too_large or (isinstance(op, ast.Pow) and abs(right) > _MAX_EXPONENT):
        raise NotStated
    try:
        value = _OPERATORS[type(op)](left, right)
    except (ArithmeticError, ValueError) as error:
        raise NotStated from error
    if isinstance(value, complex) or not math.isfinite(value):
        raise NotStated
    result: int | float = value
    return result
