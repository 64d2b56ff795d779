"""Values of the interpreter as plain data: what can be compared and shown."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from schedmate.advisor.interpret.python.values import (
    UNKNOWN_DATA,
    Call,
    Dotted,
    KnownPrefix,
    LibraryObject,
    LocalClass,
    LocalFunction,
    Sequence,
    Table,
    Value,
)

UNSTATED: Final = object()
"""A value that is computed, or an unknown variable: it hides what would hold otherwise."""
MAX_ITEMS = 1000


def plain_data(value: Value) -> Any:
    """A str, number, bool, None, a tuple or dict of them; a library's name as its last part.

    A text of which only the beginning is known stays what it is."""
    match value.data:
        case Dotted(name=name) | LocalClass(name=name) | LocalFunction(name=name):
            return name.rpartition(".")[2]
        case Sequence(items=items, complete=True):
            return tuple(plain_data(item) for item in items[:MAX_ITEMS])
        case Table(parts=parts, kind="dict"):
            return {name: plain_data(part) for name, part in list(parts.items())[:MAX_ITEMS]}
        case LibraryObject(call=Call(callee="datetime.timedelta", positional=(), keywords=parts)):
            return _timedelta(parts)
    if isinstance(value, KnownPrefix):
        return value
    return value.data if value.plain and value.data is not UNKNOWN_DATA else UNSTATED


def _timedelta(parts: Mapping[str, Value]) -> Any:
    try:
        return timedelta(**{name: part.data for name, part in parts.items()})
    except (TypeError, ValueError, OverflowError):
        return UNSTATED
