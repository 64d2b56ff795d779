"""Values as hydra's command line has them: `[1,2]`, `{a:1}`, `'text'`, `1e-3`, `a,b` (a sweep)."""

from __future__ import annotations

from typing import Any

from schedmate.advisor.interpret.python.values import UNKNOWN_DATA, Sequence, Table, Value
from schedmate.advisor.options.configs.building import number
from schedmate.model import Evidence, Source

_MAX_LENGTH = 20_000
_MAX_DEPTH = 24
_ENDS = ",]})"


class _NotAValueError(ValueError):
    pass


def parse(text: str, lines: tuple[Evidence, ...], source: Source) -> Value:
    """Unknown for a sweep, which is several values, and for what hydra would refuse."""
    if len(text) > _MAX_LENGTH:
        return Value(UNKNOWN_DATA, lines, source)
    parser = _Parser(text, lines, source)
    try:
        value = parser.element(0)
    except _NotAValueError:
        return Value(UNKNOWN_DATA, lines, source)
    return value if parser.at_end else Value(UNKNOWN_DATA, lines, source)


def primitive(text: str) -> str | int | float | bool | None:
    """An unquoted word; unlike YAML, `on` and `1:30` are words here."""
    lowered = text.lower()
    if lowered in ("true", "false"):
        return lowered == "true"
    if lowered in ("null", ""):
        return None if lowered else ""
    found = None if ":" in text or lowered[:2] in ("0x", "0o", "0b") else number(text)
    return text if found is None else found


class _Parser:
    def __init__(self, text: str, lines: tuple[Evidence, ...], source: Source) -> None:
        self._text = text
        self._at = 0
        self._lines = lines
        self._source = source

    @property
    def at_end(self) -> bool:
        return self._at >= len(self._text)

    @property
    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def _made(self, data: Any) -> Value:
        return Value(data, self._lines, self._source)

    def element(self, depth: int, ends: str = _ENDS) -> Value:
        if depth > _MAX_DEPTH:
            raise _NotAValueError
        self._skip_blanks()
        if self._next == "[":
            return self._made(self._list(depth))
        if self._next == "{":
            return self._made(self._dict(depth))
        if self._next in ("'", '"'):
            return self._made(self._quoted())
        word = self._word(ends)
        if self._next == "(":
            raise _NotAValueError
        return self._made(primitive(word))

    def _list(self, depth: int) -> Sequence:
        items: list[Value] = []
        self._at += 1
        while not self._closed("]"):
            items.append(self.element(depth + 1))
            self._separated("]")
        return Sequence(items)

    def _dict(self, depth: int) -> Table:
        parts: dict[str, Value] = {}
        self._at += 1
        while not self._closed("}"):
            key = self.element(depth + 1, ":" + _ENDS)
            self._skip_blanks()
            if self._next != ":":
                raise _NotAValueError
            self._at += 1
            parts[str(key.data)] = self.element(depth + 1)
            self._separated("}")
        return Table(parts)

    def _closed(self, mark: str) -> bool:
        self._skip_blanks()
        if self._next != mark:
            return False
        self._at += 1
        return True

    def _separated(self, end: str) -> None:
        self._skip_blanks()
        if self._next == ",":
            self._at += 1
        elif self._next != end:
            raise _NotAValueError

    def _skip_blanks(self) -> None:
        while self._next in (" ", "\t") and not self.at_end:
            self._at += 1

    def _quoted(self) -> str:
        quote = self._next
        pieces: list[str] = []
        self._at += 1
        while not self.at_end and self._next != quote:
            if self._text.startswith(("\\" + quote, "\\\\"), self._at):
                self._at += 1
            pieces.append(self._next)
            self._at += 1
        if self.at_end:
            raise _NotAValueError
        self._at += 1
        return "".join(pieces)

    def _word(self, ends: str) -> str:
        """Up to what ends it; `${…}` belongs to it with all its braces."""
        pieces: list[str] = []
        braces = 0
        while not self.at_end and (braces or (self._next not in ends and self._next != "(")):
            if self._next == "\\" and not braces:
                self._at += 1
            elif self._text.startswith("${", self._at) or (braces and self._next == "{"):
                braces += 1
                pieces.append("$" if self._next == "$" else "")
                self._at += self._next == "$"
            elif braces and self._next == "}":
                braces -= 1
            pieces.append(self._next)
            self._at += 1
        return "".join(pieces).strip()
