"""Text that a shell reads once more, as `eval` and `bash -c` do, put together from pieces.

What was stated elsewhere becomes a variable in it, so that it keeps its own lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from schedmate.advisor.interpret.shell.words import Piece, Pieces

_CODE = frozenset("\"'`$\\;&|<>(){}#*?!~")
_ENDS_COMMAND = re.compile(r"[;&|\n(]")


def as_code(pieces: Sequence[Piece]) -> tuple[str, dict[str, Pieces]]:
    """The text, and the values of the variables that stand in it."""
    first = beginning(pieces)
    writer = _Writer(first and first.at, any("<<" in each.text for each in pieces))
    for piece in pieces:
        writer.add(piece)
    return writer.text, writer.values


def beginning(pieces: Sequence[Piece]) -> Piece | None:
    """The piece whose line the text starts at: of a variable with lines of commands its own."""
    for piece in pieces:
        if piece.text and any(map(_is_command, piece.text.split("\n")[1:])):
            return piece
        if piece.text:
            break
    return pieces[0] if pieces else None


def doubts(pieces: Iterable[Piece]) -> set[str]:
    """The unknown texts in it that a shell which reads it again would not know as such."""
    return {piece.text for piece in pieces if not piece.known and piece.text}


class _Writer:
    def __init__(self, start: object, has_documents: bool) -> None:  # noqa: FBT001 - private
        self._texts: list[str] = []
        self.values: dict[str, Pieces] = {}
        self._start = start
        self._has_documents = has_documents
        self._quote = ""
        self._begun = False
        """Whether a program was named, so that `a=b` is an argument of it."""
        self._in_word = False

    @property
    def text(self) -> str:
        return "".join(self._texts)

    def add(self, piece: Piece) -> None:
        if not self._is_value(piece):
            self._put(piece.text)
            return
        name = f"_VALUE_{len(self.values)}_"
        self.values[name] = (replace(piece, splits=False, ends_word=False),)
        self._put(f"${{{name}}}")

    def _is_value(self, piece: Piece) -> bool:
        lines = piece.text.split("\n")[1:]
        if any(_is_command(line) for line in lines):
            return False
        elsewhere = piece.at != self._start or bool(lines)
        if self._has_documents or not elsewhere or self._quote == "'" or not piece.known:
            return False
        if not piece.text.strip() or _CODE & set(piece.text):
            return False
        return "=" not in piece.text or self._begun

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
