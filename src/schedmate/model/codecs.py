"""Dataclasses from JSON's own values and back, by their annotations, without a library.

A short verb reads a few records; importing a validation library and building its validators costs
more than all else it does. A codec takes only what fits its type exactly and raises otherwise:
`wire` then lets the library convert the value or name the error.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

Convert = Callable[[Any], Any]


class UnfitError(Exception):
    """A value that does not fit its type exactly, or a type that no codec is for."""


class Codec(NamedTuple):
    read: Convert
    """From JSON's value."""
    write: Convert
    """To JSON's value."""


@cache
def codec(kind: Any) -> Codec:
    if kind in _PLAIN:
        return _PLAIN[kind]
    origin, inner = get_origin(kind), get_args(kind)
    made = _OF_PARTS.get(origin)
    if made is not None:
        return made(inner)
    plain = origin or kind
    if isinstance(plain, type) and is_dataclass(plain):
        return _dataclass(plain, inner)
    if isinstance(plain, type) and issubclass(plain, Enum):
        return _enum(plain)
    raise UnfitError(kind)


def _exactly(kind: type) -> Convert:
    def convert(value: Any) -> Any:
        if type(value) is not kind:
            raise UnfitError(value)
        return value

    return convert


def _read_float(value: Any) -> float:
    if type(value) is float:
        return value
    if type(value) is not int:
        raise UnfitError(value)
    return float(value)


def _write_float(value: Any) -> float | None:
    """JSON has no NaN and no infinity."""
    number = _read_float(value)
    return number if math.isfinite(number) else None


def _text(value: Any) -> str:
    if type(value) is not str:
        raise UnfitError(value)
    if not value.isascii():
        value.encode()  # a surrogate is no text of JSON
    return value


_PLAIN = {
    str: Codec(_text, _text),
    int: Codec(_exactly(int), _exactly(int)),
    bool: Codec(_exactly(bool), _exactly(bool)),
    float: Codec(_read_float, _write_float),
    NoneType: Codec(_exactly(NoneType), _exactly(NoneType)),
}


def _literal(choices: tuple[Any, ...]) -> Codec:
    if not all(isinstance(each, str) for each in choices):
        raise UnfitError(choices)

    def convert(value: Any) -> Any:
        if type(value) is not str or value not in choices:
            raise UnfitError(value)
        return value

    return Codec(convert, convert)


def _union(members: tuple[Any, ...]) -> Codec:
    """One type or None. Of several types one fits best, which only the library decides."""
    kinds = [each for each in members if each is not NoneType]
    if all(get_origin(each) is Literal for each in kinds):
        inner = _literal(tuple(word for each in kinds for word in get_args(each)))
    elif len(kinds) == 1:
        inner = codec(kinds[0])
    else:
        raise UnfitError(members)
    if NoneType not in members:
        return inner
    return Codec(
        lambda value: None if value is None else inner.read(value),
        lambda value: None if value is None else inner.write(value),
    )


def _tuple(kinds: tuple[Any, ...]) -> Codec:
    if len(kinds) == 2 and kinds[1] is Ellipsis:  # noqa: PLR2004 - of any length
        each = codec(kinds[0])
        return Codec(
            lambda value: tuple(map(each.read, _list_of(value))),
            lambda value: [each.write(part) for part in _tuple_of(value)],
        )
    parts = [codec(kind) for kind in kinds]

    def read(value: Any) -> tuple[Any, ...]:
        if len(_list_of(value)) != len(parts):
            raise UnfitError(value)
        return tuple(part.read(item) for part, item in zip(parts, value, strict=True))

    def write(value: Any) -> list[Any]:
        if len(_tuple_of(value)) != len(parts):
            raise UnfitError(value)
        return [part.write(item) for part, item in zip(parts, value, strict=True)]

    return Codec(read, write)


def _list(kinds: tuple[Any, ...]) -> Codec:
    each = codec(kinds[0])
    return Codec(
        lambda value: [each.read(item) for item in _list_of(value)],
        lambda value: [each.write(item) for item in _list_of(value)],
    )


_list_of = _exactly(list)
_dict_of = _exactly(dict)
_tuple_of = _exactly(tuple)


def _number_of_key(key: Any) -> int:
    """JSON's keys are texts."""
    number = int(_text(key))
    if str(number) != key:
        raise UnfitError(key)
    return number


_KEYS = {
    str: Codec(_text, _text),
    int: Codec(_number_of_key, lambda number: str(_PLAIN[int].write(number))),
}


def _dict(kinds: tuple[Any, ...]) -> Codec:
    if kinds[0] not in _KEYS:
        raise UnfitError(kinds)
    key, each = _KEYS[kinds[0]], codec(kinds[1])
    return Codec(
        lambda value: {key.read(name): each.read(item) for name, item in _dict_of(value).items()},
        lambda value: {key.write(name): each.write(item) for name, item in _dict_of(value).items()},
    )


_OF_PARTS: dict[Any, Callable[[tuple[Any, ...]], Codec]] = {
    Literal: _literal,
    Union: _union,
    UnionType: _union,
    tuple: _tuple,
    list: _list,
    dict: _dict,
}


def _enum(kind: type[Enum]) -> Codec:
    known = {member.value: member for member in kind}
    if not all(type(value) is str for value in known):
        raise UnfitError(kind)

    def read(value: Any) -> Enum:
        if type(value) is not str or value not in known:
            raise UnfitError(value)
        return known[value]

    def write(value: Any) -> Any:
        if type(value) is not kind:
            raise UnfitError(value)
        return value.value

    return Codec(read, write)


def _dataclass(kind: Any, arguments: tuple[Any, ...]) -> Codec:
    """Its parts' codecs are made when a first value is read or written: types may be recursive."""
    names = [each.name for each in fields(kind)]
    required = [
        each.name
        for each in fields(kind)
        if each.default is MISSING and each.default_factory is MISSING
    ]

    def read(value: Any) -> Any:
        parts, given = _parts(kind, arguments), _dict_of(value)
        if any(name not in given for name in required):
            raise UnfitError(value)
        return kind(**{name: parts[name].read(given[name]) for name in names if name in given})

    def write(value: Any) -> dict[str, Any]:
        parts = _parts(kind, arguments)
        if type(value) is not kind:
            raise UnfitError(value)
        return {name: parts[name].write(getattr(value, name)) for name in names}

    return Codec(read, write)


@cache
def _parts(kind: Any, arguments: tuple[Any, ...]) -> dict[str, Codec]:
    """By the names of its fields; `arguments` are what a generic class is of."""
    meant = dict(zip(getattr(kind, "__parameters__", ()), arguments, strict=False))
    hints = get_type_hints(kind)
    return {
        each.name: _codec_or_unfit(_bound(hints[each.name], meant), init=each.init)
        for each in fields(kind)
    }


def _bound(hint: Any, meant: dict[Any, Any]) -> Any:
    """With what the parameters of a generic class stand for: `T` and `T | None`."""
    free = () if isinstance(hint, type) else getattr(hint, "__parameters__", ())
    if free and all(each in meant for each in free):
        return hint[tuple(meant[each] for each in free)]
    return meant.get(hint, hint)


def _codec_or_unfit(kind: Any, *, init: bool) -> Codec:
    try:
        return codec(kind) if init else _UNFIT
    except UnfitError:
        return _UNFIT


def _unfit(value: Any) -> Any:
    raise UnfitError(value)


_UNFIT = Codec(_unfit, _unfit)
