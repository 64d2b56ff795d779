"""Small sums over quoted numbers: `8 * 32 // 4`. Nothing is run, and nothing grows large."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Collection
from typing import Final

_LONGEST: Final = 120
_LARGEST: Final = 1e18
_LARGEST_POWER: Final = 64
_UNITS: Final = frozenset({1, 2, 24, 60, 100, 1024, 3600, *(10**power for power in (3, 6, 9, 12))})
"""Numbers that need no quote: they turn one unit into another."""
_OPERATORS: Final[dict[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}


def evaluate(expression: str, quoted: Collection[float]) -> float | None:
    """Its value; None where it is no sum of quoted numbers, or leaves its bounds."""
    if len(expression) > _LONGEST:
        return None
    try:
        tree = ast.parse(expression.strip(), mode="eval")
        value = _value(tree.body, quoted)
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
        return None
    return value if math.isfinite(value) and abs(value) <= _LARGEST else None


def _value(node: ast.expr, quoted: Collection[float]) -> float:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            if number in _UNITS or any(math.isclose(number, each) for each in quoted):
                return number
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            one, other = _value(left, quoted), _value(right, quoted)
            if isinstance(op, ast.Pow) and abs(other) > _LARGEST_POWER:
                raise ValueError("too large a power")
            return _bounded(_OPERATORS[type(op)](one, other))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, quoted)
    raise ValueError("not a sum of quoted numbers")


def _bounded(number: float) -> float:
    if isinstance(number, complex) or not abs(number) <= _LARGEST:
        raise ValueError("out of bounds")
    return number
