"""Tables of settings: reached by dotted names, merged, copied, and stated as options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from schedmate.advisor.python.trace import Option
from schedmate.advisor.python.values import Table, Value
from schedmate.advisor.python.world import World

_MAX_DEPTH = 12
_MAX_LEAVES = 3000
HIDDEN = "<"
"""What a model remembers in a table begins so: no name of a job can."""


def table_of(value: Value | None) -> Table | None:
    return value.data if value is not None and isinstance(value.data, Table) else None


def leaves(table: Table, prefix: str = "") -> Iterator[tuple[str, Value]]:
    """Every setting below a table with its dotted name; `_MAX_LEAVES` at most."""
    for count, leaf in enumerate(_leaves(table, prefix, ())):
        if count >= _MAX_LEAVES:
            return
        yield leaf


def _leaves(table: Table, prefix: str, above: tuple[Table, ...]) -> Iterator[tuple[str, Value]]:
    if len(above) > _MAX_DEPTH or any(each is table for each in above):
        return
    for name, value in list(table.parts.items()):
        if name.startswith(HIDDEN):
            continue
        if isinstance(value.data, Table):
            yield from _leaves(value.data, f"{prefix}{name}.", (*above, table))
        else:
            yield f"{prefix}{name}", value


def state_all(world: World, table: Table, prefix: str = "", depth: int = 0) -> None:
    for name, value in leaves(table, prefix):
        state(world, name, value, depth)


def state(world: World, name: str, value: Value, depth: int = 0) -> None:
    """What the code states lies as deep as its file; what overrides it counts as the entry's.

    What the code computes and nobody knows is no statement: it has no line.
    """
    if value.known or value.lines:
        world.state(Option(name=name, value=value, depth=depth if value.source == "code" else 0))


def look_up(table: Table, dotted: str) -> Value | None:
    value: Value | None = None
    current: Table | None = table
    for name in dotted.split("."):
        value = None if current is None else current.parts.get(name)
        current = table_of(value)
    return value


def put(table: Table, dotted: str, value: Value) -> None:
    """Set a nested part; what is on the way and no table becomes one."""
    *way, last = dotted.split(".")[:_MAX_DEPTH]
    for name in way:
        below = table_of(table.parts.get(name))
        if below is None:
            below = Table(kind=table.kind if table.of is None else "dict")
            table.parts[name] = Value(below, value.lines, value.source)
        table = below
    table.parts[last] = value


def drop(table: Table, dotted: str) -> None:
    *way, last = dotted.split(".")
    parent = look_up(table, ".".join(way)) if way else Value(table)
    below = table_of(parent)
    if below is not None:
        below.parts.pop(last, None)


def copied(table: Table, depth: int = 0) -> Table:
    """Another table with the same settings: changing one leaves the other alone."""
    parts = {
        name: Value(copied(value.data, depth + 1), value.lines, value.source)
        if isinstance(value.data, Table) and depth < _MAX_DEPTH
        else value
        for name, value in table.parts.items()
    }
    return Table(parts, table.kind, table.complete, table.of)


def merge(into: Table, over: Table, depth: int = 0) -> None:
    """Take over the settings of another table, those of nested ones one by one."""
    for name, value in list(over.parts.items()):
        below = table_of(into.parts.get(name))
        if below is not None and isinstance(value.data, Table) and depth < _MAX_DEPTH:
            merge(below, value.data, depth + 1)
        elif isinstance(value.data, Table):
            into.parts[name] = Value(copied(value.data), value.lines, value.source)
        else:
            into.parts[name] = value
    into.complete = into.complete and over.complete


def nested(settings: Mapping[str, Value], kind: str = "dict") -> Table:
    """`{"optim.lr": …}` as a table of tables."""
    table = Table(kind=kind)
    for name, value in settings.items():
        put(table, name, value)
    return table
