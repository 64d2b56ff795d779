"""Values to JSON and back, by their types; one dialect for files, store and stdout."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from schedmate.model.errors import BadInput

T = TypeVar("T")


@cache
def _cached_adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _adapter(kind: type[T]) -> TypeAdapter[T]:
    return cast("TypeAdapter[T]", _cached_adapter(cast("Hashable", kind)))


def to_json(value: object) -> Any:
    """Return plain lists, dicts, strings and numbers."""
    return _adapter(type(value)).dump_python(value, mode="json")


def dumps(value: object) -> str:
    return _adapter(type(value)).dump_json(value).decode()


def from_json(kind: type[T], data: Any) -> T:
    try:
        return _adapter(kind).validate_python(data)
    except ValidationError as error:
        raise _bad(kind, error) from error


def loads(kind: type[T], text: str | bytes) -> T:
    try:
        return _adapter(kind).validate_json(text)
    except ValidationError as error:
        raise _bad(kind, error) from error


def json_schema(kind: type[Any]) -> dict[str, Any]:
    return _adapter(kind).json_schema(mode="serialization")


def _bad(kind: type[Any], error: ValidationError) -> BadInput:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"]) or "the value"
    return BadInput(f"not a valid {kind.__name__}: {where}: {first['msg']}")
