"""How readers make values: with the line of the file, and within a budget."""

from __future__ import annotations

from typing import Any

from schedmate.advisor.interpret.python.values import UNKNOWN_DATA, Value
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
