"""What is done with runs of text: joined, split into words, compared, quoted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from schedmate.advisor.interpret.shell.words import Place, SourceMap, Span, Spans, Word
from schedmate.model import Evidence

_BLANKS = re.compile(r"(\s+)")
_MAX_TEXT = 100_000
_MAX_LINES = 3
_MAX_SIDES = 4


@dataclass(frozen=True, slots=True)
class Array:
    """Elements by subscript; whole arrays that are unknown are unknown `Spans` instead."""

    items: dict[str, Spans]


Value = Spans | Array


def unknown(text: str, at: Place, *, filled: bool | None = None) -> Spans:
    return (Span(text, at, known=False, filled=filled),)


def plain(text: str, at: Place) -> Spans:
    return (Span(text, at),)


def quote(word: Word) -> Spans:
    """A word of another script, or of the command line, as it stands."""
    if word.spans and text_of(word.spans) == word.text and known(word.spans) == word.known:
        return tuple(
            Span(span.text, span.at, known=span.known, filled=span.filled) for span in word.spans
        )
    return (Span(word.text, (SourceMap.quoting(word.evidence), 1), known=word.known),)


def text_of(spans: Iterable[Span]) -> str:
    return "".join(span.text for span in spans)


def known(spans: Iterable[Span]) -> bool:
    return all(span.known for span in spans)


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


def word(spans: Sequence[Span], at: Place) -> Word:
    """The lines that state the text first, the line that uses it last."""
    stated = [span for span in spans if span.text] or spans
    lines: dict[Evidence, None] = {}
    for place in dict.fromkeys((*(span.at for span in reversed(stated)), at)):
        lines |= dict.fromkeys(place[0].evidence(place[1]))
        if len(lines) > _MAX_LINES:
            break
    text = text_of(spans)[:_MAX_TEXT]
    return Word(text, tuple(lines)[:_MAX_LINES], known(spans), tuple(spans))


def fields(spans: Iterable[Span]) -> list[list[Span]]:
    """Split expanded spans into words: at blanks of unquoted variables and between elements."""
    words: list[list[Span]] = []
    current: list[Span] = []
    for span in spans:
        if span.splits:
            current = _split(span, current, words)
        else:
            current.append(span)
            if span.ends_word:
                words.append(current)
                current = []
    if current:
        words.append(current)
    return words


def _split(span: Span, current: list[Span], words: list[list[Span]]) -> list[Span]:
    if not span.known:
        current.append(span)
        return current
    book, line = span.at
    for part in _BLANKS.split(span.text):
        if part.isspace():
            line += part.count("\n")
            if current:
                words.append(current)
            current = []
        elif part:
            current.append(Span(part, (book, line)))
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
    blank = Span(" ", at)
    return (*shared, blank, *_undecided(name, left[count:], right[count:], at))


def _as_text(value: Value | None) -> Spans:
    return separate(value.items.values()) if isinstance(value, Array) else value or ()


def _shared(one: Sequence[object], other: Sequence[object]) -> int:
    pairs = zip(one, other, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _undecided(name: str, one: Spans, other: Spans, at: Place) -> Spans:
    sides = dict.fromkeys((*_sides(one), *_sides(other)))
    return (Span(f"${name}", at, known=False, sides=tuple(sides)[:_MAX_SIDES]),)


def _sides(spans: Spans) -> tuple[Spans, ...]:
    return spans[0].sides if len(spans) == 1 and spans[0].sides else (spans,)


def sides_of(words: Sequence[Word]) -> list[tuple[Word, ...]]:
    """The words as they are on each side of the branches that their unknown parts depend on."""
    count = max((len(span.sides) for each in words for span in each.spans), default=0)
    return [
        tuple(found for each in words for found in _on_side(each, side)) for side in range(count)
    ]


def _on_side(each: Word, side: int) -> list[Word]:
    if not any(span.sides for span in each.spans):
        return [each]
    spans: list[Span] = []
    for span in each.spans:
        if span.sides:
            chosen = span.sides[min(side, len(span.sides) - 1)]
            spans += (replace(part, splits=span.splits and not part.ends_word) for part in chosen)
        else:
            spans.append(span)
    at = each.spans[0].at
    return [word(found, at) for found in fields(spans)]


def joined(items: Iterable[Spans], at: Place) -> Spans:
    """Elements in one text with blanks between."""
    spans: list[Span] = []
    for item in items:
        if spans:
            spans.append(Span(" ", at))
        spans += item
    return tuple(spans)


def in_one(spans: Iterable[Span]) -> Spans:
    """As one text, as in an assignment: words of their own get blanks between."""
    whole: list[Span] = []
    for span in spans:
        if whole and whole[-1].ends_word:
            whole[-1] = replace(whole[-1], ends_word=False)
            whole.append(Span(" ", span.at))
        whole.append(span)
    if whole and whole[-1].ends_word:
        whole[-1] = replace(whole[-1], ends_word=False)
    return tuple(whole)


def separate(items: Iterable[Spans]) -> Spans:
    """Elements as words of their own."""
    spans: list[Span] = []
    for item in items:
        body = item or ()
        spans += body[:-1]
        if body:
            spans.append(replace(body[-1], splits=False, ends_word=True))
    return tuple(spans)
