"""`type=`: from the text on the command line to what the program will see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from schedmate.advisor.interpret.python.context import Context
from schedmate.advisor.interpret.python.values import (
    UNKNOWN_DATA,
    Dotted,
    LibraryObject,
    LocalClass,
    LocalFunction,
    Partial,
    Value,
)
from schedmate.advisor.options.given import Given
from schedmate.advisor.options.text import boolean, literal, number

_LITERALS = {"eval", "literal_eval", "loads", "safe_load", "load", "full_load"}
_TEXTS = {"str", "Path", "PurePath", "PosixPath", "open", "abspath", "expanduser", "FileType"}
_BOOLEAN_WORDS = ("bool", "true_or_false", "truefalse", "boolean")


def name_of(value: Value | None) -> str:
    """The dotted name of a type, function or class: `int`, `pathlib.Path`, `str2bool`."""
    data = None if value is None else value.data
    if isinstance(data, Dotted):
        return data.name.removeprefix("builtins.")
    if isinstance(data, (LocalFunction, LocalClass)):
        return data.name
    if isinstance(data, LibraryObject):
        return data.kind
    return ""


def convert(kind: Value | None, word: Given, context: Context) -> Value:
    """What `type=kind` makes of a word; the word itself where there is no type."""
    if kind is None or kind.data is None or not word.known:
        return word.value
    last = name_of(kind).rpartition(".")[2]
    if last in _CONVERSIONS:
        return word.holding(_CONVERSIONS[last](word.text))
    if last in _LITERALS:
        return literal(word)
    if isinstance(kind.data, (LocalFunction, Partial)):
        return _interpreted(kind, word, context, last)
    if _says_boolean(last):
        return _boolean(word)
    return word.value


def _interpreted(kind: Value, word: Given, context: Context, name: str) -> Value:
    """The job's own conversion; where interpreting it does not tell, what its name promises."""
    result = context.invoke(kind, [word.value])
    if result.known and (result.data is not None or word.text.lower() in ("none", "null", "")):
        return Value(result.data, word.lines, word.source)
    if _says_boolean(name):
        return _boolean(word)
    parsed = number(word.text)
    return word.holding(parsed if parsed is not None else word.text)


def _says_boolean(name: str) -> bool:
    return any(word in name.lower() for word in _BOOLEAN_WORDS)


def _boolean(word: Given) -> Value:
    parsed = boolean(word.text)
    return word.holding(UNKNOWN_DATA if parsed is None else parsed)


def _integer(text: str) -> Any:
    found = number(text)
    return found if isinstance(found, int) else UNKNOWN_DATA


def _float(text: str) -> Any:
    found = number(text)
    return UNKNOWN_DATA if found is None else float(found)


_CONVERSIONS: dict[str, Callable[[str], Any]] = {
    "int": _integer,
    "float": _float,
    "bool": bool,
    "strtobool": boolean,
    "complex": lambda _: UNKNOWN_DATA,
    **dict.fromkeys(_TEXTS, str),
}
