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
_MAX_SIDES = 4


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


def either(name: str, one: Value | None, other: Value | None, at: Place) -> Value:
    """What a variable is behind a branch whose sides set it differently: as much of it as both
    begin with, then something unknown that knows its sides."""
    if isinstance(one, Array) and isinstance(other, Array):
        mine, theirs = list(one.items.values()), list(other.items.values())
        count = _shared(mine, theirs)
        rest = _undecided(name, separate(mine[count:]), separate(theirs[count:]), at)
        return Array({str(index): item for index, item in enumerate([*mine[:count], rest])})
    left, right = _as_text(one), _as_text(other)
    count = _shared(left, right)
    first = (*left[count:], *right[count:])[:1]
    shared = left[:count]
    if not text_of(shared) or not first:
        return _undecided(name, left, right, at)
    if not text_of(shared)[-1].isspace() and not first[0].text[:1].isspace():
        return _undecided(name, left, right, at)
    blank = Piece(" ", at)
    return (*shared, blank, *_undecided(name, left[count:], right[count:], at))


def _as_text(value: Value | None) -> Pieces:
    return separate(value.items.values()) if isinstance(value, Array) else value or ()


def _shared(one: Sequence[object], other: Sequence[object]) -> int:
    pairs = zip(one, other, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _undecided(name: str, one: Pieces, other: Pieces, at: Place) -> Pieces:
    sides = dict.fromkeys((*_sides(one), *_sides(other)))
    return (Piece(f"${name}", at, known=False, sides=tuple(sides)[:_MAX_SIDES]),)


def _sides(pieces: Pieces) -> tuple[Pieces, ...]:
    return pieces[0].sides if len(pieces) == 1 and pieces[0].sides else (pieces,)


def sides_of(words: Sequence[Word]) -> list[tuple[Word, ...]]:
    """The words as they are on each side of the branches that their unknown parts depend on."""
    count = max((len(piece.sides) for each in words for piece in each.pieces), default=0)
    return [
        tuple(found for each in words for found in _on_side(each, side)) for side in range(count)
    ]


def _on_side(each: Word, side: int) -> list[Word]:
    if not any(piece.sides for piece in each.pieces):
        return [each]
    pieces: list[Piece] = []
    for piece in each.pieces:
        if piece.sides:
            chosen = piece.sides[min(side, len(piece.sides) - 1)]
            pieces += (replace(part, splits=piece.splits and not part.ends_word) for part in chosen)
        else:
            pieces.append(piece)
    at = each.pieces[0].at
    return [word(found, at) for found in fields(pieces)]


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
