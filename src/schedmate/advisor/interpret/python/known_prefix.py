"""Texts of which only the beginning is known: `f"runs/{name}/epoch_{epoch}.pt"`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from schedmate.advisor.interpret.python.truth import derived
from schedmate.advisor.interpret.python.values import UNKNOWN, UNKNOWN_DATA, KnownPrefix, Value
from schedmate.model import Evidence, Source

_HOLE = re.compile(r"(%s|\{\})|%[^%s]|\{")
"""A hole that takes the next text, or any other."""
_SITE_VARIABLE = re.compile(r"\$(?:[A-Za-z_]\w{0,80}|\{[A-Za-z_]\w{0,80}\})/", re.ASCII)
_UNSET = re.compile(r"[$`]")
_MAX_TEXT = 2_000


def beginning(parts: Iterable[Value], glue: str = "") -> Value:
    """The parts one after another, as far as they are known; unknown if not even the first is."""
    known: list[Value] = []
    text = ""
    for part in parts:
        data = part.begins if isinstance(part, KnownPrefix) else part.data
        if not isinstance(data, str):
            break
        text = data if glue and data.startswith(glue) else f"{text}{data}"
        known.append(part)
        if isinstance(part, KnownPrefix):
            break
        text = f"{text.rstrip(glue)}{glue}" if glue else text
    return _begun(text, known)


def before_holes(template: Value, values: Sequence[Value] = ()) -> Value:
    """What a `%` or `{}` template has before the first unknown hole."""
    if not isinstance(template.data, str):
        return UNKNOWN
    text, known, start = "", [template], 0
    for hole, value in zip(_HOLE.finditer(template.data), (*values, UNKNOWN), strict=False):
        text += template.data[start : hole.start()]
        start = hole.end()
        data = value.begins if isinstance(value, KnownPrefix) else value.data
        if not isinstance(data, str) or not hole[1]:
            return _begun(text, known)
        text += data
        known.insert(0, value)
        if isinstance(value, KnownPrefix):
            return _begun(text, known)
    return _begun(text + template.data[start:], known)


def unset_in(text: str, lines: tuple[Evidence, ...], source: Source) -> Value:
    """A word of a script with variables in it that are not set.

    A path below one that the site sets is called by that name, as people do: `$SCRATCH/run`.
    """
    place = _SITE_VARIABLE.match(text)
    start = place.end() if place is not None else 0
    hole = _UNSET.search(text, start)
    if hole is None:
        return Value(text if start else UNKNOWN_DATA, lines, source)
    begins = text[: hole.start()]
    return (
        KnownPrefix(UNKNOWN_DATA, lines, source, begins=begins)
        if begins
        else Value(UNKNOWN_DATA, lines, source)
    )


def _begun(text: str, known: list[Value]) -> Value:
    if not text or len(text) > _MAX_TEXT:
        return UNKNOWN
    whole = derived(UNKNOWN_DATA, *known)
    return KnownPrefix(UNKNOWN_DATA, whole.lines, whole.source, begins=text)
