"""Built-in functions and types."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from schedmate.advisor.interpret.python.budget import JobRaises
from schedmate.advisor.interpret.python.engine import Arguments, Engine, Native, Site
from schedmate.advisor.interpret.python.iteration import items_of
from schedmate.advisor.interpret.python.natives.base import MAX_ITEMS, MAX_TEXT, first
from schedmate.advisor.interpret.python.references import Range
from schedmate.advisor.interpret.python.truth import derived, truth
from schedmate.advisor.interpret.python.values import (
    UNKNOWN,
    UNKNOWN_DATA,
    KnownPrefix,
    Sequence,
    Table,
    Value,
)

_ONE = Value(1)
_ZERO = Value(0)


def _int(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    value = first(arguments)
    if value is None:
        return Value(0)
    if len(arguments.positional) > 1 or not isinstance(value.data, (int, float, str)):
        return UNKNOWN
    if isinstance(value.data, str) and len(value.data) > 40:  # noqa: PLR2004 - no number is longer
        return UNKNOWN
    try:
        return derived(int(value.data), value)
    except (ValueError, OverflowError) as error:
        raise JobRaises from error


def _float(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    value = first(arguments)
    if value is None:
        return Value(0.0)
    if not isinstance(value.data, (int, float, str)):
        return UNKNOWN
    try:
        return derived(float(value.data), value)
    except (ValueError, OverflowError) as error:
        raise JobRaises from error


def _str(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    value = first(arguments)
    if value is None:
        return Value("")
    if isinstance(value, KnownPrefix):
        return value
    return derived(str(value.data)[:MAX_TEXT], value) if value.plain else UNKNOWN


def _bool(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    value = first(arguments)
    if value is None:
        return Value(False)
    known = truth(value)
    return UNKNOWN if known is None else derived(known, value)


def _len(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    value = first(arguments)
    if value is None:
        return UNKNOWN
    data = value.data
    if isinstance(data, str):
        return derived(len(data), value)
    if isinstance(data, (Sequence, Table)):
        size = len(data.items) if isinstance(data, Sequence) else len(data.parts)
        plain = isinstance(data, Sequence) or data.kind == "dict"
        return derived(size, value) if data.complete and plain else UNKNOWN
    return None


def _extreme(largest: bool) -> Native:  # noqa: FBT001 - only called below
    def asked(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
        values = arguments.positional
        if len(values) == 1:
            values = items_of(engine, values[0]) or []
        numbers = [value for value in values if isinstance(value.data, (int, float))]
        if not numbers or len(numbers) < len(values) or "key" in arguments.keywords:
            return UNKNOWN
        found = (max if largest else min)(numbers, key=lambda value: value.data)
        return derived(found.data, found)

    return asked


def _sum(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    items = items_of(engine, arguments.positional[0]) if arguments.positional else None
    if items is None or not all(isinstance(item.data, (int, float)) for item in items):
        return UNKNOWN
    return derived(sum(item.data for item in items), *items[:3]) if items else Value(0)


def _range(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    match arguments.positional:
        case [stop]:
            return Value(Range(_ZERO, stop, _ONE), stop.lines, stop.source)
        case [start, stop]:
            return Value(Range(start, stop, _ONE), stop.lines, stop.source)
        case [start, stop, step]:
            return Value(Range(start, stop, step), stop.lines, stop.source)
    return UNKNOWN


def _collection(kind: str) -> Native:
    def asked(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
        value = first(arguments)
        if value is None:
            return Value(Sequence([], kind=kind), (site.line,))
        data = value.data
        if isinstance(data, Sequence):
            copied = Sequence(list(data.items), data.complete, kind)
            return Value(copied, value.lines, value.source)
        items = items_of(engine, value)
        return (
            None if items is None else Value(Sequence(items, kind=kind), value.lines, value.source)
        )

    return asked


def _sorted(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    value = first(arguments)
    items = None if value is None else items_of(engine, value)
    if (
        value is None
        or items is None
        or not all(item.plain for item in items)
        or arguments.keywords
    ):
        return UNKNOWN
    try:
        ordered = sorted(items, key=lambda item: item.data)
    except TypeError:
        return UNKNOWN
    return Value(Sequence(ordered), value.lines, value.source)


def _enumerate(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    value = first(arguments)
    items = None if value is None else items_of(engine, value)
    if items is None or value is None or isinstance(value.data, Range):
        return None
    pairs = [Value(Sequence([Value(i), item], kind="tuple")) for i, item in enumerate(items)]
    return Value(Sequence(pairs), value.lines, value.source)


def _zip(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    lists = [items_of(engine, value) for value in arguments.positional]
    if not lists or any(each is None for each in lists):
        return None
    rows = zip(*(each or [] for each in lists), strict=False)
    return Value(Sequence([Value(Sequence(list(row), kind="tuple")) for row in rows]))


def _dict(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    value = first(arguments)
    table = Table(complete=arguments.complete)
    if value is not None and isinstance(value.data, Table):
        table.parts.update(value.data.parts)
        table.complete &= value.data.complete
    elif value is not None:
        pairs = items_of(engine, value)
        table.complete &= pairs is not None
        for pair in (pairs or [])[:MAX_ITEMS]:
            both = items_of(engine, pair) or []
            if len(both) == 2 and both[0].plain:  # noqa: PLR2004 - a pair
                table.parts[str(both[0].data)] = both[1]
    table.parts.update(arguments.keywords)
    return Value(table, value.lines if value is not None else (site.line,))


def _round(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    value = first(arguments)
    if value is None or not isinstance(value.data, (int, float)):
        return UNKNOWN
    digits = arguments.positional[1].data if len(arguments.positional) > 1 else None
    try:
        return derived(round(value.data, digits), value)
    except (TypeError, ValueError, OverflowError):
        return UNKNOWN


def _abs(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    value = first(arguments)
    number = value is not None and isinstance(value.data, (int, float))
    return derived(abs(value.data), value) if value is not None and number else UNKNOWN


def _any(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    items = items_of(engine, arguments.positional[0]) if arguments.positional else None
    known = [truth(item) for item in items or ()]
    if True in known:
        return Value(True)
    return UNKNOWN if items is None or None in known else Value(False)


def _all(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    items = items_of(engine, arguments.positional[0]) if arguments.positional else None
    known = [truth(item) for item in items or ()]
    if False in known:
        return Value(False)
    return UNKNOWN if items is None or None in known else Value(True)


def _nothing(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    return Value(None)


BUILTINS: dict[str, Native] = {
    "int": _int,
    "float": _float,
    "str": _str,
    "bool": _bool,
    "len": _len,
    "min": _extreme(largest=False),
    "max": _extreme(largest=True),
    "sum": _sum,
    "range": _range,
    "list": _collection("list"),
    "tuple": _collection("tuple"),
    "set": _collection("set"),
    "frozenset": _collection("set"),
    "sorted": _sorted,
    "enumerate": _enumerate,
    "zip": _zip,
    "dict": _dict,
    "collections.OrderedDict": _dict,
    "round": _round,
    "abs": _abs,
    "any": _any,
    "all": _all,
    "print": _nothing,
}


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
