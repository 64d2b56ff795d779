"""What a loop runs through."""

from __future__ import annotations

from schedmate.advisor.interpret.python.engine import Engine
from schedmate.advisor.interpret.python.references import Range
from schedmate.advisor.interpret.python.truth import derived
from schedmate.advisor.interpret.python.values import (
    LibraryObject,
    LocalClass,
    Sequence,
    Table,
    Value,
)

_MAX_RANGE = 64
_THROUGH = {"enumerate", "iter", "reversed", "itertools.islice", "itertools.chain", "zip", "sorted"}


def items_of(engine: Engine, value: Value) -> list[Value] | None:
    """All items in order; None unless every one of them is known to be there."""
    data = value.data
    if isinstance(data, Sequence):
        return list(data.items) if data.complete else None
    if isinstance(data, LocalClass):
        return _members(data)
    if isinstance(data, Table) and data.of is not None and data.of.inherits("NamedTuple"):
        return [data.parts[name] for name in data.of.fields if name in data.parts]
    if isinstance(data, Table) and (data.of is None or data.of.inherits("dict")):
        return (
            [Value(name, value.lines, value.source) for name in data.parts]
            if data.complete
            else None
        )
    if isinstance(data, str):
        return [Value(char, value.lines, value.source) for char in data[:_MAX_RANGE]]
    if isinstance(data, Range):
        return _range_items(data)
    return None


def _members(cls: LocalClass) -> list[Value] | None:
    """Of an enum."""
    found = [
        part
        for part in cls.parts.values()
        if isinstance(part.data, Table) and part.data.kind == "enum"
    ]
    return found or None


def _range_items(data: Range) -> list[Value] | None:
    bounds = (data.start.data, data.stop.data, data.step.data)
    if not all(isinstance(bound, int) for bound in bounds) or bounds[2] == 0:
        return None
    numbers = range(*bounds)
    if abs(bounds[1] - bounds[0]) // abs(bounds[2]) > _MAX_RANGE:  # its len may not fit
        return None
    return [derived(number, data.stop) for number in numbers]


def looped_over(value: Value) -> Value:
    """What `enumerate(tqdm(x))` is about: x."""
    for _ in range(5):
        data = value.data
        if not isinstance(data, LibraryObject) or not data.call.positional:
            return value
        if data.kind not in _THROUGH and not data.kind.rpartition(".")[2].startswith("tqdm"):
            return value
        value = data.call.positional[0]
    return value
