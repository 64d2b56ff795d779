"""Text that a shell reads once more, as `eval` and `bash -c` do, put together from spans.

What was stated elsewhere becomes a variable in it, so that it keeps its own lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from schedmate.advisor.interpret.shell.words import Span, Spans

_CODE = frozenset("\"'`$\\;&|<>(){}#*?!~")
_ENDS_COMMAND = re.compile(r"[;&|\n(]")


def as_code(spans: Sequence[Span]) -> tuple[str, dict[str, Spans]]:
    """The text, and the values of the variables that stand in it."""
    first = beginning(spans)
    writer = _Writer(first and first.at, any("<<" in each.text for each in spans))
    for span in spans:
        writer.add(span)
    return writer.text, writer.values


def beginning(spans: Sequence[Span]) -> Span | None:
    """The span whose line the text starts at: of a variable with lines of commands its own."""
    for span in spans:
        if span.text and any(map(_is_command, span.text.split("\n")[1:])):
            return span
        if span.text:
            break
    return spans[0] if spans else None


def doubts(spans: Iterable[Span]) -> set[str]:
    """The unknown texts in it that a shell which reads it again would not know as such."""
    return {span.text for span in spans if not span.known and span.text}


class _Writer:
    def __init__(self, start: object, has_documents: bool) -> None:  # noqa: FBT001 - private
        self._texts: list[str] = []
        self.values: dict[str, Spans] = {}
        self._start = start
        self._has_documents = has_documents
        self._quote = ""
        self._begun = False
        """Whether a program was named, so that `a=b` is an argument of it."""
        self._in_word = False

    @property
    def text(self) -> str:
        return "".join(self._texts)

    def add(self, span: Span) -> None:
        if not self._is_value(span):
            self._put(span.text)
            return
        name = f"_VALUE_{len(self.values)}_"
        self.values[name] = (replace(span, splits=False, ends_word=False),)
        self._put(f"${{{name}}}")

    def _is_value(self, span: Span) -> bool:
        lines = span.text.split("\n")[1:]
        if any(_is_command(line) for line in lines):
            return False
        elsewhere = span.at != self._start or bool(lines)
        if self._has_documents or not elsewhere or self._quote == "'" or not span.known:
            return False
        if not span.text.strip() or _CODE & set(span.text):
            return False
        return "=" not in span.text or self._begun

    def _put(self, text: str) -> None:
        self._texts.append(text)
        self._quote = _quote_behind(text, self._quote)
        *before, command = _ENDS_COMMAND.split(text)
        if before:
            self._begun = self._in_word = False
        glued = self._in_word and not command[:1].isspace()
        words = command.split()[1 if glued else 0 :]
        self._begun = self._begun or any("=" not in word for word in words)
        self._in_word = not command[-1].isspace() if command else self._in_word


def _is_command(line: str) -> bool:
    """Whether a line of its own is a command, not more arguments of the one before."""
    words = line.split()
    return bool(words) and not words[0].startswith("-") and "=" not in words[0]


def _quote_behind(text: str, quote: str) -> str:
    """The quote that is open at the end of a text, "" for none."""
    escaped = False
    for char in text:
        if escaped:
            escaped = False
        elif char == "\\" and quote != "'":
            escaped = True
        elif char == quote:
            quote = ""
        elif char in "'\"" and not quote:
            quote = char
    return quote
