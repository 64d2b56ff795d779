"""Syntax of Pythons that are newer or older than the one that reads, so that it can parse it.

Lines stay where they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_PREFIX = re.compile(r"(?<![\w'\"])(?:[fF][rR]?|[rR][fF])(?=['\"])|['\"#]")
_IN_FIELD = re.compile(r"[{}'\"\\\n#\[\]()!:]|(?<![\w'\"])(?:[fF][rR]?|[rR][fF])(?=['\"])")
_TYPE_PARAMETERS = re.compile(
    r"^([ \t]*(?:async[ \t]+def|def|class)[ \t]+\w+)\[[^\]\n]{0,200}\](?=[(:])", re.MULTILINE
)
_TYPE_STATEMENT = re.compile(
    r"^([ \t]*)type[ \t]+(\w+)(?:\[[^\]\n]{0,200}\])?[ \t]*=", re.MULTILINE
)
_MAX_NESTED = 2
_TRIPLES = ('"""', "'''")


class _Unfinished(Exception):
    """A string does not end: this is no Python at all."""


def in_older_words(text: str) -> str | None:
    """None where nothing in it is newer."""
    try:
        found = _Scanner(text).rewritten()
    except _Unfinished:
        return None
    found = _TYPE_STATEMENT.sub(r"\1\2 =", _TYPE_PARAMETERS.sub(r"\1", found))
    return None if found == text else found


@dataclass(slots=True)
class _Scanner:
    text: str
    at: int = 0
    out: list[str] = field(default_factory=list)

    def rewritten(self) -> str:
        """All of it; f-strings that quote as they are quoted themselves get longer quotes."""
        while True:
            match = _PREFIX.search(self.text, self.at)
            if match is None:
                self.out.append(self.text[self.at :])
                return "".join(self.out)
            self.out.append(self.text[self.at : match.start()])
            self.at = match.start()
            if match.group() == "#":
                self._copy(_end_of_line(self.text, self.at))
            elif match.group() in "'\"":
                self._copy(_end_of_plain(self.text, self.at))
            else:
                self.at = match.end()
                self.out.append(match.group() + self._formatted(0))

    def _copy(self, end: int) -> None:
        self.out.append(self.text[self.at : end])
        self.at = end

    def _formatted(self, nested: int) -> str:
        """An f-string from its quote on."""
        if nested > _MAX_NESTED:
            raise _Unfinished
        quote = _quote_at(self.text, self.at)
        self.at += len(quote)
        parts: list[str] = []
        changed = False
        while not self.text.startswith(quote, self.at):
            part, field_changed = self._part(quote, nested)
            parts.append(part)
            changed = changed or field_changed
        self.at += len(quote)
        if changed and len(quote) == 1:
            quote = _TRIPLES[nested % 2]
        return quote + "".join(parts) + quote

    def _part(self, quote: str, nested: int) -> tuple[str, bool]:
        """A span of text, or a field in braces, and whether older quotes would end it."""
        text, start = self.text, self.at
        if start >= len(text) or (text[start] == "\n" and len(quote) == 1):
            raise _Unfinished
        if text[start] == "\\" or text.startswith(("{{", "}}"), start):
            self.at = start + 2
            return text[start : self.at], False
        self.at = start + 1
        if text[start] != "{":
            return text[start], False
        return self._field(quote, nested)

    def _field(self, quote: str, nested: int) -> tuple[str, bool]:
        """What stands in braces: an expression, perhaps with strings, perhaps a format."""
        parts, changed, depth = ["{"], False, 0
        while True:
            match = _IN_FIELD.search(self.text, self.at)
            if match is None:
                raise _Unfinished
            parts.append(self.text[self.at : match.start()])
            self.at, sign = match.end(), match.group()
            if sign == "}" and depth == 0:
                return "".join([*parts, "}"]), changed
            if sign == "\n":
                changed = True
            elif sign == ":" and depth == 0:
                inner, more = self._format(quote, nested)
                return "".join([*parts, ":", inner]), changed or more
            elif sign in "'\"":
                changed = changed or sign == quote
                end = _end_of_plain(self.text, match.start())
                sign, self.at = self.text[match.start() : end].replace("\\", "/"), end
            elif sign[0] in "fFrR":
                changed = changed or self.text[self.at] == quote
                sign += self._formatted(nested + 1)
            depth += (sign in ("[", "(", "{")) - (sign in ("]", ")", "}"))
            parts.append(sign)

    def _format(self, quote: str, nested: int) -> tuple[str, bool]:
        parts: list[str] = []
        changed = False
        while not self.text.startswith("}", self.at):
            part, more = self._part(quote, nested)
            parts.append(part)
            changed = changed or more
        self.at += 1
        return "".join([*parts, "}"]), changed


def _quote_at(text: str, at: int) -> str:
    return text[at] * 3 if text.startswith(text[at] * 3, at) else text[at]


def _end_of_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _end_of_plain(text: str, at: int) -> int:
    """Behind a string that begins here."""
    quote = _quote_at(text, at)
    place = at + len(quote)
    while True:
        end = text.find(quote, place)
        if end < 0:
            raise _Unfinished
        backslashes = end - len(text[place:end].rstrip("\\")) - place
        escaped = backslashes % 2 == 1
        if not escaped:
            return end + len(quote)
        place = end + 1


_START = r"^([ \t]*|[^\n#'\"]{0,200}[:;][ \t]*)"
_CAUGHT = r"^([ \t]*except[ \t][^\n:,()]{1,200}|[ \t]*except[ \t]*\([^\n()]{1,200}\))"
_REWRITTEN = (
    (_START + r"print[ \t]*>>[ \t]*([\w.]{1,80})[ \t]*(?=,|$)", r"\1_ = \2"),
    (_START + r"print[ \t]*(?=['\"\w\[{-])", r"\1_ = "),
    (_START + r"print[ \t]+(?=\()", r"\1_ = "),
    (_CAUGHT + r",[ \t]*(\w+)[ \t]*:", r"\1 as \2:"),
    (r"^([ \t]*raise[ \t]+[\w.]{1,80})[ \t]*,[^\n]*$", r"\1"),
    (r"^([ \t]*)exec[ \t]+(?=[\w'\"])[^\n]*$", r"\1pass"),
    (r"(?<![\w.'\"])0([0-7]{2,6})\b(?![.'\"])", r"0o\1"),
    (r"(?<![\w.])(\d{1,20})[lL]\b", r"\1"),
    (r"<>", "!="),
)
_PATTERNS = tuple((re.compile(pattern, re.MULTILINE), new) for pattern, new in _REWRITTEN)


def in_newer_words(text: str) -> str | None:
    """None where nothing in it looks like Python 2."""
    found = text.expandtabs(8) if "\t" in text else text
    for pattern, new in _PATTERNS:
        found = pattern.sub(new, found)
    return None if found == text else found
