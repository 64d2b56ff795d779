"""One config over another, and the parts of a config by their dotted names."""

from __future__ import annotations

from schedmate.advisor.interpret.python.values import UNKNOWN, Sequence, Table, Value
from schedmate.advisor.options.configs.building import MAX_DEPTH

_REPLACES = "_delete_"


def merge(base: Value, over: Value, depth: int = 0) -> Value:
    """Tables part by part, anything else replaced; a table with `_delete_` replaces too.

    Neither of the two is changed.
    """
    if not isinstance(base.data, Table) or not isinstance(over.data, Table) or depth > MAX_DEPTH:
        return _without_delete(over)
    if _REPLACES in over.data.parts:
        return _without_delete(over)
    parts = dict(base.data.parts)
    for name, value in over.data.parts.items():
        known = parts.get(name)
        parts[name] = value if known is None else merge(known, value, depth + 1)
    complete = base.data.complete and over.data.complete
    return Value(Table(parts, over.data.kind, complete), over.lines, over.source)


def _without_delete(value: Value) -> Value:
    if not isinstance(value.data, Table) or _REPLACES not in value.data.parts:
        return value
    parts = {name: part for name, part in value.data.parts.items() if name != _REPLACES}
    return Value(Table(parts, value.data.kind, value.data.complete), value.lines, value.source)


def select(value: Value | None, path: str) -> Value | None:
    """A part by its dotted name (`datasets.0.path`, `datasets[0].path`).

    None where it is not there; unknown where unknown whether it is.
    """
    for step in steps(path):
        if value is None:
            return None
        value = _child(value, step)
    return value


def _child(value: Value, step: str) -> Value | None:
    data = value.data
    if isinstance(data, Table):
        found = data.parts.get(step)
        return found if found is not None or data.complete else UNKNOWN
    if isinstance(data, Sequence) and step.lstrip("-").isdecimal() and len(step) < MAX_DEPTH:
        place = int(step)
        return data.items[place] if -len(data.items) <= place < len(data.items) else None
    return None if value.known else UNKNOWN


def steps(path: str) -> list[str]:
    return path.replace("[", ".").replace("]", "").split(".") if path else []


def assign(value: Value, path: str, part: Value) -> Value:
    """The same config with one part set; tables on the way are made where there are none."""
    return _assigned(value, steps(path), part)


def _assigned(value: Value, path: list[str], part: Value) -> Value:
    if not path or len(path) > MAX_DEPTH:
        return part
    step, rest = path[0], path[1:]
    data = value.data
    if isinstance(data, Sequence) and _child(value, step) is not None:
        items = list(data.items)
        items[int(step)] = _assigned(items[int(step)], rest, part)
        return Value(Sequence(items, data.complete), value.lines, value.source)
    table = data if isinstance(data, Table) else Table({}, complete=value.known)
    below = table.parts.get(step) or Value(Table({}), part.lines, part.source)
    parts = {**table.parts, step: _assigned(below, rest, part)}
    return Value(Table(parts, table.kind, table.complete), value.lines, value.source)


def remove(value: Value, path: str) -> Value:
    """The same config without one part."""
    *above, last = steps(path) or [""]
    holder = select(value, ".".join(above))
    if holder is None or not isinstance(holder.data, Table) or last not in holder.data.parts:
        return value
    parts = {name: part for name, part in holder.data.parts.items() if name != last}
    table = Table(parts, holder.data.kind, holder.data.complete)
    return assign(value, ".".join(above), Value(table, holder.lines, holder.source))
