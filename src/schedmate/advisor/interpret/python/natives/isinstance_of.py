"""`isinstance` and `type`, only where the answer is sure."""

from __future__ import annotations

from schedmate.advisor.interpret.python.references import LocalModule
from schedmate.advisor.interpret.python.values import (
    UNKNOWN,
    Dotted,
    LibraryObject,
    LocalClass,
    LocalFunction,
    Sequence,
    Table,
    Value,
)

_PLAIN: dict[str, type | tuple[type, ...]] = {
    "int": int,
    "float": float,
    "str": str,
    "bool": bool,
    "numbers.Number": (int, float),
    "numbers.Integral": int,
}
_MAX_DEPTH = 40
_DICTS = ("dict", "Mapping", "MutableMapping", "OrderedDict")
_SEQUENCES = ("Sequence", "Iterable", "Collection")


def is_instance(value: Value, wanted: Value) -> bool | None:
    if isinstance(wanted.data, Sequence):
        answers = [is_instance(value, part) for part in wanted.data.items]
        return True if True in answers else (None if None in answers else False)
    if isinstance(wanted.data, LocalClass):
        return _is_local(value, wanted.data)
    if not isinstance(wanted.data, Dotted) or not value.known:
        return None
    return _is_library(value, wanted.data.name)


def _is_library(value: Value, name: str) -> bool | None:
    data = value.data
    last = name.rpartition(".")[2]
    if value.plain:
        if name in _PLAIN:
            return isinstance(data, _PLAIN[name])
        text_or_path = isinstance(data, str) and last in ("Path", "PurePath", "PathLike")
        return None if text_or_path else (data is None and last == "NoneType")
    if isinstance(data, Sequence):
        return last == data.kind or last in _SEQUENCES
    if isinstance(data, Table):
        if data.kind == "dict":
            return last in _DICTS
        inherits = data.kind == name or (data.of is not None and data.of.inherits(name))
        return True if inherits else (False if name in _PLAIN else None)
    if isinstance(data, (LocalFunction, LocalClass, LocalModule, Dotted)):
        return False if name in _PLAIN else None
    if isinstance(data, LibraryObject):
        return (
            True
            if data.kind == name
            else (False if name in _PLAIN and data.kind[:1] != "?" and _made(data.kind) else None)
        )
    return None


def _made(kind: str) -> bool:
    return kind.rpartition(".")[2][:1].isupper()


def _is_local(value: Value, cls: LocalClass) -> bool | None:
    data = value.data
    if value.plain or isinstance(data, Sequence):
        return False
    if isinstance(data, Table):
        return data.of is not None and _descends(data.of, cls, 0)
    return None


def _descends(one: LocalClass, other: LocalClass, depth: int) -> bool:
    return one is other or (
        depth < _MAX_DEPTH
        and any(
            isinstance(base.data, LocalClass) and _descends(base.data, other, depth + 1)
            for base in one.bases
        )
    )


def type_of(value: Value) -> Value:
    data = value.data
    if value.plain:
        return Value(Dotted(type(data).__name__))
    if isinstance(data, Sequence):
        return Value(Dotted(data.kind))
    if isinstance(data, Table):
        return Value(data.of) if data.of is not None else Value(Dotted(data.kind))
    return UNKNOWN
