"""What is done with runs of text: joined, split into words, compared, quoted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from schedmate.advisor.interpret.shell.words import Book, Piece, Pieces, Place, Word
from schedmate.model import Evidence

_BLANKS = re.compile(r"(\s+)")
_MAX_TEXT = 100_000
_MAX_LINES = 3


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
    if word.pieces and text_of(word.pieces) == word.text and known(word.pieces) == word.known:
        return tuple(
            Piece(piece.text, piece.at, known=piece.known, filled=piece.filled)
            for piece in word.pieces
        )
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
    return Word(text, tuple(lines)[:_MAX_LINES], known(pieces), tuple(pieces))


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
        current.append(piece)
        return current
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


def in_one(pieces: Iterable[Piece]) -> Pieces:
    """As one text, as in an assignment: words of their own get blanks between."""
    whole: list[Piece] = []
    for piece in pieces:
        if whole and whole[-1].ends_word:
            whole[-1] = replace(whole[-1], ends_word=False)
            whole.append(Piece(" ", piece.at))
        whole.append(piece)
    if whole and whole[-1].ends_word:
        whole[-1] = replace(whole[-1], ends_word=False)
    return tuple(whole)


def separate(items: Iterable[Pieces]) -> Pieces:
    """Elements as words of their own."""
    pieces: list[Piece] = []
    for item in items:
        body = item or ()
        pieces += body[:-1]
        if body:
            pieces.append(replace(body[-1], splits=False, ends_word=True))
    return tuple(pieces)
