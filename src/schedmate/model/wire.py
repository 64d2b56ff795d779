"""Values to JSON and back, by their types; one dialect for files, store and stdout."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from schedmate.model.errors import BadInput

T = TypeVar("T")


@cache
def _cached_adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _adapter(kind: type[T]) -> TypeAdapter[T]:
    return cast("TypeAdapter[T]", _cached_adapter(cast("Hashable", kind)))


def to_json(value: object) -> Any:
    """Return plain lists, dicts, strings and numbers, all of which JSON has a word for."""
    return json.loads(dumps(value))


def dumps(value: object) -> str:
    """Write JSON that everybody can read: no NaN, and no bytes smuggled in as surrogates."""
    adapter = _adapter(type(value))
    try:
        return adapter.dump_json(value).decode()
    except PydanticSerializationError:  # a path or a line that is no UTF-8
        return json.dumps(_readable(adapter.dump_python(value, mode="json")))


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


def _readable(data: Any) -> Any:
    match data:
        case dict():
            return {_readable(key): _readable(value) for key, value in data.items()}
        case list():
            return [_readable(item) for item in data]
        case str():
            return data.encode(errors="replace").decode()
        case float() if not math.isfinite(data):
            return None
    return data


def _bad(kind: type[Any], error: ValidationError) -> BadInput:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"]) or "the value"
    return BadInput(f"not a valid {kind.__name__}: {where}: {first['msg']}")
