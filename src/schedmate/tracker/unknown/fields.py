"""The sample lines of one template as a table: a column for each number, and how it behaves."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.unknown import words
from schedmate.tracker.unknown.numbers import Kind, Token, tokens_in
from schedmate.tracker.unknown.templates import Template

_BEFORE = lazy_pattern(
    r"([^\W\d][\w./-]{0,30}?)(?:\s(?:about|around|roughly|approx|circa|ca|some))?\W{0,30}$"
)
_AFTER = lazy_pattern(r"^[^\w]{0,3}([^\W\d][\w/]{0,20})")
_NEXT_NAME = lazy_pattern(r"[\s|;/,'\"{}]{0,8}[^\W\d][\w./-]{0,30}['\"]?\s{0,4}(?:[=:]\s{0,4}|\s)")
"""A lone word in front of the next number is that number's name, not this one's unit."""
_SEGMENT = lazy_pattern(r"[|,;()\[\]{}]")
_NAME_WORDS: Final = 3
_EXACT: Final = 0.02
_NEAR_START: Final = 0.25
_ENOUGH: Final = 5
_TREND: Final = 0.25
_PACE: Final = 0.1
_LESS: Final = 0.8
_LINE: Final = 0.97


@dataclass(frozen=True)
class Trend:
    """How the values of a column move from line to line; `places` are the lines' numbers."""

    places: tuple[int, ...]
    values: tuple[float, ...]

    @cached_property
    def moves(self) -> list[float]:
        return [b - a for a, b in zip(self.values, self.values[1:], strict=False)]

    @cached_property
    def spans(self) -> list[int]:
        """How many lines each move took."""
        return [b - a for a, b in zip(self.places, self.places[1:], strict=False)]

    @cached_property
    def rates(self) -> list[float]:
        """Change per line, where it went forward."""
        return [move / span for move, span in zip(self.moves, self.spans, strict=True) if move >= 0]

    @property
    def constant(self) -> bool:
        return min(self.values) == max(self.values)

    @property
    def falls(self) -> int:
        return sum(move < 0 for move in self.moves)

    @cached_property
    def rate(self) -> float:
        return statistics.median(self.rates) if self.rates else 0.0

    @property
    def exactness(self) -> float:
        """The share of lines at which it moved by just the same as mostly."""
        mode = Counter(round(rate, 9) for rate in self.rates).most_common(1)
        common = mode[0][0] if mode else 0.0
        near = sum(abs(rate - common) <= _EXACT * abs(common) for rate in self.rates)
        return near / len(self.moves) if common > 0 else 0.0

    @cached_property
    def straightness(self) -> float:
        """R² of a straight line over the numbers of the lines."""
        if self.constant or len(set(self.places)) < len(self.places):
            return 0.0
        try:
            return statistics.correlation(self.places, self.values) ** 2
        except statistics.StatisticsError:
            return 0.0

    @property
    def rising(self) -> bool:
        return self.falls == 0 and not self.constant

    @property
    def jittering(self) -> bool:
        """It rises, but for lines of several writers that are a little out of order."""
        worst = -min(self.moves, default=0.0)
        upwards = self.values[-1] > self.values[0]
        return upwards and 0 < worst <= 2 * max(self.rate, 1.0) and self.straightness >= _LINE

    @property
    def rounds(self) -> int:
        """How often it fell back to where it began; 0 if it ever fell to anywhere else."""
        low, high = min(self.values), max(self.values)
        limit = low + _NEAR_START * (high - low)
        landed = [b for a, b in zip(self.values, self.values[1:], strict=False) if b < a]
        ups = sum(move > 0 for move in self.moves)
        return len(landed) if ups >= 2 * len(landed) and all(x <= limit for x in landed) else 0

    @property
    def returns(self) -> list[bool]:
        """For each move whether the count fell, or came less far than so many lines take it."""
        usual = _LESS * self.rate
        moves = zip(self.moves, self.spans, strict=True)
        return [move < 0 or (span > 1 and move < usual * span) for move, span in moves]

    @property
    def sinking(self) -> bool:
        """It goes down by and large, as a loss does."""
        if self.constant or len(self.values) < _ENOUGH:
            return False
        return self.straightness >= _TREND and self.values[-1] < self.values[0]

    @property
    def counting_down(self) -> bool:
        return self.mirrored.rising

    @cached_property
    def mirrored(self) -> Trend:
        return Trend(self.places, tuple(-value for value in self.values))


@dataclass(frozen=True)
class Column:
    """One number of a template. `before` and `after` are the words at its sides."""

    index: int
    kind: Kind
    texts: tuple[str, ...]
    suffix: str
    before: str
    after: str
    gap: str
    """What stands between the number before, or the start, and this one."""
    trend: Trend

    @property
    def values(self) -> tuple[float, ...]:
        return self.trend.values

    @cached_property
    def whole(self) -> bool:
        return all(value.is_integer() for value in self.values) and not any(
            "." in text.rstrip(".") or "e" in text.lower() for text in self.texts
        )

    @property
    def measure(self) -> str:
        """The unit behind the number: attached, or the next word."""
        return (self.suffix or self.after).lower()

    @property
    def label(self) -> str:
        return self.before or self.suffix or self.after

    @property
    def names(self) -> tuple[str, ...]:
        """What its number may be a number of: the words behind it, or those in front of it."""
        in_front = _SEGMENT.split(self.gap)[-1]
        wordy = " ".join(words.pieces(in_front)[-_NAME_WORDS:])
        titled = self.before if self.before not in in_front.lower() else ""
        return tuple(one for one in (titled, self.after, wordy, self.before) if one)

    def named(self, vocabulary: frozenset[str]) -> bool:
        return words.names(self.before, vocabulary)


@dataclass(frozen=True)
class Table:
    columns: tuple[Column, ...]
    gaps: tuple[tuple[str, ...], ...]
    """For each gap before, between and behind the numbers what stood there in each line."""
    tokens: tuple[tuple[Token, ...], ...]
    texts: tuple[str, ...]
    times: tuple[float | None, ...]

    @property
    def numbers(self) -> list[Column]:
        return [column for column in self.columns if column.kind == "number"]

    @property
    def first_words(self) -> str:
        return self.gaps[0][-1] if self.gaps else ""

    def keeps_pace(self, column: Column) -> bool:
        """Whether it rises by one a second, by the clock of the lines."""
        timed = [(at, v) for at, v in zip(self.times, column.values, strict=True) if at is not None]
        if len(timed) < _ENOUGH or column.kind != "number":
            return False
        (begun, first), (ended, last) = timed[0], timed[-1]
        return ended > begun and abs((last - first) / (ended - begun) - 1) < _PACE

    def gap_before(self, index: int) -> str:
        return self.gaps[index][-1]


def table_of(template: Template) -> Table | None:
    """Lines that have the same kinds of numbers, at least three of them."""
    samples = template.samples
    rows = [(tuple(tokens_in(text)), place) for place, text in enumerate(samples.texts)]
    usual = Counter(_signature(row) for row, _ in rows).most_common(1)
    if not usual or not usual[0][0] or usual[0][1] < 3:  # noqa: PLR2004 - two lines show no behaviour
        return None
    kept = [(row, place) for row, place in rows if _signature(row) == usual[0][0]]
    tokens = tuple(row for row, _ in kept)
    texts = tuple(samples.texts[place] for _, place in kept)
    gaps = _gaps(tokens, texts)
    places = tuple(samples.nths[place] for _, place in kept)
    names = _header_names(template.header, texts[-1])
    columns = tuple(_column(i, tokens, gaps, places, names) for i in range(len(tokens[0])))
    return Table(columns, gaps, tokens, texts, tuple(samples.times[place] for _, place in kept))


def _signature(row: Sequence[Token]) -> tuple[str, ...]:
    return tuple(token.kind for token in row)


def _gaps(tokens: Sequence[Sequence[Token]], texts: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    rows = []
    for row, text in zip(tokens, texts, strict=True):
        ends = [0, *(token.end for token in row)]
        starts = [*(token.start for token in row), len(text)]
        rows.append([text[end:start] for end, start in zip(ends, starts, strict=True)])
    return tuple(zip(*rows, strict=True))


def _column(
    index: int,
    tokens: Sequence[Sequence[Token]],
    gaps: Sequence[Sequence[str]],
    places: tuple[int, ...],
    names: dict[int, str],
) -> Column:
    own = [row[index] for row in tokens]
    before, behind = _BEFORE.search(gaps[index][-1]), gaps[index + 1][-1]
    name = names.get(own[-1].start, before[1].lower() if before else "")
    after = None if name and _NEXT_NAME.fullmatch(behind) else _AFTER.search(behind)
    return Column(
        index=index,
        kind=own[-1].kind,
        texts=tuple(token.text for token in own),
        suffix=own[-1].suffix,
        before=name,
        after=after[1].lower() if after else "",
        gap=gaps[index][-1],
        trend=Trend(places, tuple(token.value or 0.0 for token in own)),
    )


def _header_names(header: str, line: str) -> dict[int, str]:
    """The words of a headline by the places of the numbers under them."""
    titles = header.replace("|", " ").split()
    cells = list(re.finditer(r"[^\s|]{1,60}", line))
    if not titles or len(titles) != len(cells):
        return {}
    return {cell.start(): title.lower() for cell, title in zip(cells, titles, strict=True)}
