"""Whether values are true, the same, or still known when either of two may hold."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import dataclass

from schedmate.advisor.interpret.python.references import LocalModule, Member, Range
from schedmate.advisor.interpret.python.values import (
    UNKNOWN,
    UNKNOWN_DATA,
    Dotted,
    KnownPrefix,
    LibraryObject,
    LocalClass,
    LocalFunction,
    Partial,
    Sequence,
    Table,
    Value,
    stronger,
)
from schedmate.model import Evidence

_MAX_LINES = 3
_MAX_DEPTH = 6
_MAX_COMPARED = 200
_WRAPPERS = (
    "DistributedDataParallel",
    "DataParallel",
    "FullyShardedDataParallel",
    "DDP",
    "compile",
    "script",
    "convert_sync_batchnorm",
)


def truth(value: Value) -> bool | None:
    """None where only running would tell."""
    data = value.data
    if value.plain:
        return bool(data)
    if isinstance(data, Sequence):
        return True if data.items else (False if data.complete else None)
    if isinstance(data, Table):
        if data.kind != "dict":
            return True
        return True if data.parts else (False if data.complete else None)
    if isinstance(data, (LocalFunction, LocalClass, Partial, LocalModule)):
        return True
    if isinstance(data, LibraryObject):
        return True if _is_class_like(data.kind) else None
    return True if isinstance(value, KnownPrefix) and value.begins else None


def _is_class_like(kind: str) -> bool:
    """An instance of a class counts as true; what a function returns may be anything."""
    name = kind.rpartition(".")[2]
    return name[:1].isupper()


def same(one: Value, other: Value, depth: int = 0) -> bool:
    """Whether both are surely the same."""
    left, right = one.data, other.data
    if left is right:
        return left is not UNKNOWN_DATA
    if one.plain and other.plain:
        return type(left) is type(right) and bool(left == right)
    if depth > _MAX_DEPTH:
        return False
    if isinstance(left, Dotted) and isinstance(right, Dotted):
        return left.name == right.name
    if isinstance(left, Sequence) and isinstance(right, Sequence):
        return (
            left.complete
            and right.complete
            and len(left.items) == len(right.items) < _MAX_COMPARED
            and all(same(a, b, depth + 1) for a, b in zip(left.items, right.items, strict=True))
        )
    if isinstance(left, Table) and isinstance(right, Table):
        return (
            left.complete
            and right.complete
            and left.kind == right.kind
            and left.parts.keys() == right.parts.keys()
            and len(left.parts) < _MAX_COMPARED
            and all(same(left.parts[name], right.parts[name], depth + 1) for name in left.parts)
        )
    return False


@dataclass(frozen=True, slots=True)
class Scaled(Value):
    """A known factor times an unknown: `epochs * steps_per_epoch`.

    Divided by the same unknown it is the factor again.
    """

    factor: Value = UNKNOWN
    unknown: Value = UNKNOWN


def either(one: Value | None, other: Value | None) -> Value | None:
    """What is known when either may hold; None stands for a name that is not bound."""
    if one is None or other is None:
        return one or other
    if same(one, other):
        return one
    inner, other_inner = unwrapped(one), unwrapped(other)
    return inner if same(inner, other_inner) else _either_item(one, other)


def _either_item(one: Value, other: Value) -> Value:
    """Of two tuples of the same length some items may be known: `return model, 512`."""
    left, right = one.data, other.data
    if not (isinstance(left, Sequence) and isinstance(right, Sequence)):
        return _either_beginning(one, other)
    alike = left.kind == right.kind == "tuple" and len(left.items) == len(right.items)
    if not alike or not (left.complete and right.complete) or len(left.items) > _MAX_COMPARED:
        return UNKNOWN
    items = [
        mine if same(mine, theirs) else UNKNOWN
        for mine, theirs in zip(left.items, right.items, strict=True)
    ]
    return Value(Sequence(items, kind="tuple"), one.lines, one.source)


def _either_beginning(one: Value, other: Value) -> Value:
    """Two paths in the same directory."""
    texts = [each.begins if isinstance(each, KnownPrefix) else each.data for each in (one, other)]
    if not all(isinstance(text, str) and "/" in text for text in texts):
        return UNKNOWN
    place = posixpath.commonprefix(texts).rpartition("/")[0]
    if not place.strip("./"):
        return UNKNOWN
    return KnownPrefix(UNKNOWN_DATA, one.lines, one.source, begins=f"{place}/")


def unwrapped(value: Value) -> Value:
    """The model in `DistributedDataParallel(model)`: wrapped or not, it is the same."""
    for _ in range(5):
        data = value.data
        if not isinstance(data, LibraryObject) or data.kind.rpartition(".")[2] not in _WRAPPERS:
            return value
        if not data.call.positional:
            return value
        value = data.call.positional[0]
    return value


def any_of(values: Iterable[Value]) -> Value:
    """What is known when any of them may hold."""
    found: Value | None = None
    several = False
    for value in values:
        several = found is not None
        found = value if found is None else either(found, value)
        if several and found is not None and not found.known and not isinstance(found, KnownPrefix):
            return UNKNOWN
    return found or UNKNOWN


def derived(data: object, *parts: Value) -> Value:
    """A value computed from others: it has their lines, and the stronger one's source."""
    lines: list[Evidence] = []
    source = parts[0].source if parts else "code"
    ranked = sorted(parts, key=lambda part: stronger(part.source, "config") != part.source)
    for part in ranked:
        source = stronger(source, part.source)
        lines.extend(line for line in part.lines if line not in lines)
    return Value(data, tuple(lines[:_MAX_LINES]), source)


def opaque(value: Value) -> bool:
    """Whether an operation on it tells nothing."""
    return isinstance(value.data, (LibraryObject, Member, Range)) or not value.known
