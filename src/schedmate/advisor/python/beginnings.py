"""Texts of which only the beginning is known: `f"runs/{name}/epoch_{epoch}.pt"`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from schedmate.advisor.python.truth import derived
from schedmate.advisor.python.values import NOBODY_KNOWS, UNKNOWN, Begun, Value
from schedmate.model import Evidence, Source

_HOLE = re.compile(r"%|\{")
_SITE_VARIABLE = re.compile(r"\$(?:[A-Za-z_]\w{0,80}|\{[A-Za-z_]\w{0,80}\})/", re.ASCII)
_UNSET = re.compile(r"[$`]")
_MAX_TEXT = 2_000


def beginning(parts: Iterable[Value], glue: str = "") -> Value:
    """The parts one after another, as far as they are known; unknown if not even the first is."""
    known: list[Value] = []
    text = ""
    for part in parts:
        data = part.begins if isinstance(part, Begun) else part.data
        if not isinstance(data, str):
            break
        text = data if glue and data.startswith(glue) else f"{text}{data}"
        known.append(part)
        if isinstance(part, Begun):
            break
        text = f"{text.rstrip(glue)}{glue}" if glue else text
    return _begun(text, known)


def before_holes(template: Value) -> Value:
    """What a `%` or `{}` template has before its first hole."""
    if not isinstance(template.data, str):
        return NOBODY_KNOWS
    return _begun(_HOLE.split(template.data, maxsplit=1)[0], [template])


def unset_in(text: str, lines: tuple[Evidence, ...], source: Source) -> Value:
    """A word of a script with variables in it that nobody sets.

    A path below one that the site sets is called by that name, as people do: `$SCRATCH/run`.
    """
    place = _SITE_VARIABLE.match(text)
    start = place.end() if place is not None else 0
    hole = _UNSET.search(text, start)
    if hole is None:
        return Value(text if start else UNKNOWN, lines, source)
    begins = text[: hole.start()]
    return Begun(UNKNOWN, lines, source, begins=begins) if begins else Value(UNKNOWN, lines, source)


def _begun(text: str, known: list[Value]) -> Value:
    if not text or len(text) > _MAX_TEXT:
        return NOBODY_KNOWS
    told = derived(UNKNOWN, *known)
    return Begun(UNKNOWN, told.lines, told.source, begins=text)
