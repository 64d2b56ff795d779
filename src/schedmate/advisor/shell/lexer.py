"""Shell text to raw words and operators, with line numbers.

The standard library's shlex knows neither lines nor which quotes were around a `$`, and both
are needed here: a value's evidence is a line, and only unquoted variables are split.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["word", "operator", "redirect", "newline"]
_OPERATORS = ("&&", "||", ";;", ";", "&", "|", "(", ")")
_REDIRECT = re.compile(r"\d*(?:&>>?|<<<|<<-?|<>|>>|>\||[<>]&?)")
_CLOSING = {"(": ")", "{": "}"}
_MAX_DEPTH = 50


@dataclass(frozen=True, slots=True)
class Token:
    kind: Kind
    text: str
    line: int


@dataclass(slots=True)
class _Lexer:
    text: str
    at: int = 0
    line: int = 1
    here_documents: list[tuple[str, bool]] = field(default_factory=list)

    def tokens(self) -> Iterator[Token]:
        while self.at < len(self.text):
            token = self._next()
            if token is not None:
                yield token

    def _next(self) -> Token | None:
        char = self.text[self.at]
        if char in " \t\r":
            self.at += 1
            return None
        if self.text.startswith("\\\n", self.at):
            self.at += 2
            self.line += 1
            return None
        if char == "#":
            self.at = self._line_end()
            return None
        if char == "\n":
            return self._newline()
        return self._redirect() or self._operator() or self._word()

    def _line_end(self) -> int:
        end = self.text.find("\n", self.at)
        return len(self.text) if end < 0 else end

    def _newline(self) -> Token:
        token = Token("newline", "\n", self.line)
        self.at += 1
        self.line += 1
        for delimiter, tabs in self.here_documents:
            self._skip_here_document(delimiter, tabs=tabs)
        self.here_documents.clear()
        return token

    def _skip_here_document(self, delimiter: str, *, tabs: bool) -> None:
        while self.at < len(self.text):
            end = self._line_end()
            content = self.text[self.at : end]
            self.at = min(end + 1, len(self.text))
            self.line += 1
            if (content.lstrip("\t") if tabs else content) == delimiter:
                return

    def _redirect(self) -> Token | None:
        found = _REDIRECT.match(self.text, self.at)
        if found is None:
            return None
        token = Token("redirect", found[0], self.line)
        self.at = found.end()
        if found[0].lstrip("0123456789") in ("<<", "<<-"):
            self._open_here_document(tabs=found[0].endswith("-"))
        return token

    def _open_here_document(self, *, tabs: bool) -> None:
        found = re.compile(r"[ \t]*\\?([\"']?)([A-Za-z0-9_.!+-]+)\1").match(self.text, self.at)
        if found is not None:
            self.here_documents.append((found[2], tabs))

    def _operator(self) -> Token | None:
        for operator in _OPERATORS:
            if self.text.startswith(operator, self.at):
                self.at += len(operator)
                return Token("operator", operator, self.line)
        return None

    def _word(self) -> Token:
        start, line = self.at, self.line
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "(" and self.text[self.at - 1] == "=" and self.at > start:
                self._array()
            elif char in " \t\r\n;&|()<>":
                break
            else:
                self._part()
        return Token("word", self.text[start : self.at], line)

    def _array(self) -> None:
        self._until(")", depth=0)

    def _part(self, depth: int = 0) -> None:
        """Step over one character, quoted text or substitution."""
        char = self.text[self.at]
        following = self.text[self.at + 1 : self.at + 2]
        if char == "\\":
            self._step(2)
        elif char == "'":
            end = self.text.find("'", self.at + 1)
            self._step((len(self.text) if end < 0 else end + 1) - self.at)
        elif char in '"`':
            self._until(char, depth)
        elif char == "$" and following in ("(", "{"):
            self._step(1)
            self._until(_CLOSING[following], depth)
        else:
            self._step(1)

    def _until(self, closing: str, depth: int) -> None:
        opening = self.text[self.at]
        self._step(1)
        while self.at < len(self.text) and self.text[self.at] != closing:
            if depth > _MAX_DEPTH or (opening == '"' and self.text[self.at] == "'"):
                self._step(1)
            elif opening == "(" and self.text[self.at] == "(":
                self._until(")", depth + 1)
            else:
                self._part(depth + 1)
        self._step(1)

    def _step(self, count: int) -> None:
        self.line += self.text.count("\n", self.at, self.at + count)
        self.at = min(self.at + count, len(self.text))


def lex(text: str) -> Iterator[Token]:
    return _Lexer(text.replace("\r\n", "\n")).tokens()
