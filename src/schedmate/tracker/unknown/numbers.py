"""The numbers in a line, with what stands between them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import clock_seconds

MAX_LENGTH: Final = 1000
"""Of a longer line only the beginning is read."""
_MAX_NUMBERS: Final = 64
_TOO_LARGE: Final = 1e18
"""Digits of a hash or a long identifier."""

Kind = Literal["number", "clock", "other"]
_NUMBER: Final = (
    r"(?:(?<![^\s=:(\[,|])[-+])?"
    r"(?:\d{1,3}(?:,\d{3}){1,5}(?:\.\d{1,20})?(?!\d)"
    r"|\d{1,20}(?:_\d{3}){0,5}(?:\.\d{1,20}|\.(?![A-Za-z\d]))?|\.\d{1,20})"
    r"(?:[eE][-+]?\d{1,3}(?!\w))?"
)
_TOKEN = lazy_pattern(
    r"(?P<stamp>(?<!\d)\d{4}([-/.])\d{2}\2\d{2}(?!\d)"
    r"(?:[T _-]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)?(?:Z|[+-]\d{2}:?\d{2}(?!\d))?)"
    r"|(?P<clock>(?<![\w:.])\d{1,4}:\d{2}(?::\d{2}){0,2}(?:[.,]\d{1,6})?(?![\w:]))"
    r"|(?P<span>(?<![\w.])\d{1,6}(?:\.\d{1,6})?\s?(?:d|hr?|m(?:in)?)\s?"
    r"\d{1,6}(?:\.\d{1,6})?\s?(?:hr?|m(?:in)?|s(?:ec)?)(?:\s?\d{1,6}(?:\.\d{1,6})?\s?s)?(?!\w))"
    r"|(?P<name>0[xX][0-9a-fA-F]{1,40}|(?<![\w.])\d{1,9}(?:\.\d{1,9}){2,6}(?![\w.])"
    r"|(?<!\w)(?!\d{1,20}[eE]\d{1,3}(?!\w))[A-Za-z_]{0,40}\d{1,20}[A-Za-z]{1,40}\d\w{0,60})"
    rf"|(?P<number>{_NUMBER})(?P<suffix>\s?%|[A-Za-zµ]{{1,5}}(?:/[A-Za-z]{{1,6}})?(?!\w))?"
)
BAR = lazy_pattern(r"[\[|(][-=#>.*oO\u2500-\u25ff\u2022\u00b7 ]{3,160}[\])|]")
"""A bar that is drawn with characters."""
_SCALE: Final = {"k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9}


def head_of(line: str) -> str:
    """As much of a line as is read, without half a number at its end."""
    if len(line) <= MAX_LENGTH:
        return line
    head = line[:MAX_LENGTH]
    return head[: head.rfind(" ")] if " " in head else head.rstrip("0123456789.,")


@dataclass(frozen=True, slots=True)
class Token:
    kind: Kind
    start: int
    end: int
    text: str
    """Without its suffix."""
    suffix: str
    value: float | None


def tokens_in(line: str) -> list[Token]:
    """All numbers, times and names with digits in them; a name or a date has no value."""
    found: list[Token] = []
    for match in _TOKEN.finditer(line):
        if match["number"] is not None:
            found.append(_number_token(match))
        elif match["clock"] is not None:
            seconds = clock_seconds(match["clock"].partition(".")[0])
            found.append(Token("clock", match.start(), match.end(), match["clock"], "", seconds))
        else:
            found.append(Token("other", match.start(), match.end(), match[0], "", None))
        if len(found) >= _MAX_NUMBERS:
            break
    return found


def _number_token(match: re.Match[str]) -> Token:
    text, suffix = match["number"], (match["suffix"] or "").strip()
    end = match.end() if suffix in _SCALE or suffix == "%" else match.end("number")
    value = number(text + suffix if suffix in _SCALE else text)
    if value is None or abs(value) >= _TOO_LARGE:
        return Token("other", match.start(), match.end("number"), text, "", None)
    return Token("number", match.start(), end, text, suffix, value)


def number(text: str) -> float | None:
    """`12,000`, `1_000`, `1.5k` and `1e-3` as numbers."""
    try:
        return float(text)
    except ValueError:
        return _decorated(text)


def _decorated(text: str) -> float | None:
    scale = _SCALE.get(text[-1:])
    digits = text[:-1] if scale else text
    try:
        return float(digits.replace(",", "").replace("_", "")) * (scale or 1.0)
    except ValueError:
        return None
