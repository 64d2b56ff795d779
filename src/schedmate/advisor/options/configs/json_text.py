"""JSON as values, with comments and trailing commas as editors tolerate them."""

from __future__ import annotations

import json
import re
from typing import Any

from schedmate.advisor.interpret.python.values import Sequence, Table, Value
from schedmate.advisor.options.configs.building import MAX_DEPTH, Builder

_TOKEN = re.compile(
    r"(?P<newline>\n|\r\n?)|(?P<blank>[ \t\ufeff]+)|(?P<comment>//[^\n\r]*|/\*(?:[^*]|\*(?!/))*\*/)"
    r'|(?P<string>"(?:[^"\\\n\r]|\\[^\n\r])*")|(?P<mark>[][{},:])|(?P<word>[-+.\w]{1,400})'
)
_WORDS = {"true": True, "false": False, "null": None, "NaN": float("nan")}
_LONGEST_NUMBER = 64


class _NoJsonError(ValueError):
    pass


def read(text: str, builder: Builder) -> Value | None:
    try:
        parser = _Parser(text, builder)
        root = parser.value(parser.line)
        return root if parser.ended and isinstance(root.data, (Table, Sequence)) else None
    except (_NoJsonError, ValueError):
        return None


class _Parser:
    """One token ahead: `kind` and `piece` are what comes next, `line` where it stands.

    Beyond the budget everything is skipped, and what holds it is not complete.
    """

    def __init__(self, text: str, builder: Builder) -> None:
        self._text = text
        self._builder = builder
        self._at = 0
        self._depth = 0
        self._next_line = 1
        self.line = 1
        self.kind = self.piece = ""
        self._advance()

    @property
    def ended(self) -> bool:
        return self.kind == "end" or self._builder.exhausted

    def _advance(self) -> None:
        while True:
            self.line = self._next_line
            match = _TOKEN.match(self._text, self._at)
            if match is None:
                if self._at < len(self._text):
                    raise _NoJsonError
                self.kind, self.piece = "end", ""
                return
            self._at = match.end()
            self.kind, self.piece = str(match.lastgroup), match[0]
            if self.kind == "newline":
                self._next_line += 1
            elif self.kind == "comment":
                self._next_line += len(re.findall(r"\r\n|\r|\n", self.piece))
            elif self.kind != "blank":
                return

    def value(self, line: int) -> Value:
        """`line` is where the key stands that it belongs to, or the value itself."""
        if not self._builder.spend():
            return self._builder.unknown(line)
        if self.piece == "{" and self.kind == "mark":
            return self._builder.value(self._nested(self._table), line)
        if self.piece == "[" and self.kind == "mark":
            return self._builder.value(self._nested(self._sequence), line)
        value = self._builder.value(self._leaf(), self.line)
        self._advance()
        return value

    def _nested(self, read_one: Any) -> Table | Sequence:
        if self._depth >= MAX_DEPTH:
            raise _NoJsonError
        self._depth += 1
        self._advance()
        found: Table | Sequence = read_one()
        self._depth -= 1
        return found

    def _table(self) -> Table:
        table = Table({})
        while not self._closed("}"):
            if self.kind != "string":
                raise _NoJsonError
            key, line = str(json.loads(self.piece, strict=False)), self.line
            self._advance()
            self._expect(":")
            table.parts[key] = self.value(line)
            if self._builder.exhausted:
                table.complete = False
                break
            if not self._closes("}"):
                self._expect(",")
        return table

    def _sequence(self) -> Sequence:
        sequence = Sequence([])
        while not self._closed("]"):
            sequence.items.append(self.value(self.line))
            if self._builder.exhausted:
                sequence.complete = False
                break
            if not self._closes("]"):
                self._expect(",")
        return sequence

    def _closes(self, mark: str) -> bool:
        return self.kind == "mark" and self.piece == mark

    def _closed(self, mark: str) -> bool:
        if not self._closes(mark):
            return False
        self._advance()
        return True

    def _expect(self, mark: str) -> None:
        if not self._closed(mark):
            raise _NoJsonError

    def _leaf(self) -> Any:
        if self.kind == "string":
            return json.loads(self.piece, strict=False)
        if self.kind != "word" or len(self.piece) > _LONGEST_NUMBER:
            raise _NoJsonError
        if self.piece in _WORDS:
            return _WORDS[self.piece]
        return json.loads(self.piece)
