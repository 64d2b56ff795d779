"""Values to JSON and back, by their types; one dialect for files, store and stdout.

The first values of a type go through codecs of our own, which need no import. From then on, and
for whatever a codec does not take, pydantic reads and writes them: faster where there are many,
and with its errors.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Hashable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from schedmate.model.codecs import Codec, UnfitError, codec
from schedmate.model.errors import BadInput

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

T = TypeVar("T")
R = TypeVar("R")

_FEW = 150
"""Values of a type after which its pydantic adapter is worth being built."""
_LONG = 20_000
"""Characters of a text that pydantic reads sooner, its import included."""
_used: Counter[Any] = Counter()


@cache
def _cached_adapter(kind: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter  # noqa: PLC0415 - slow to import, and few verbs need it

    return TypeAdapter(kind)


def _adapter(kind: type[T]) -> TypeAdapter[T]:
    return cast("TypeAdapter[T]", _cached_adapter(cast("Hashable", kind)))


def _by_codec(kind: Any, use: Callable[[Codec], R]) -> R | None:
    """What a codec makes of a value of this type, or None."""
    _used[kind] += 1
    if _used[kind] > _FEW:
        return None
    try:
        return use(codec(kind))
    except (UnfitError, ValueError, TypeError, RecursionError):
        return None


def to_json(value: object) -> Any:
    """Return plain lists, dicts, strings and numbers, all of which JSON has a word for."""
    plain = _by_codec(type(value), lambda by: by.write(value))
    return json.loads(_dumps_by_pydantic(value)) if plain is None else plain


def dumps(value: object, *, often: bool = False) -> str:
    """Write JSON that everybody can read: no NaN, and no bytes smuggled in as surrogates.

    `often` is for who writes many or large ones and has pydantic anyway: it is used at once.
    """
    plain = None if often else _by_codec(type(value), lambda by: by.write(value))
    if plain is None:
        return _dumps_by_pydantic(value)
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


def _dumps_by_pydantic(value: object) -> str:
    from pydantic_core import PydanticSerializationError  # noqa: PLC0415

    adapter = _adapter(type(value))
    try:
        return adapter.dump_json(value).decode()
    except PydanticSerializationError:  # a path or a line that is no UTF-8
        return json.dumps(_readable(adapter.dump_python(value, mode="json")))


def from_json(kind: type[T], data: Any) -> T:
    value = _by_codec(kind, lambda by: by.read(data))
    if value is not None:
        return cast("T", value)
    from pydantic import ValidationError  # noqa: PLC0415

    try:
        return _adapter(kind).validate_python(data)
    except ValidationError as error:
        raise _bad(kind, error) from error


def loads(kind: type[T], text: str | bytes) -> T:
    short = len(text) <= _LONG
    value = _by_codec(kind, lambda by: by.read(json.loads(text))) if short else None
    if value is not None:
        return cast("T", value)
    from pydantic import ValidationError  # noqa: PLC0415

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
