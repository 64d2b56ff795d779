"""Sections of settings: dataclasses whose values are checked against their types when read.

Every verb reads the settings, and a validation library is a third of what a short verb costs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, field, fields, is_dataclass
from difflib import get_close_matches
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, TypeVar, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")
SettingPath: TypeAlias = tuple[str, ...]
"""Of a setting: its section, and its name there."""

_ABOVE, _AT_LEAST, _FINITE = "above", "at least", "finite"
ABOVE_ZERO = {_ABOVE: 0}
FINITE_ABOVE_ZERO = {_ABOVE: 0, _FINITE: True}
"""Metadata of a field that holds such numbers."""
_BOOLEANS = {
    **dict.fromkeys(("1", "on", "t", "true", "y", "yes"), True),
    **dict.fromkeys(("0", "off", "f", "false", "n", "no"), False),
}


class WrongSettingError(ValueError):
    """`llm.threads` and what is wrong with its value."""

    def __init__(self, path: SettingPath, problem: str) -> None:
        super().__init__(f"{'.'.join(path)}: {problem}")
        self.path, self.problem = path, problem


class Secret:
    """A text that no log and no error message shows."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "Secret('**********')"


def above(bound: float, default: T) -> T:
    """A number that is larger; in a table, each of its numbers."""
    return field(default=default, metadata={_ABOVE: bound})


def at_least(bound: float, default: T) -> T:
    return field(default=default, metadata={_AT_LEAST: bound})


def read_section(kind: type[T], data: object, within: SettingPath = ()) -> T:
    """A section from plain data, or the first setting that is wrong."""
    if isinstance(data, kind):
        return data
    if not isinstance(data, Mapping):
        raise WrongSettingError(within, "must be a table of settings")
    known = {one.name: one for one in fields(cast("Any", kind))}
    hints = get_type_hints(kind)
    values = {
        name: _checked(one, _value(hints[name], data[name], (*within, str(name))), within)
        for name, one in known.items()
        if name in data
    }
    for name in data:
        if name not in known:
            raise WrongSettingError((*within, str(name)), f"no such setting{meant(name, known)}")
    for name, one in known.items():
        if name not in values and one.default is MISSING and one.default_factory is MISSING:
            raise WrongSettingError((*within, name), "is missing")
    return kind(**values)


def meant(name: object, known: Iterable[str]) -> str:
    """What to add to an error about a misspelt name."""
    near = get_close_matches(str(name), list(known), n=1, cutoff=0.5)
    return f"; is {near[0]} meant?" if near else ""


def _checked(one: Field[Any], value: Any, within: SettingPath) -> Any:
    name = (*within, one.name)
    numbers = value if isinstance(value, dict) else {"": value}
    for key, number in numbers.items():
        place = (*name, key) if key else name
        if number is None:
            continue
        if _ABOVE in one.metadata and not number > one.metadata[_ABOVE]:
            raise WrongSettingError(place, f"must be more than {one.metadata[_ABOVE]}")
        if _FINITE in one.metadata and not math.isfinite(number):
            raise WrongSettingError(place, "must be finite")
        if _AT_LEAST in one.metadata and not number >= one.metadata[_AT_LEAST]:
            raise WrongSettingError(place, f"must be {one.metadata[_AT_LEAST]} or more")
    return value


def _value(hint: Any, value: object, name: SettingPath) -> Any:
    if isinstance(hint, UnionType):
        if value is None and NoneType in get_args(hint):
            return None
        hint = _member(hint, value, name)
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return _one_of(inner, value, name)
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise WrongSettingError(name, "must be a list")
        return tuple(_value(inner[0], one, (*name, str(at))) for at, one in enumerate(value))
    if origin is dict:
        if not isinstance(value, Mapping):
            raise WrongSettingError(name, "must be a table")
        return {str(key): _value(inner[1], one, (*name, str(key))) for key, one in value.items()}
    return read_section(hint, value, name) if _is_section(hint) else _plain(hint, value, name)


def _member(union: UnionType, value: object, name: SettingPath) -> Any:
    """The type that is meant: besides None there is one, or a text and a section."""
    members = [one for one in get_args(union) if one is not NoneType]
    if len(members) == 1:
        return members[0]
    (section,) = (one for one in members if _is_section(one))
    if not isinstance(value, str | Mapping | section):
        parts = ", ".join(one.name for one in fields(section))
        raise WrongSettingError(name, f"must be a text or a table of {parts}")
    return str if isinstance(value, str) else section


def _is_section(hint: Any) -> bool:
    return is_dataclass(hint)


def _one_of(choices: tuple[Any, ...], value: object, name: SettingPath) -> object:
    if value not in choices:
        *others, last = map(repr, choices)
        raise WrongSettingError(name, f"must be {', '.join(others)} or {last}")
    return value


def _plain(hint: Any, value: object, name: SettingPath) -> Any:
    """From a TOML file's value, or from a variable's text."""
    if type(value) is hint:
        return value
    if hint is bool:
        word = str(value).strip().lower()
        if word not in _BOOLEANS:
            raise WrongSettingError(name, "must be true or false")
        return _BOOLEANS[word]
    if hint in (int, float):
        return _number(hint, value, name)
    if isinstance(value, Path) and hint is Path:
        return value
    if not isinstance(value, str):
        raise WrongSettingError(name, "must be a text")
    if hint is Path and not value.strip():
        raise WrongSettingError(name, "must be a path")
    return hint(value)


def _number(hint: type[int | float], value: object, name: SettingPath) -> int | float:
    wanted = "a whole number" if hint is int else "a number"
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise WrongSettingError(name, f"must be {wanted}")
    try:
        number = float(value)
        if hint is float:
            return number
        whole = int(value) if isinstance(value, int) else int(number)
    except (ValueError, OverflowError):
        raise WrongSettingError(name, f"must be {wanted}") from None
    if whole != number:
        raise WrongSettingError(name, f"must be {wanted}")
    return whole


def states_path(values: Any, path: tuple[str, ...]) -> bool:
    """Whether all of the path is there, or a value that is no table in the place of its rest."""
    for part in path:
        if not isinstance(values, dict):
            return True
        if part not in values:
            return False
        values = values[part]
    return True
