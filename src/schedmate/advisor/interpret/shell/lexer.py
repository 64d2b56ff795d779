"""Shell text to raw words and operators, with line numbers.

The standard library's shlex knows neither lines nor which quotes were around a `$`, and both
are needed here: a value's evidence is a line, and only unquoted variables are split. A parser
made for editors was measured too: its memory grows with the square of a long pipeline.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

Kind = Literal["word", "operator", "redirect", "newline", "arithmetic"]
_OPERATORS = ("&&", "||", "|&", ";;&", ";;", ";&", ";", "&", "|", "(", ")")
_REDIRECT = re.compile(r"(?:\d{1,3}|\{\w{1,40}\})?(?:&>>?|<<<|<<-?|<>|>>|>\||[<>]&?)")
_DELIMITER = re.compile(r"[ \t]*(\\?)([\"']?)([A-Za-z0-9_.!+@%:-]+)\2")
_CLOSING = {"(": ")", "{": "}"}
_BREAKS = frozenset(" \t\r\n;&|()<>")
_PLAIN = re.compile(r"[^\s;&|()<>\\'\"`$]+")
_INSIDE = re.compile(r"[^\s()\\'\"`$}#]+")
_MAX_DEPTH = 50
_PARENTHESIS = re.compile(r"[()]")
_MAX_ARITHMETIC = 1000
MAX_TOKENS = 100_000


@dataclass(slots=True)
class HereDocument:
    """`literal`: its delimiter was quoted, so nothing in it is expanded."""

    delimiter: str
    tabs: bool
    literal: bool
    text: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Token:
    kind: Kind
    text: str
    line: int
    here: HereDocument | None = None


@dataclass(slots=True)
class _Lexer:
    text: str
    at: int = 0
    line: int = 1
    waiting: list[HereDocument] = field(default_factory=list)
    in_condition: bool = False
    """Between `[[` and `]]`, where `<` and `&&` are words."""

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
        if self.in_condition:
            return self._operator("word") or self._word()
        return self._arithmetic() or self._redirect() or self._operator() or self._word()

    def _line_end(self) -> int:
        end = self.text.find("\n", self.at)
        return len(self.text) if end < 0 else end

    def _newline(self) -> Token:
        token = Token("newline", "\n", self.line)
        self.at += 1
        self.line += 1
        self.in_condition = False
        for document in self.waiting:
            self._read_here_document(document)
        self.waiting.clear()
        return token

    def _read_here_document(self, document: HereDocument) -> None:
        document.line = self.line
        lines: list[str] = []
        while self.at < len(self.text):
            end = self._line_end()
            content = self.text[self.at : end]
            self.at = min(end + 1, len(self.text))
            self.line += 1
            content = content.lstrip("\t") if document.tabs else content
            if content == document.delimiter:
                break
            lines.append(content)
        document.text = "".join(f"{line}\n" for line in lines)

    def _arithmetic(self) -> Token | None:
        """`(( … ))` as one token."""
        if not self.text.startswith("((", self.at):
            return None
        end = self._closing_pair()
        if end is None:
            return None
        token = Token("arithmetic", self.text[self.at + 2 : end], self.line)
        self.at = end + 2
        return token

    def _closing_pair(self) -> int | None:
        """Where the `))` stands that belongs to `((`; None where it opens two subshells."""
        depth = 2
        limit = min(self._line_end(), self.at + _MAX_ARITHMETIC)
        for found in _PARENTHESIS.finditer(self.text, self.at + 2, limit):
            depth += 1 if found[0] == "(" else -1
            if depth == 1:
                return found.start() if self.text.startswith("))", found.start()) else None
        return None

    def _redirect(self) -> Token | None:
        found = _REDIRECT.match(self.text, self.at)
        if found is None or self._process_substitution():
            return None
        token = Token("redirect", found[0], self.line)
        self.at = found.end()
        operator = found[0].lstrip("0123456789")
        if operator in ("<<", "<<-"):
            token = Token("redirect", operator, self.line, self._open_here_document(operator))
        return token

    def _process_substitution(self) -> bool:
        return self.text.startswith(("<(", ">("), self.at)

    def _open_here_document(self, operator: str) -> HereDocument | None:
        found = _DELIMITER.match(self.text, self.at)
        if found is None:
            return None
        literal = bool(found[1] or found[2])
        document = HereDocument(found[3], operator.endswith("-"), literal)
        self.waiting.append(document)
        self.at = found.end()
        return document

    def _operator(self, kind: Kind = "operator") -> Token | None:
        for operator in _OPERATORS:
            if self.text.startswith(operator, self.at):
                self.at += len(operator)
                return Token(kind, operator, self.line)
        if kind == "word" and self.text[self.at] in "<>":
            self.at += 1
            return Token(kind, self.text[self.at - 1], self.line)
        return None

    def _word(self) -> Token:
        start, line = self.at, self.line
        if self._process_substitution():
            self._step(1)
            self._until(")", depth=0)
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "(" and self.text[self.at - 1] == "=" and self.at > start:
                self._until(")", depth=0)
            elif char in _BREAKS:
                break
            else:
                self._part()
        token = Token("word", self.text[start : self.at], line)
        if token.text in ("[[", "]]"):
            self.in_condition = token.text == "[["
        return token

    def _part(self, depth: int = 0) -> None:
        """Step over plain text, quoted text or a substitution."""
        run = (_INSIDE if depth else _PLAIN).match(self.text, self.at)
        if run is not None:
            self.at = run.end()
            return
        char = self.text[self.at]
        following = self.text[self.at + 1 : self.at + 2]
        if char == "\\":
            self._step(2)
        elif char == "'":
            end = self.text.find("'", self.at + 1)
            self._step((len(self.text) if end < 0 else end + 1) - self.at)
        elif char in '"`':
            self._until(char, depth)
        elif char == "$" and following in _CLOSING:
            self._step(1)
            self._until(_CLOSING[following], depth)
        else:
            self._step(1)

    def _until(self, closing: str, depth: int) -> None:
        opening = self.text[self.at]
        self._step(1)
        while self.at < len(self.text) and self.text[self.at] != closing:
            char = self.text[self.at]
            if depth > _MAX_DEPTH or (opening == '"' and char == "'"):
                self._step(1)
            elif opening == "(" and char == "#" and self.text[self.at - 1].isspace():
                self._step(self._line_end() - self.at)
            elif opening == "(" and char == "(":
                self._until(")", depth + 1)
            else:
                self._part(depth + 1)
        self._step(1)

    def _step(self, count: int) -> None:
        self.line += self.text.count("\n", self.at, self.at + count)
        self.at = min(self.at + count, len(self.text))


def lex(text: str) -> list[Token]:
    """As many as anyone could want to read."""
    return list(islice(_Lexer(text.replace("\r\n", "\n")).tokens(), MAX_TOKENS))


def extent(raw: str, start: int) -> int:
    """Where a substitution that opens at `start` (its bracket or backtick) has ended."""
    lexer = _Lexer(raw, at=start)
    lexer._until(_CLOSING.get(raw[start], raw[start]), depth=1)  # noqa: SLF001 - same module
    return lexer.at
