"""Methods of dicts, namespaces, lists, tuples and sets."""

from __future__ import annotations

import ast

from schedmate.advisor.interpret.python.engine import Arguments, Engine, NativeMethod, Site
from schedmate.advisor.interpret.python.iteration import items_of
from schedmate.advisor.interpret.python.natives.base import MAX_ITEMS
from schedmate.advisor.interpret.python.operators import compare
from schedmate.advisor.interpret.python.values import UNKNOWN, Sequence, Table, Value

_NOTHING = Value(None)


def _get(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
    table = receiver.data
    if not isinstance(table, Table) or not arguments.positional:
        return None
    key = arguments.positional[0]
    default = arguments.positional[1] if len(arguments.positional) > 1 else None
    default = default or arguments.keywords.get("default")
    if not key.plain:
        return UNKNOWN
    if str(key.data) in table.parts:
        return engine.resolve(table.parts[str(key.data)])
    if table.complete or (table.kind == "environ" and default is not None):
        return default or _NOTHING
    return UNKNOWN


def _items(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
    table = receiver.data
    if not isinstance(table, Table):
        return None
    pairs = [
        Value(Sequence([Value(name, part.lines, part.source), engine.resolve(part)], kind="tuple"))
        for name, part in list(table.parts.items())[:MAX_ITEMS]
    ]
    return Value(Sequence(pairs, table.complete), receiver.lines, receiver.source)


def _keys(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
    table = receiver.data
    if not isinstance(table, Table):
        return None
    names = [Value(name, part.lines, part.source) for name, part in table.parts.items()]
    return Value(Sequence(names[:MAX_ITEMS], table.complete), receiver.lines, receiver.source)


def _values(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
    table = receiver.data
    if not isinstance(table, Table):
        return None
    parts = [engine.resolve(part) for part in list(table.parts.values())[:MAX_ITEMS]]
    return Value(Sequence(parts, table.complete), receiver.lines, receiver.source)


def _update(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
    data = receiver.data
    if isinstance(data, Sequence):
        return _extend(engine, receiver, arguments, site)
    if not isinstance(data, Table):
        return None
    for value in arguments.positional:
        other = value.data
        if isinstance(other, Table):
            for name, part in list(other.parts.items()):
                engine.set_item(receiver, Value(name), part, site)
        if not isinstance(other, Table) or not other.complete:
            _may_hold_anything(engine, data)
    for name, part in arguments.keywords.items():
        engine.set_item(receiver, Value(name), part, site)
    if not arguments.complete:
        _may_hold_anything(engine, data)
    return _NOTHING


def _may_hold_anything(engine: Engine, table: Table) -> None:
    """An update with an unknown value may have replaced any part."""
    for name in list(table.parts):
        engine.memory.write(table.parts, name, UNKNOWN)
    engine.memory.open_up(table)


def _setdefault(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
    if not isinstance(receiver.data, Table) or not arguments.positional:
        return None
    key, *rest = arguments.positional
    if not key.plain:
        return UNKNOWN
    if str(key.data) in receiver.data.parts:
        return engine.resolve(receiver.data.parts[str(key.data)])
    value = rest[0] if rest else _NOTHING
    new = value if receiver.data.complete else UNKNOWN
    engine.set_item(receiver, key, new, site)
    return new


def _pop(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
    data = receiver.data
    if isinstance(data, Sequence):
        return _pop_item(engine, data, arguments)
    if not isinstance(data, Table) or not arguments.positional:
        return None
    found = _get(engine, receiver, arguments, site)
    key = arguments.positional[0]
    if key.plain:
        engine.memory.remove(data.parts, str(key.data))
    return found


def _pop_item(engine: Engine, data: Sequence, arguments: Arguments) -> Value:
    place = arguments.positional[0].data if arguments.positional else -1
    items = list(data.items)
    if not data.complete or not isinstance(place, int) or not -len(items) <= place < len(items):
        return UNKNOWN
    taken = items.pop(place)
    engine.memory.rewrite(data, items, complete=True)
    return taken


def _copy(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
    data = receiver.data
    if isinstance(data, Table):
        new = Table(dict(data.parts), data.kind, data.complete, data.of)
        return Value(new, receiver.lines, receiver.source)
    if isinstance(data, Sequence):
        copied = Sequence(list(data.items), data.complete, data.kind)
        return Value(copied, receiver.lines, receiver.source)
    return None


def _append(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
    data = receiver.data
    if not isinstance(data, Sequence) or not arguments.positional:
        return None
    _grow(engine, data, [arguments.positional[-1]], site)
    return _NOTHING


def _extend(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
    data = receiver.data
    if not isinstance(data, Sequence) or not arguments.positional:
        return None
    items = items_of(engine, arguments.positional[0])
    _grow(engine, data, items, site)
    return _NOTHING


def _grow(engine: Engine, data: Sequence, items: list[Value] | None, site: Site) -> None:
    """In a loop that is interpreted once there will be more."""
    grown = (data.items + (items or []))[:MAX_ITEMS]
    more = items is None or len(grown) >= MAX_ITEMS or site.scope.loops > 0
    engine.memory.rewrite(data, grown, complete=data.complete and not more)


def _insert(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
    data = receiver.data
    if not isinstance(data, Sequence):
        return None
    match arguments.positional:
        case [Value(data=int(place)), value]:
            items = list(data.items)
            items.insert(place, value)
            engine.memory.rewrite(data, items[:MAX_ITEMS], complete=data.complete)
        case _:
            engine.memory.rewrite(data, [], complete=False)
    return _NOTHING


def _remove(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
    data = receiver.data
    if not isinstance(data, Sequence) or not arguments.positional:
        return None
    equal = [compare(ast.Eq(), item, arguments.positional[0]) for item in data.items]
    items = list(data.items)
    if True in equal and None not in equal[: equal.index(True)]:
        items.pop(equal.index(True))
        engine.memory.rewrite(data, items, complete=data.complete)
    else:
        engine.memory.rewrite(data, items, complete=False)
    return _NOTHING


def _to_dict(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
    """`_asdict()`, `dict()`, `model_dump()`, `to_dict()` of what has named parts."""
    data = receiver.data
    if not isinstance(data, Table) or arguments.positional:
        return None
    return Value(Table(dict(data.parts), "dict", data.complete), receiver.lines, receiver.source)


CONTAINER_METHODS: dict[str, NativeMethod] = {
    "get": _get,
    "items": _items,
    "keys": _keys,
    "values": _values,
    "update": _update,
    "setdefault": _setdefault,
    "pop": _pop,
    "copy": _copy,
    "append": _append,
    "add": _append,
    "extend": _extend,
    "insert": _insert,
    "remove": _remove,
    "discard": _remove,
    "_asdict": _to_dict,
    "asdict": _to_dict,
    "dict": _to_dict,
    "model_dump": _to_dict,
    "to_dict": _to_dict,
}
