"""Texts of which only the beginning is known: `f"runs/{name}/epoch_{epoch}.pt"`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from schedmate.advisor.python.truth import derived
from schedmate.advisor.python.values import NOBODY_KNOWS, UNKNOWN, Value

_HOLE = re.compile(r"%|\{")
_MAX_TEXT = 2_000


@dataclass(frozen=True, slots=True)
class Begun(Value):
    """Unknown as a whole; whatever it is, it begins so."""

    begins: str = ""


def beginning(parts: Iterable[Value], glue: str = "") -> Value:
    """The parts as far as they are known, one after another; unknown where not even the first is."""
    known: list[Value] = []
    text = ""
    for part in parts:
        data = part.begins if isinstance(part, Begun) else part.data
        if not isinstance(data, str):
            break
        text = f"{text}{data}"
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


def _begun(text: str, known: list[Value]) -> Value:
    if not text or len(text) > _MAX_TEXT:
        return NOBODY_KNOWS
    told = derived(UNKNOWN, *known)
    return Begun(UNKNOWN, told.lines, told.source, begins=text)
