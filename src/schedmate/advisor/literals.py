"""Values that code states outright: constants, arithmetic on them, names of other constants."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
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
    """Return a str, number, bool, None, a tuple or dict of them or a timedelta.

    Raise `NotStated` where it is anything else.
    """
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
        case ast.Name(id=name) if name in names:
            return _value(names[name], names, depth + 1)
    return _composed(node, lambda part: _value(part, names, depth + 1))


def _composed(node: ast.expr, value_of: Callable[[ast.expr], Any]) -> Any:
    match node:
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return tuple(value_of(part) for part in parts)
        case ast.Dict() | ast.Call(func=ast.Name(id="dict"), args=[]):
            return {word: value_of(part) for word, part in _parts(node)}
        case ast.Call(func=ast.Name(id="timedelta") | ast.Attribute(attr="timedelta"), args=[]):
            return _timedelta({word: value_of(part) for word, part in _parts(node)})
    raise NotStated


def _parts(node: ast.Dict | ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """The words and values of `{"a": 1}` or `f(a=1)`."""
    pairs: list[tuple[object, ast.expr]]
    if isinstance(node, ast.Call):
        pairs = [(word.arg, word.value) for word in node.keywords]
    else:
        words = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
        pairs = list(zip(words, node.values, strict=True))
    for word, value in pairs:
        if not isinstance(word, str):
            raise NotStated
        yield word, value


def _timedelta(parts: dict[str, Any]) -> timedelta:
    try:
        return timedelta(**parts)
    except (TypeError, ValueError, OverflowError) as error:
        raise NotStated from error


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
