"""Mathematics."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from schedmate.advisor.interpret.python.engine import Arguments, Engine, Native, Site
from schedmate.advisor.interpret.python.truth import derived
from schedmate.advisor.interpret.python.values import UNKNOWN, UNKNOWN_DATA, Value

_MAX = 1e40
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: getattr(math, name)
    for name in (
        "ceil",
        "floor",
        "sqrt",
        "log",
        "log2",
        "log10",
        "exp",
        "cos",
        "sin",
        "tan",
        "gcd",
        "trunc",
        "fabs",
    )
}


def _function(compute: Callable[..., Any]) -> Native:
    def asked(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
        numbers = [value.data for value in arguments.positional]
        if not all(isinstance(n, (int, float)) and abs(n) < _MAX for n in numbers):
            return Value(UNKNOWN_DATA)
        try:
            result = compute(*numbers)
        except (ArithmeticError, ValueError, TypeError):
            return UNKNOWN
        return derived(result, *arguments.positional)

    return asked


NUMBERS: dict[str, Native] = {
    **{f"math.{name}": _function(compute) for name, compute in _FUNCTIONS.items()},
    **{
        f"numpy.{name}": _function(_FUNCTIONS[name])
        for name in ("ceil", "floor", "sqrt", "log", "exp", "log2", "log10")
    },
}
