"""Tables of settings: reached by dotted names, merged, copied, and stated as options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from schedmate.advisor.interpret.python.context import Context
from schedmate.advisor.interpret.python.trace import Option
from schedmate.advisor.interpret.python.values import Table, Value

_MAX_DEPTH = 12
_MAX_LEAVES = 3000
HIDDEN = "<"
"""What a model remembers in a table begins so: no name of a job can."""


def table_of(value: Value | None) -> Table | None:
    return value.data if value is not None and isinstance(value.data, Table) else None


@dataclass(slots=True)
class _Visits:
    """Tables may be shared or hold themselves: a few lines can make billions of ways."""

    left: int = 20_000

    def spend(self) -> bool:
        self.left -= 1
        return self.left >= 0


def leaves(table: Table, prefix: str = "") -> Iterator[tuple[str, Value]]:
    """Every setting below a table with its dotted name; `_MAX_LEAVES` at most."""
    yield from islice(_leaves(table, prefix, (), _Visits()), _MAX_LEAVES)


def _leaves(
    table: Table, prefix: str, above: tuple[Table, ...], visits: _Visits
) -> Iterator[tuple[str, Value]]:
    if len(above) > _MAX_DEPTH or any(each is table for each in above) or not visits.spend():
        return
    for name, value in list(table.parts.items()):
        if name.startswith(HIDDEN):
            continue
        if isinstance(value.data, Table):
            yield from _leaves(value.data, f"{prefix}{name}.", (*above, table), visits)
        else:
            yield f"{prefix}{name}", value


def state_all(context: Context, table: Table, prefix: str = "", depth: int = 0) -> None:
    for name, value in leaves(table, prefix):
        state(context, name, value, depth)


def state(context: Context, name: str, value: Value, depth: int = 0) -> None:
    """What the code states lies as deep as its file; what overrides it counts as the entry's.

    What the code computes and leaves unknown is no statement: it has no line.
    """
    if value.known or value.lines:
        context.state(Option(name=name, value=value, depth=depth if value.source == "code" else 0))


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


def copied(table: Table, kind: str | None = None) -> Table:
    """Another table with the same settings: changing one leaves the other alone.

    Of another kind, it is a table of settings only, and no instance of a class.
    """
    return _copied(table, kind, {})


def _copied(table: Table, kind: str | None, made: dict[int, Table]) -> Table:
    if id(table) in made:
        return made[id(table)]
    of = table.of if kind is None else None
    copy = made[id(table)] = Table({}, kind or table.kind, table.complete, of)
    deep = len(made) > _MAX_LEAVES
    for name, value in table.parts.items():
        if isinstance(value.data, Table) and not deep:
            value = Value(_copied(value.data, kind, made), value.lines, value.source)  # noqa: PLW2901 - the copy takes its place
        copy.parts[name] = value
    return copy


def merge(into: Table, over: Table) -> None:
    """Take over the settings of another table, those of nested ones one by one."""
    _merge(into, over, 0, _Visits())


def _merge(into: Table, over: Table, depth: int, visits: _Visits) -> None:
    into.complete = into.complete and over.complete and visits.spend()
    for name, value in list(over.parts.items()):
        below = table_of(into.parts.get(name))
        if not isinstance(value.data, Table) or depth > _MAX_DEPTH or visits.left < 0:
            into.parts[name] = value
        elif below is None:
            into.parts[name] = Value(copied(value.data), value.lines, value.source)
        elif below is not value.data:
            _merge(below, value.data, depth + 1, visits)


def nested(settings: Mapping[str, Value], kind: str = "dict") -> Table:
    """`{"optim.lr": …}` as a table of tables."""
    table = Table(kind=kind)
    for name, value in settings.items():
        put(table, name, value)
    return table
