"""Methods of str."""

from __future__ import annotations

import re

from schedmate.advisor.interpret.python.engine import Arguments, Engine, NativeMethod, Site
from schedmate.advisor.interpret.python.iteration import items_of
from schedmate.advisor.interpret.python.known_prefix import before_holes
from schedmate.advisor.interpret.python.natives.base import MAX_ITEMS, MAX_TEXT, all_plain
from schedmate.advisor.interpret.python.truth import derived
from schedmate.advisor.interpret.python.values import UNKNOWN, Sequence, Value

_SAFE = [
    "lower",
    "upper",
    "strip",
    "lstrip",
    "rstrip",
    "title",
    "capitalize",
    "swapcase",
    "casefold",
    "startswith",
    "endswith",
    "find",
    "rfind",
    "count",
    "isdigit",
    "isnumeric",
    "isalpha",
    "isalnum",
    "isupper",
    "islower",
    "isidentifier",
    "isspace",
    "isdecimal",
    "removeprefix",
    "removesuffix",
    "index",
]
_BRACES = re.compile(r"\{([^{}]{0,200})\}?")
_PLAIN_HOLE = re.compile(r"\w{0,80}(?::[<>^+ 0-]?\d{0,2}(?:\.\d{1,2})?[a-z%]?)?")
"""No attribute, no item, and no width that would cost memory."""
_SPLITS = ["split", "rsplit", "splitlines", "partition", "rpartition"]


def _plain_method(name: str) -> NativeMethod:
    def asked(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
        if not isinstance(receiver.data, str):
            return None
        given = [
            tuple(part.data for part in value.data.items)
            if isinstance(value.data, Sequence)
            else value.data
            for value in arguments.positional
        ]
        try:
            result = getattr(receiver.data, name)(*given)
        except (TypeError, ValueError):
            return UNKNOWN
        return derived(result, receiver)

    return asked


def _splitting(name: str) -> NativeMethod:
    def asked(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
        if not isinstance(receiver.data, str):
            return None
        if not all_plain(arguments):
            return UNKNOWN
        words = {key: value.data for key, value in arguments.keywords.items()}
        try:
            parts = getattr(receiver.data, name)(*(v.data for v in arguments.positional), **words)
        except (TypeError, ValueError):
            return UNKNOWN
        items = [Value(part, receiver.lines, receiver.source) for part in parts[:MAX_ITEMS]]
        return Value(Sequence(items), receiver.lines, receiver.source)

    return asked


def _replace(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
    if not isinstance(receiver.data, str):
        return None
    match arguments.positional:
        case [Value(data=str(old)), Value(data=str(new))] if (
            len(new) <= len(old) or len(receiver.data) * max(1, len(new)) <= MAX_TEXT
        ):
            return derived(receiver.data.replace(old, new), receiver)
    return UNKNOWN


def _join(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
    if not isinstance(receiver.data, str) or not arguments.positional:
        return None
    items = items_of(engine, arguments.positional[0])
    if items is None or not all(isinstance(item.data, str) for item in items):
        return UNKNOWN
    text = receiver.data.join(item.data for item in items)
    return derived(text, *(items or [receiver])) if len(text) <= MAX_TEXT else UNKNOWN


def _format(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
    if not isinstance(receiver.data, str):
        return None
    holes = _BRACES.findall(receiver.data.replace("{{", "").replace("}}", ""))
    if not all_plain(arguments) or not all(_PLAIN_HOLE.fullmatch(hole) for hole in holes):
        return before_holes(receiver, arguments.positional)
    words = {key: value.data for key, value in arguments.keywords.items()}
    try:
        text = receiver.data.format(*(value.data for value in arguments.positional), **words)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        return UNKNOWN
    given = (*arguments.positional, *arguments.keywords.values())
    return derived(text, *given, receiver) if len(text) <= MAX_TEXT else UNKNOWN


TEXT_METHODS: dict[str, NativeMethod] = {
    **{name: _plain_method(name) for name in _SAFE},
    **{name: _splitting(name) for name in _SPLITS},
    "replace": _replace,
    "join": _join,
    "format": _format,
}
