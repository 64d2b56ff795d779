"""Attributes and items, read and written."""

from __future__ import annotations

from dataclasses import replace

from schedmate.advisor.interpret.python.assignment import note
from schedmate.advisor.interpret.python.calls import library_base
from schedmate.advisor.interpret.python.classes import lookup_class
from schedmate.advisor.interpret.python.context import CallModel
from schedmate.advisor.interpret.python.engine import Arguments, Engine, Site
from schedmate.advisor.interpret.python.functions import bound_method
from schedmate.advisor.interpret.python.references import LocalModule, Member, Super
from schedmate.advisor.interpret.python.values import (
    UNKNOWN,
    UNKNOWN_DATA,
    Call,
    Dotted,
    LibraryObject,
    LocalClass,
    LocalFunction,
    Sequence,
    Table,
    Value,
    key_of,
    stronger,
)

_TYPES_AROUND = ("typing.Optional", "typing.Annotated", "typing_extensions.Annotated")
"""Types that are what stands in their brackets."""
_MAX_NAME = 200
_PROPERTIES = ("property", "cached_property", "abstractproperty")
_NAMES = ("__name__", "__qualname__")


def attribute(engine: Engine, value: Value, name: str, site: Site) -> Value:
    data = value.data
    if isinstance(data, Dotted):
        model = engine.models.get(f"{data.name}.*")
        if model is not None:
            return _modelled(engine, model, f"{data.name}.{name}", site)
        return Value(Dotted(f"{data.name}.{name}"[:_MAX_NAME]))
    if isinstance(data, LocalModule):
        found = engine.member(data, name)
        if found is None and name == "__dict__" and data.scope is not None:
            return Value(Table(data.scope.names))
        return found or UNKNOWN
    if isinstance(data, Table):
        return _of_table(engine, value, data, name, site)
    if isinstance(data, LocalClass):
        return _of_class(engine, value, data, name)
    if isinstance(data, Super):
        return Value(Member(value, name))
    if isinstance(data, LocalFunction) and name in _NAMES:
        return Value(data.name.rpartition(".")[2], (data.line,))
    if isinstance(data, str):
        return path_part(value, name) or Value(Member(value, name))
    return engine.libraries.member(engine, value, name) or Value(Member(value, name))


def _modelled(engine: Engine, model: CallModel, name: str, site: Site) -> Value:
    """An attribute that a model knows, as `FLAGS.lr`."""
    line = site.scope.file.line(site.node)
    call = Call(callee=name[:_MAX_NAME], positional=(), keywords={}, line=line)
    return model(call, engine.context) or UNKNOWN


def _of_table(engine: Engine, value: Value, table: Table, name: str, site: Site) -> Value:
    if name in ("__dict__", "_fields"):
        return Value(Table(table.parts, "dict", table.complete), value.lines, value.source)
    if name == "__class__" and table.of is not None:
        return Value(table.of, (table.of.line,))
    if table.kind != "dict" and name in table.parts:
        return engine.resolve(table.parts[name])
    found = lookup_class(engine, table.of, name) if table.of is not None else None
    if found is not None and isinstance(found.data, LocalFunction):
        return _method(engine, found.data, value, site)
    if found is not None:
        return found
    if table.of is None:
        return Value(Member(value, name))
    fallback = lookup_class(engine, table.of, "__getattr__")
    if fallback is not None and isinstance(fallback.data, LocalFunction):
        method = bound_method(fallback.data, value)
        result = engine.call(method, Arguments([Value(name)]), site)
        if result.known:
            return result
    known = None if library_base(table.of) else engine.libraries.member(engine, value, name)
    return known or Value(Member(value, name))


def _method(engine: Engine, function: LocalFunction, instance: Value, site: Site) -> Value:
    decorators = [d.data.name for d in function.decorators if isinstance(d.data, Dotted)]
    cls = Value(instance.data.of)
    method = bound_method(function, instance, cls)
    if any(name.rpartition(".")[2] in _PROPERTIES for name in decorators):
        return engine.call(method, Arguments(), site)
    return method


def _of_class(engine: Engine, value: Value, cls: LocalClass, name: str) -> Value:
    found = lookup_class(engine, cls, name)
    if found is not None and isinstance(found.data, LocalFunction):
        names = [d.data.name for d in found.data.decorators if isinstance(d.data, Dotted)]
        return bound_method(found.data, value, value) if "classmethod" in names else found
    if found is not None:
        return found
    if name in _NAMES:
        return Value(cls.name, (cls.line,))
    base = library_base(cls)
    return Value(Dotted(f"{base}.{name}")) if base else UNKNOWN


def path_part(value: Value, name: str) -> Value | None:
    """Paths are kept as text: `.name`, `.stem`, `.suffix` and `.parent` are no names of str."""
    text = value.data.rstrip("/")
    head, _, last = text.rpartition("/")
    parts = {
        "name": last,
        "parent": head or ("/" if text.startswith("/") else "."),
        "stem": last.rpartition(".")[0] or last,
        "suffix": f".{last.rpartition('.')[2]}" if "." in last[1:] else "",
    }
    return Value(parts[name], value.lines, value.source) if name in parts else None


def item(engine: Engine, value: Value, key: Value, site: Site) -> Value:
    data = value.data
    if isinstance(data, Table):
        return _item_of_table(engine, value, data, key, site)
    if isinstance(data, Sequence) and isinstance(key.data, int):
        known = data.complete or key.data >= 0
        if known and -len(data.items) <= key.data < len(data.items):
            return data.items[key.data]
    if isinstance(data, str) and isinstance(key.data, int) and -len(data) <= key.data < len(data):
        return Value(data[key.data], value.lines, value.source)
    if isinstance(data, Dotted) and data.name.endswith(".__dict__") and isinstance(key.data, str):
        name = data.name.removesuffix(".__dict__")
        return Value(Dotted(f"{name}.{key.data}"[:_MAX_NAME]), key.lines, key.source)
    if isinstance(data, LocalClass) and isinstance(key.data, str):
        return data.parts.get(key.data, value)
    if isinstance(data, Dotted) and data.name.endswith(_TYPES_AROUND):
        return key
    return value if isinstance(data, (Dotted, LocalClass)) else UNKNOWN


def _item_of_table(engine: Engine, value: Value, table: Table, key: Value, site: Site) -> Value:
    name = key_of(key)
    if name is not None and name in table.parts:
        return _chosen_by(key, engine.resolve(table.parts[name]))
    if table.kind == "dict" and isinstance(key.data, int) and table.of is None:
        return UNKNOWN
    getter = lookup_class(engine, table.of, "__getitem__") if table.of is not None else None
    if getter is not None and isinstance(getter.data, LocalFunction):
        return engine.call(bound_method(getter.data, value), Arguments([key]), site)
    return UNKNOWN


def _chosen_by(key: Value, found: Value) -> Value:
    """`{"bfloat16": torch.bfloat16}[dtype]`: what states it is the key."""
    if key.lines and isinstance(found.data, (Dotted, LocalClass, LocalFunction)):
        return Value(found.data, (*key.lines, *found.lines), stronger(key.source, found.source))
    return found


def set_attribute(engine: Engine, value: Value, name: str, new: Value, site: Site) -> None:
    data = value.data
    if isinstance(data, Table):
        setter = lookup_class(engine, data.of, f"{name}") if data.of is not None else None
        if setter is not None and isinstance(setter.data, LocalFunction) and setter.data.decorators:
            return
        if name == "__dict__":
            return
        _restate(engine, name, data.parts.get(name), new, site)
        engine.memory.write(data.parts, name, new)
    elif isinstance(data, LocalClass):
        _restate(engine, name, data.parts.get(name), new, site)
        engine.memory.write(data.parts, name, new)
    elif isinstance(data, LocalModule) and engine.member(data, name) is not None and data.scope:
        engine.memory.write(data.scope.names, name, new)
    owner = data.kind if isinstance(data, Table | LibraryObject) else engine.state.within
    owner = data.name if isinstance(data, LocalClass) else owner
    note(engine, name, new, "attribute", site, of=owner)


def _restate(engine: Engine, name: str, old: Value | None, new: Value, site: Site) -> None:
    """`args.batch_size = args.num_envs * args.num_steps`: the option will be what the code makes
    of it, and unknown where that is (`args.vocab_size = len(vocab)`); unless it is computed from
    the option itself, which then says more than nothing."""
    if old is None or not engine.state.certain or old.data == new.data:
        return
    computed = isinstance(old.data, int | float) and not new.plain
    if computed and name not in site.line.text.partition("=")[2]:
        new = Value(UNKNOWN_DATA, (site.line,))
    elif not new.plain or new.data is None:
        return
    for option in reversed(engine.trace.options):
        if option.value is old or (option.value.lines and option.value == old):
            engine.trace.options.append(replace(option, value=new))
            return


def set_item(engine: Engine, value: Value, key: Value, new: Value, site: Site) -> None:
    data = value.data
    if isinstance(data, Table):
        if not key.plain:
            engine.memory.open_up(data)
            return
        _restate(engine, str(key.data), data.parts.get(str(key.data)), new, site)
        engine.memory.write(data.parts, str(key.data), new)
        whole = data.parts is site.scope.globals.names
        note(engine, str(key.data), new, "module" if whole else "item", site, of=data.kind)
    elif isinstance(data, Sequence):
        inside = isinstance(key.data, int) and -len(data.items) <= key.data < len(data.items)
        items = list(data.items)
        if inside:
            items[key.data] = new
        engine.memory.rewrite(data, items if inside else [], complete=inside and data.complete)
