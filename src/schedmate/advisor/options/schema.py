"""Classes whose annotated names are options: dataclasses, attrs, pydantic models, their kin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from schedmate.advisor.interpret.python.context import Context
from schedmate.advisor.interpret.python.values import (
    Dotted,
    LibraryObject,
    LocalClass,
    Table,
    Value,
)
from schedmate.advisor.interpret.python.values import Sequence as Items
from schedmate.advisor.options.annotations import annotated
from schedmate.advisor.options.conversion import name_of
from schedmate.advisor.options.given import Given, several
from schedmate.advisor.options.tables import leaves, look_up, merge, put, table_of
from schedmate.advisor.options.text import like
from schedmate.advisor.options.undeclared import Pair, pairs, plain, underscored

_FIELD_MAKERS = ("field", "Field", "attrib", "ib", "mutable", "default", "arg", "choice", "HfArg")
_MAX_BASES = 20
_MAX_DEPTH = 8


def fields_of(cls: LocalClass, depth: int = 0) -> tuple[str, ...]:
    """The annotated names in order, those of local bases first."""
    if depth > _MAX_BASES:
        return ()
    inherited = [
        name
        for base in reversed(cls.bases)
        if isinstance(base.data, LocalClass)
        for name in fields_of(base.data, depth + 1)
    ]
    return tuple(dict.fromkeys((*inherited, *cls.fields)))


def is_open(cls: LocalClass, depth: int = 0) -> bool:
    """Whether a library's class among its bases has fields that are not in sight."""
    return depth > _MAX_BASES or any(
        is_open(base.data, depth + 1)
        if isinstance(base.data, LocalClass)
        else name_of(base).rpartition(".")[2] not in _EMPTY_BASES
        for base in cls.bases
    )


_EMPTY_BASES = {
    "object", "ABC", "Generic", "Protocol", "BaseModel", "BaseSettings", "Serializable",
    "JsonSerializable", "YamlSerializable", "NamedTuple", "TypedDict", "DictConfig",
}  # fmt: skip


def defaults_of(cls: LocalClass, context: Context, depth: int = 0) -> dict[str, Value | None]:
    """Every field with its default; None where it has none, or none that is known. One that is
    another such class has the defaults of that one."""
    members = context.members(cls)
    return {
        name: _default(members[name], context, depth)
        if name in members
        else _of_class(context.field_class(cls, name), context, depth)
        for name in fields_of(cls)
    }


def _of_class(cls: LocalClass | None, context: Context, depth: int) -> Value | None:
    if cls is None or not fields_of(cls) or depth >= _MAX_DEPTH:
        return None
    return Value(_instance(cls, Table(), context, depth + 1), (cls.line,))


def _default(value: Value | None, context: Context, depth: int) -> Value | None:
    """`field(default=3)` and `field(default_factory=Optim)` mean what they make."""
    if value is None or not isinstance(value.data, LibraryObject):
        return value
    call = value.data.call
    if call.callee.rpartition(".")[2] not in _FIELD_MAKERS:
        return value
    factory = call.keywords.get("default_factory") or call.keywords.get("factory")
    if factory is not None:
        return _made(factory, context, depth)
    default = call.argument("default", 0)
    return None if default is None or default.data is Ellipsis else default


def _made(factory: Value, context: Context, depth: int) -> Value | None:
    name = name_of(factory)
    if name in ("list", "tuple", "set"):
        return Value(Items([]), factory.lines)
    if name == "dict":
        return Value(Table(), factory.lines)
    if isinstance(factory.data, LocalClass) and depth < _MAX_DEPTH:
        return Value(_instance(factory.data, Table(), context, depth + 1), factory.lines)
    made = context.invoke(factory)
    return made if made.known else None


def instance(cls: Value, settings: Table, context: Context) -> Table:
    """An instance of a class with the settings that it is given; defaults for the others."""
    if isinstance(cls.data, LocalClass):
        return _instance(cls.data, settings, context, 0)
    table = Table(kind=name_of(cls), complete=False)
    merge(table, settings)
    table.complete = False
    return table


def _instance(cls: LocalClass, settings: Table, context: Context, depth: int) -> Table:
    defaults = defaults_of(cls, context, depth)
    wanted = dict(settings.parts) if is_open(cls) else _only(settings.parts, defaults)
    members = context.members(cls)
    keywords = {
        name: value
        for name, value in defaults.items()
        if value is not None and name not in members and name not in wanted
    } | {name: _below(defaults.get(name), value, context, depth) for name, value in wanted.items()}
    made = table_of(context.invoke(Value(cls, (cls.line,)), (), keywords))
    if made is not None:
        return made
    parts = {name: value for name, value in defaults.items() if value is not None}
    return Table({**parts, **keywords}, cls.name, complete=not is_open(cls), of=cls)


def _only(parts: Mapping[str, Value], names: Mapping[str, object]) -> dict[str, Value]:
    return {name: value for name, value in parts.items() if name in names}


def _below(default: Value | None, value: Value, context: Context, depth: int) -> Value:
    """A nested class keeps the settings that are not given."""
    given, start = table_of(value), table_of(default)
    if given is None or start is None:
        return value
    if start.of is not None and depth < _MAX_DEPTH:
        base = Table(dict(start.parts))
        merge(base, given)
        return Value(_instance(start.of, base, context, depth + 1), value.lines, value.source)
    copy = Table(dict(start.parts), start.kind, start.complete, start.of)
    merge(copy, given)
    return Value(copy, value.lines, value.source)


def outline(classes: Sequence[Value], context: Context) -> Table:
    """The fields of several classes side by side, each with a value of its type: its default,
    else one that its annotation tells, else None.
    """
    table = Table()
    for cls in classes:
        if isinstance(cls.data, LocalClass):
            examples = annotated(cls.data)
            for name, default in defaults_of(cls.data, context).items():
                known = default is not None and default.known and default.data is not None
                table.parts[name] = (
                    default if known and default else examples.get(name, Value(None))
                )
        elif isinstance(cls.data, Table):
            table.parts |= cls.data.parts
    return table


def settings_from(
    words: Sequence[Given], shape: Table, *, flat: bool = False
) -> tuple[Table, list[Pair]]:
    """`--optim.lr 3` and `--no-amp` as settings for classes of that shape; the others as pairs.

    `flat`: a nested option goes by its last name alone.
    """
    names = dict(_spellings(shape, flat=flat))
    settings, others = Table(), []
    for pair in pairs(words):
        dotted, negated = _resolve(pair, names)
        if dotted is None:
            others.append(pair)
        else:
            put(settings, dotted, _valued(pair, look_up(shape, dotted), negated=negated))
    return settings, others


def _spellings(shape: Table, *, flat: bool) -> Iterator[tuple[str, str]]:
    for dotted, _ in leaves(shape):
        if flat:
            yield plain(dotted.rpartition(".")[2]), dotted
    for dotted, _ in leaves(shape):
        yield plain(dotted), dotted
    for name in shape.parts:
        yield plain(name), name


def _resolve(pair: Pair, names: Mapping[str, str]) -> tuple[str | None, bool]:
    name = plain(pair.name)
    if name in names:
        return names[name], False
    way, _, last = name.rpartition(".")
    positive = f"{way}.{last}".lstrip(".").replace("no_", "", 1) if last.startswith("no_") else ""
    if positive in names:
        return names[positive], True
    first = name.partition(".")[0]
    return (underscored(pair.name), False) if "." in name and first in names else (None, False)


def _valued(pair: Pair, default: Value | None, *, negated: bool) -> Value:
    if not pair.values:
        return pair.flag.holding(not negated)
    values = [like(default, word) for word in pair.values]
    wants_list = default is not None and isinstance(default.data, Items)
    if len(values) == 1 and (not wants_list or isinstance(values[0].data, Items)):
        return values[0]
    return several(values)


def is_class(value: Value) -> bool:
    return isinstance(value.data, (LocalClass, Dotted))
