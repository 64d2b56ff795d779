"""Python's ways to look at itself: getattr, vars, globals, isinstance, exec, importlib."""

from __future__ import annotations

import ast as syntax

from schedmate.advisor.interpret.python.budget import JobRaises
from schedmate.advisor.interpret.python.engine import Arguments, Engine, Native, NativeMethod, Site
from schedmate.advisor.interpret.python.fields import all_fields, lineage
from schedmate.advisor.interpret.python.natives.base import MAX_TEXT, first
from schedmate.advisor.interpret.python.natives.isinstance_of import is_instance, type_of
from schedmate.advisor.interpret.python.references import LocalModule, Super
from schedmate.advisor.interpret.python.values import (
    UNKNOWN,
    Dotted,
    LibraryObject,
    LocalClass,
    LocalFunction,
    Partial,
    Sequence,
    Table,
    Value,
)

_MAX_COPIED = 12


def _getattr(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    match arguments.positional:
        case [value, Value(data=str(name)), *rest]:
            known = _has(engine, value, name)
            if rest and known is not True:
                return rest[0] if known is False else UNKNOWN
            return engine.attribute(value, name, site)
    return UNKNOWN


def _has(engine: Engine, value: Value, name: str) -> bool | None:
    data = value.data
    if isinstance(data, Table):
        if name in data.parts:
            return True
        if data.of is not None and engine.lookup_class(data.of, name) is not None:
            return True
        return False if data.complete and data.kind != "dict" else None
    if isinstance(data, LocalClass):
        found = engine.lookup_class(data, name) is not None
        return True if found else None
    if isinstance(data, LocalModule):
        return engine.member(data, name) is not None
    return None if data is None or not isinstance(data, Dotted) else True


def _hasattr(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    match arguments.positional:
        case [value, Value(data=str(name))] if not isinstance(value.data, Dotted):
            known = _has(engine, value, name)
            return UNKNOWN if known is None else Value(known)
    return UNKNOWN


def _setattr(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    match arguments.positional:
        case [value, Value(data=str(name)), new]:
            engine.set_attribute(value, name, new, site)
        case [Value(data=Table() as table), *_]:
            engine.memory.open_up(table)
    return Value(None)


def _vars(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    value = first(arguments)
    if value is None:
        return _locals(engine, arguments, site)
    data = value.data
    if isinstance(data, Dotted):
        return Value(Dotted(f"{data.name}.__dict__"))
    if isinstance(data, LocalModule) and engine.member(data, "__name__") and data.scope:
        return Value(Table(data.scope.names))
    if isinstance(data, Table):
        return Value(Table(data.parts, "dict", data.complete), value.lines, value.source)
    return UNKNOWN


def _globals(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    return Value(Table(site.scope.globals.names))


def _locals(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    return Value(Table(site.scope.names))


def _isinstance(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    match arguments.positional:
        case [value, wanted]:
            known = is_instance(value, wanted)
            return UNKNOWN if known is None else Value(known)
    return UNKNOWN


def _type(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    value = first(arguments)
    return type_of(value) if value is not None else UNKNOWN


def _callable(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    value = first(arguments)
    if value is None or not (value.plain or isinstance(value.data, (LocalFunction, LocalClass))):
        return UNKNOWN
    return Value(not value.plain)


def _super(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    scope = site.scope
    while scope.function is None and scope.parent is not None:
        scope = scope.parent
    if scope.function is None or scope.function.owner is None:
        return UNKNOWN
    instance = next(iter(scope.arguments.values()), UNKNOWN)
    if scope.function.bound_to is not None:
        instance = scope.function.bound_to
    return Value(Super(instance, scope.function.owner))


def _partial(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    if not arguments.positional:
        return UNKNOWN
    function, *rest = arguments.positional
    return Value(Partial(function, tuple(rest), arguments.keywords), (site.line,))


def _import_module(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    value = first(arguments)
    if value is None or not isinstance(value.data, str):
        return UNKNOWN
    name = value.data
    if name.startswith("."):
        package = engine.finder.above(site.scope.module, len(name) - len(name.lstrip(".")))
        module = engine.finder.below(package, name.lstrip(".")) if package else None
    else:
        module = engine.finder.find(name)
    if module is None:
        return Value(Dotted(name[:200]))
    module.depth = module.depth or site.scope.file.depth + 1
    return Value(module)


def _literal(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    """`eval` and `ast.literal_eval` of known text that is a literal."""
    value = first(arguments)
    if value is None or not isinstance(value.data, str) or len(value.data) > MAX_TEXT:
        return UNKNOWN
    try:
        found = syntax.literal_eval(value.data.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise JobRaises from error
    return _as_value(found, value, 0)


def _as_value(data: object, stated: Value, depth: int) -> Value:
    if depth > _MAX_COPIED:
        return UNKNOWN
    if isinstance(data, (list, tuple, set)):
        items = [_as_value(part, stated, depth + 1) for part in data]
        return Value(Sequence(items, kind=type(data).__name__), stated.lines, stated.source)
    if isinstance(data, dict):
        parts = {str(key): _as_value(part, stated, depth + 1) for key, part in data.items()}
        return Value(Table(parts), stated.lines, stated.source)
    known = data is None or isinstance(data, (str, int, float))
    return Value(data, stated.lines, stated.source) if known else UNKNOWN


def _eval(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    value = first(arguments)
    if value is None or not isinstance(value.data, str):
        return UNKNOWN
    try:
        node = syntax.parse(value.data.strip()[:2000], mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return UNKNOWN
    found = engine.evaluate(node, site.scope)
    if found.plain:
        return Value(found.data, value.lines, value.source)
    return found


def _deepcopy(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    value = first(arguments)
    return UNKNOWN if value is None else _copied(engine, value, 0)


def _copied(engine: Engine, value: Value, depth: int) -> Value:
    engine.budget.tick()
    data = value.data
    if depth > _MAX_COPIED:
        return UNKNOWN
    if isinstance(data, Table):
        parts = {name: _copied(engine, part, depth + 1) for name, part in data.parts.items()}
        return Value(Table(parts, data.kind, data.complete, data.of), value.lines, value.source)
    if isinstance(data, Sequence):
        items = [_copied(engine, part, depth + 1) for part in data.items]
        return Value(Sequence(items, data.complete, data.kind), value.lines, value.source)
    return value


def _namespace(kind: str) -> Native:
    def asked(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
        return Value(Table(dict(arguments.keywords), kind, arguments.complete), (site.line,))

    return asked


def _named_tuple(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    match arguments.positional:
        case [Value(data=str(name)), Value(data=str(fields)), *_]:
            names = fields.replace(",", " ").split()
        case [Value(data=str(name)), Value(data=Sequence(items=items)), *_]:
            names = [item.data for item in items if isinstance(item.data, str)]
        case _:
            return None
    bases = (Value(Dotted("typing.NamedTuple")),)
    cls = LocalClass(name, bases, {}, tuple(names[:100]), site.scope, site.line)
    return Value(cls, (site.line,))


def _asdict(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    value = first(arguments)
    if value is None or not isinstance(value.data, Table):
        return UNKNOWN
    table = value.data
    names = all_fields(table.of) if table.of is not None else table.parts
    parts = {name: _plainly(table.parts.get(name, UNKNOWN), 0) for name in names}
    return Value(Table(parts, "dict", table.complete), value.lines, value.source)


def _plainly(value: Value, depth: int) -> Value:
    data = value.data
    if not isinstance(data, Table) or data.kind == "enum" or depth > _MAX_COPIED:
        return value
    parts = {name: _plainly(part, depth + 1) for name, part in data.parts.items()}
    return Value(Table(parts, "dict", data.complete), value.lines, value.source)


def _replace(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    value = first(arguments)
    if value is None or not isinstance(value.data, Table):
        return UNKNOWN
    old = value.data
    new = Table({**old.parts, **arguments.keywords}, old.kind, old.complete, old.of)
    return Value(new, value.lines, value.source)


def _dir(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    """The names of an instance and its class, as far as they are the job's own."""
    value = first(arguments)
    data = None if value is None else value.data
    cls = data.of if isinstance(data, Table) else data if isinstance(data, LocalClass) else None
    names = dict.fromkeys(data.parts) if isinstance(data, Table) else {}
    for each in reversed(lineage(cls)) if cls is not None else ():
        names |= dict.fromkeys(each.parts)
    if not names or value is None:
        return UNKNOWN
    return Value(Sequence([Value(name) for name in sorted(names)]), value.lines)


def _fields(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    """Each with its name and its default."""
    value = first(arguments)
    data = None if value is None else value.data
    cls = data.of if isinstance(data, Table) else data
    if value is None or not isinstance(cls, LocalClass):
        return UNKNOWN
    items = [
        Value(Table({"name": Value(name), "default": default or UNKNOWN}, "Field", complete=False))
        for name, default in all_fields(cls).items()
    ]
    return Value(Sequence(items, kind="tuple"), value.lines)


def _set_part(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
    """`self.__setattr__(name, value)`."""
    return _setattr(engine, Arguments([receiver, *arguments.positional]), site)


def _get_part(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
    return _getattr(engine, Arguments([receiver, *arguments.positional[:1]]), site)


def _set_item(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
    match arguments.positional:
        case [key, new] if isinstance(receiver.data, (Table, Sequence)):
            engine.set_item(receiver, key, new, site)
            return Value(None)
    return None


def _get_item(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
    match arguments.positional:
        case [key] if isinstance(receiver.data, (Table, Sequence)):
            return engine.item(receiver, key, site)
    return None


def _cast(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    return arguments.positional[-1] if arguments.positional else None


def _start_thread(
    engine: Engine, receiver: Value, arguments: Arguments, site: Site
) -> Value | None:
    """`Process(target=f, args=(…)).start()` calls f."""
    data = receiver.data
    if not isinstance(data, LibraryObject) or data.kind.rpartition(".")[2] not in (
        "Process",
        "Thread",
    ):
        return None
    target, given = data.call.argument("target"), data.call.argument("args")
    if target is None:
        return None
    rest = given.data.items if given is not None and isinstance(given.data, Sequence) else []
    engine.call(target, Arguments(list(rest)), site)
    return Value(None)


INTROSPECTION_METHODS: dict[str, NativeMethod] = {
    "__setattr__": _set_part,
    "__getattribute__": _get_part,
    "__setitem__": _set_item,
    "__getitem__": _get_item,
    "start": _start_thread,
}
INTROSPECTION: dict[str, Native] = {
    "getattr": _getattr,
    "hasattr": _hasattr,
    "setattr": _setattr,
    "object.__setattr__": _setattr,
    "object.__getattribute__": _getattr,
    "dir": _dir,
    "vars": _vars,
    "globals": _globals,
    "locals": _locals,
    "isinstance": _isinstance,
    "type": _type,
    "callable": _callable,
    "super": _super,
    "functools.partial": _partial,
    "importlib.import_module": _import_module,
    "__import__": _import_module,
    "ast.literal_eval": _literal,
    "eval": _eval,
    "copy.deepcopy": _deepcopy,
    "copy.copy": _deepcopy,
    "types.SimpleNamespace": _namespace("types.SimpleNamespace"),
    "argparse.Namespace": _namespace("argparse.Namespace"),
    "collections.namedtuple": _named_tuple,
    "dataclasses.asdict": _asdict,
    "dataclasses.fields": _fields,
    "dataclasses.replace": _replace,
    "typing.cast": _cast,
}
