"""Classes that are made of annotated fields: dataclasses, named tuples, pydantic's; and enums."""

from __future__ import annotations

from schedmate.advisor.interpret.python.engine import Arguments, Engine, Site
from schedmate.advisor.interpret.python.values import (
    UNKNOWN,
    Dotted,
    LibraryObject,
    LocalClass,
    LocalFunction,
    Table,
    Value,
)

_DECORATORS = (
    "dataclass",
    "dataclasses",
    "attrs",
    "define",
    "frozen",
    "mutable",
    "s",
    "attributes",
)
_BASES = ("NamedTuple", "BaseModel", "BaseSettings", "Struct", "TypedDict", "PretrainedConfig")
_ENUMS = ("Enum", "IntEnum", "StrEnum", "Flag", "IntFlag")
_FIELDS = ("field", "Field", "ib", "attrib", "HfArg")
_MAX_DEPTH = 40
_MAX_BASES = 40


def lineage(cls: LocalClass) -> list[LocalClass]:
    """The class and its local bases, nearest first."""
    found: list[LocalClass] = []
    waiting = [cls]
    while waiting and len(found) < _MAX_BASES:
        current = waiting.pop(0)
        if current not in found:
            found.append(current)
            waiting.extend(base.data for base in current.bases if isinstance(base.data, LocalClass))
    return found


def has_fields(cls: LocalClass, depth: int = 0) -> bool:
    """Whether its constructor takes its annotated fields."""
    if depth > _MAX_DEPTH:
        return False
    if makes_constructor(cls) or cls.inherits(*_BASES):
        return True
    return any(
        isinstance(base.data, LocalClass) and has_fields(base.data, depth + 1) for base in cls.bases
    )


def makes_constructor(cls: LocalClass) -> bool:
    """Whether a decorator makes one of its fields, in place of what a library's base has."""
    names = (_name(decorator) for decorator in cls.decorators)
    return any(name.rpartition(".")[2] in _DECORATORS for name in names)


def _name(decorator: Value) -> str:
    data = decorator.data
    return data.name if isinstance(data, Dotted) else getattr(data, "kind", "")


def all_fields(cls: LocalClass, depth: int = 0) -> dict[str, Value | None]:
    """Fields in the order of the constructor, with their defaults as they stand."""
    found: dict[str, Value | None] = {}
    for base in reversed(cls.bases):
        if isinstance(base.data, LocalClass) and depth < _MAX_DEPTH:
            found.update(all_fields(base.data, depth + 1))
    for name in cls.fields:
        found[name] = cls.parts.get(name)
    return found


def fill_fields(engine: Engine, instance: Value, arguments: Arguments, site: Site) -> None:
    table: Table = instance.data
    assert table.of is not None  # noqa: S101 - only instances of local classes are filled
    fields = all_fields(table.of)
    given = dict(zip(fields, arguments.positional, strict=False)) | arguments.keywords
    for name, default in fields.items():
        if name in given:
            table.parts[name] = given[name]
        elif not arguments.complete or default is None:
            table.parts[name] = UNKNOWN
        else:
            table.parts[name] = field_default(engine, default, site)
    table.parts.update({name: value for name, value in given.items() if name not in fields})
    after = engine.lookup_class(table.of, "__post_init__")
    if after is not None and isinstance(after.data, LocalFunction):
        engine.call(engine.attribute(instance, "__post_init__", site), Arguments(), site)


def field_default(engine: Engine, default: Value, site: Site) -> Value:
    """`field(default=…)` and `field(default_factory=…)` stand for what they make."""
    data = default.data
    if not isinstance(data, LibraryObject) or data.kind.rpartition(".")[2] not in _FIELDS:
        return default
    call = data.call
    stated = call.argument("default")
    if stated is None and not data.kind.startswith("dataclasses."):
        stated = call.argument("", 0)
    if stated is not None:
        return stated
    factory = call.argument("default_factory") or call.argument("factory")
    return engine.call(factory, Arguments(), site) if factory is not None else UNKNOWN


def is_enum(cls: LocalClass) -> bool:
    return cls.inherits(*_ENUMS)


def enum_member(cls: LocalClass, name: str, value: Value) -> Value:
    """Kept as its name and its value."""
    parts = {"name": Value(name, value.lines), "value": value}
    return Value(Table(parts, "enum", of=cls), value.lines)
