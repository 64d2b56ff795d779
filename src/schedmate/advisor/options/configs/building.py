"""How readers make values: with the line of the file, and within a budget."""

from __future__ import annotations

import math
import re
from typing import Any

from schedmate.advisor.interpret.python.values import UNKNOWN_DATA, Value
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.interpret.shell.words import source_of
from schedmate.advisor.sources.files import SourceFile, evidence
from schedmate.model import Evidence

MAX_DEPTH = 48
MAX_NODES = 30_000


class Builder:
    """Makes the values of one file. `spend` says whether there is room for more of them."""

    def __init__(self, source: SourceFile) -> None:
        self._name = source.name
        self._lines = source.lines()
        self._shown: dict[int, Evidence] = {}
        self._left = MAX_NODES

    def spend(self) -> bool:
        self._left -= 1
        return self._left >= 0

    @property
    def exhausted(self) -> bool:
        return self._left < 0

    def line(self, number: int) -> Evidence:
        """A line by its number, counted from one."""
        shown = self._shown.get(number)
        if shown is None:
            text = self._lines[number - 1] if 0 < number <= len(self._lines) else ""
            shown = self._shown[number] = evidence(self._name, number, text)
        return shown

    def value(self, data: Any, line: int) -> Value:
        return Value(data, (self.line(line),), "config")

    def unknown(self, line: int) -> Value:
        return self.value(UNKNOWN_DATA, line)


_TRUE = frozenset({"true", "yes", "on"})
_FALSE = frozenset({"false", "no", "off"})
_NULL = frozenset({"", "~", "null"})
_LONGEST_NUMBER = 64
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9_]*)")
_OCTAL = re.compile(r"([-+]?)0o?([0-7_]+)")
_HEXADECIMAL = re.compile(r"[-+]?0x[0-9a-fA-F_]+")
_BINARY = re.compile(r"[-+]?0b[01_]+")
_FLOAT = re.compile(
    r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?"
    r"|[0-9][0-9_]*[eE][-+]?[0-9]+"
    r"|\.[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?)"
)
_SEXAGESIMAL = re.compile(r"[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+")
_SPECIAL = {".inf": math.inf, "+.inf": math.inf, "-.inf": -math.inf, ".nan": math.nan}

Scalar = str | int | float | bool | None


def plain(text: str) -> Scalar:
    """A plain YAML scalar. `1e-4` is a number here: PyYAML calls it a string, which no one who
    writes a learning rate means, and every trainer turns it back into a number.
    """
    lowered = text.lower()
    if lowered in _NULL:
        return None
    if lowered in _TRUE or lowered in _FALSE:
        return lowered in _TRUE if text in (lowered, lowered.title(), lowered.upper()) else text
    found = number(text)
    return text if found is None else found


def number(text: str) -> int | float | None:
    """The number that a plain YAML scalar is; None where it is none."""
    if not text or len(text) > _LONGEST_NUMBER or text[0] not in "+-.0123456789":
        return None
    if text.lower() in _SPECIAL:
        return _SPECIAL[text.lower()]
    if _INTEGER.fullmatch(text):
        return int(text.replace("_", ""))
    if _FLOAT.fullmatch(text):
        return float(text.replace("_", ""))
    return _odd_integer(text)


def _odd_integer(text: str) -> int | None:
    bare = text.replace("_", "")
    octal = _OCTAL.fullmatch(text)
    try:
        if octal is not None:
            return int(f"{octal[1]}{octal[2]}".replace("_", ""), 8)
        if _HEXADECIMAL.fullmatch(text):
            return int(bare, 16)
        if _BINARY.fullmatch(text):
            return int(bare, 2)
    except ValueError:  # only underscores behind the prefix
        return None
    return _sixties(bare) if _SEXAGESIMAL.fullmatch(text) else None


def _sixties(text: str) -> int:
    """`1:30:00` is 5400 to YAML 1.1."""
    total = 0
    for part in text.lstrip("+-").split(":"):
        total = total * 60 + int(part)
    return -total if text.startswith("-") else total


def value_of(word: Word) -> Value:
    """The word itself; unknown where a variable in it is."""
    return made_of(word, word.text)


def made_of(word: Word, data: Any) -> Value:
    """What was read out of a word."""
    return Value(data if word.known else UNKNOWN_DATA, word.evidence, source_of(word.evidence))
