"""Runs of text that know where they stand, so that a value which travelled through variables,
functions and scripts still has the line that states it as its evidence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from schedmate.advisor.shell.words import Word
from schedmate.advisor.sources import SourceFile, evidence
from schedmate.model import Evidence

_BLANKS = re.compile(r"(\s+)")
_MAX_TEXT = 100_000
_MAX_LINES = 3


class Book:
    """A text whose lines are evidence; each is made once."""

    __slots__ = ("_lines", "_quoted", "_shown", "name")

    def __init__(self, source: SourceFile, quoted: tuple[Evidence, ...] | None = None) -> None:
        self.name = source.name
        self._lines = source.lines() if quoted is None else []
        self._quoted = quoted
        self._shown: dict[int, tuple[Evidence, ...]] = {}

    @classmethod
    def quoting(cls, lines: tuple[Evidence, ...]) -> Book:
        """Text that came from elsewhere and has its evidence with it."""
        return cls(SourceFile("", ""), lines)

    def evidence(self, line: int) -> tuple[Evidence, ...]:
        if self._quoted is not None:
            return self._quoted
        if line not in self._shown:
            text = self._lines[line - 1] if 0 < line <= len(self._lines) else ""
            self._shown[line] = (evidence(self.name, line, text),)
        return self._shown[line]


Place = tuple[Book, int]


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    at: Place
    known: bool = True
    splits: bool = False
    """Whether blanks in it separate words: it came from an unquoted variable."""
    ends_word: bool = False
    """An element of an array, or one of the script's arguments, that is a word by itself."""
    filled: bool | None = None
    """Of an unknown piece: whether there is any text; False where nothing seems to set it."""


Pieces = tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Array:
    """Elements by subscript; whole arrays that nobody knows are unknown `Pieces` instead."""

    items: dict[str, Pieces]


Value = Pieces | Array


def unknown(text: str, at: Place, *, filled: bool | None = None) -> Pieces:
    return (Piece(text, at, known=False, filled=filled),)


def plain(text: str, at: Place) -> Pieces:
    return (Piece(text, at),)


def quote(word: Word) -> Pieces:
    """A word of another script, or of the command line, as it stands."""
    return (Piece(word.text, (Book.quoting(word.evidence), 1), known=word.known),)


def text_of(pieces: Iterable[Piece]) -> str:
    return "".join(piece.text for piece in pieces)


def known(pieces: Iterable[Piece]) -> bool:
    return all(piece.known for piece in pieces)


def same(one: Value | None, other: Value | None) -> bool:
    """Whether two values are known to be equal, wherever they were stated."""
    if isinstance(one, Array) or isinstance(other, Array):
        if not (isinstance(one, Array) and isinstance(other, Array)):
            return False
        keys = one.items.keys() | other.items.keys()
        return all(same(one.items.get(key), other.items.get(key)) for key in keys)
    if one is None or other is None:
        return one is other
    return one == other or (known(one) and known(other) and text_of(one) == text_of(other))


def word(pieces: Sequence[Piece], at: Place) -> Word:
    """The lines that state the text first, the line that uses it last."""
    stated = [piece for piece in pieces if piece.text] or pieces
    lines: dict[Evidence, None] = {}
    for place in dict.fromkeys((*(piece.at for piece in reversed(stated)), at)):
        lines |= dict.fromkeys(place[0].evidence(place[1]))
        if len(lines) > _MAX_LINES:
            break
    text = text_of(pieces)[:_MAX_TEXT]
    return Word(text, tuple(lines)[:_MAX_LINES], known=known(pieces))


def fields(pieces: Iterable[Piece]) -> list[list[Piece]]:
    """Split expanded pieces into words: at blanks of unquoted variables and between elements."""
    words: list[list[Piece]] = []
    current: list[Piece] = []
    for piece in pieces:
        if piece.splits:
            current = _split(piece, current, words)
        else:
            current.append(piece)
            if piece.ends_word:
                words.append(current)
                current = []
    if current:
        words.append(current)
    return words


def _split(piece: Piece, current: list[Piece], words: list[list[Piece]]) -> list[Piece]:
    if not piece.known:
        return [*current, piece]
    book, line = piece.at
    for part in _BLANKS.split(piece.text):
        if part.isspace():
            line += part.count("\n")
            if current:
                words.append(current)
            current = []
        elif part:
            current.append(Piece(part, (book, line)))
    return current


def joined(items: Iterable[Pieces], at: Place) -> Pieces:
    """Elements in one text with blanks between."""
    pieces: list[Piece] = []
    for item in items:
        if pieces:
            pieces.append(Piece(" ", at))
        pieces += item
    return tuple(pieces)


def separate(items: Iterable[Pieces]) -> Pieces:
    """Elements as words of their own."""
    pieces: list[Piece] = []
    for item in items:
        body = item or ()
        pieces += body[:-1]
        if body:
            pieces.append(replace(body[-1], splits=False, ends_word=True))
    return tuple(pieces)
