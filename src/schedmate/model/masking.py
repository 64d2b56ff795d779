"""Our values with what looks like a secret replaced in every text that they hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeVar

from schedmate.model.redaction import redact

T = TypeVar("T")
_OPENED = frozenset({"workdir", "script", "logs", "file", "log"})
"""Fields with the names of files, which are opened by them."""
_PLAIN = frozenset({type(None), bool, int, float})
_SHORT = 200
"""Characters of a text that is worth being remembered."""
_names: dict[type[Any], tuple[str, ...]] = {}


def masked(value: T) -> T:
    """The same value where it holds no secret."""
    found: Any = _masked(value)
    return found  # type: ignore[no-any-return] # of the same type


def _masked(value: Any) -> Any:
    if type(value) in _PLAIN:  # by far the most, and cheaper to tell than what follows
        return value
    if type(value) in _names:
        return _dataclass(value)
    match value:
        case str():
            return value if len(value) <= _SHORT and _is_clean(value) else redact(value)
        case list() | tuple():
            return _sequence(value) if value else value
        case Mapping():
            return _mapping(value) if value else value
    return _dataclass(value) if is_dataclass(value) else value


@lru_cache(maxsize=8192)
def _is_clean(text: str) -> bool:
    """Names, nodes and lines of code are the same in many jobs."""
    return redact(text) == text


def _sequence(value: list[Any] | tuple[Any, ...]) -> Any:
    clean = [_masked(one) for one in value]
    for place, (before, one) in enumerate(pairwise(value), 1):
        if isinstance(before, str) and isinstance(one, str):  # `--password`, `hunter2`
            clean[place] = _after(before, one, clean[place])
    if all(new is old for new, old in zip(clean, value, strict=True)):
        return value
    if isinstance(value, list):
        return clean
    return type(value)(*clean) if hasattr(value, "_fields") else tuple(clean)


def _after(before: str, word: str, clean: str) -> str:
    """A word as it is to be shown behind another one, such as an option that it is the value of."""
    both = f"{before} {word}"
    shown = redact(both)
    if shown == both or not shown.startswith(f"{before} "):
        return clean
    return redact(shown.removeprefix(f"{before} "))


def _mapping(value: Mapping[Any, Any]) -> Mapping[Any, Any]:
    clean = {_masked(name): _masked(one) for name, one in value.items()}
    same = all(clean.get(name, value) is one for name, one in value.items())
    return value if same else clean


def _dataclass(value: Any) -> Any:
    changed = {}
    for name in _texts(type(value)):
        old = getattr(value, name)
        new = _masked(old)
        if new is not old:
            changed[name] = new
    return replace(value, **changed) if changed else value


def _texts(kind: type[Any]) -> tuple[str, ...]:
    known = _names.get(kind)
    if known is None:
        stated = (one.name for one in fields(kind) if one.init)
        known = _names[kind] = tuple(name for name in stated if name not in _OPENED)
    return known
