"""Whether a number beside a count is its total, and what says so."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.unknown import words
from schedmate.tracker.unknown.declared import DeclaredNumbers
from schedmate.tracker.unknown.fields import Column, Table

_OF = lazy_pattern(
    r"[\s_]*(?:/|\\|of|out of|of a total of|von|sur|de|di|van|av|из|z|共|之|中の|のうち"
    r"|->|→|\.\.\.?)[\s_]*(?:total\s*)?",
    re.IGNORECASE,
)
_OF_AT_LAST = lazy_pattern(
    r"(?:\s?[^\W\d]{1,16})?[\s)\]]{0,2}\s?[,(\[|/]?\s?"
    r"(?:(?:(?:out )?of|von|sur|de|di|из|at most|max(?:imum)?)['\"]?[\s:=]{1,3}|共\s?)"
    r"(?:a |the )?(?:total )?(?:of )?",
    re.IGNORECASE,
)
"""`12 done (of 96`, `[0, 500) of 9000`, `n=12 of=96`."""
_BARRED = lazy_pattern(r"\s*[|:;~⁄∕]\s*")  # noqa: RUF001 - other slashes that people print
_OPENERS: Final = ("[", "(", "<", "{", "«")
_CLOSERS: Final = ("]", ")", ">", "}", "»")
_REGULAR: Final = 0.95
_EXACT: Final = 0.6
_ENOUGH: Final = 5
_MANY: Final = 8

BETWEEN, SHARE, SUM, WORD, ROUND, BESIDE = 0.8, 0.8, 0.85, 0.7, 0.75, 0.45
"""How far each kind of support is believed; a constant that merely stands there is below 0.5."""


@dataclass(frozen=True, slots=True)
class Total:
    value: float
    confidence: float
    column: int | None = None
    """None: the line does not print it."""
    left: int | None = None
    """The column of what is left to do."""


def regular(count: Column) -> bool:
    """Counts go on evenly; numbers of right answers or used bytes do not."""
    trend = count.trend
    if trend.rounds:
        return trend.exactness >= _EXACT
    return trend.exactness >= _EXACT or (
        trend.straightness >= _REGULAR and len(trend.values) >= _ENOUGH
    )


def find_total(
    table: Table, count: Column, declared: DeclaredNumbers | None = None
) -> Total | None:
    found = list(_candidates(table, count))
    stated = None if declared is None else declared_total(count, declared)
    if stated is not None:
        found.append(stated)
    best = max(found, key=lambda total: total.confidence, default=None)
    if best is None:
        return None
    if best is stated and count.trend.rising:
        return best  # what has a number of its own in the header may count in leaps
    agreeing = sum(other.value == best.value for other in found) - 1
    confidence = best.confidence + (0.05 * agreeing if best.confidence > BESIDE else 0.0)
    if not regular(count) or (len(count.values) < _ENOUGH and count.trend.exactness < 1):
        confidence = min(confidence, BESIDE)
    return Total(best.value, min(confidence, 0.95), best.column, best.left)


def declared_total(count: Column, declared: DeclaredNumbers) -> Total | None:
    """What the log declared that there is of the thing that the column is named by."""
    found = declared.total_of(count.names, max(count.values))
    a_ratio = not count.whole and max(count.values) <= 1
    return None if found is None or (a_ratio and found[0] > 1) else Total(*found)


def _candidates(table: Table, count: Column) -> Iterator[Total]:
    for other in table.numbers:
        if other.index == count.index:
            continue
        if other.trend.constant:
            yield from _constant(table, count, other)
        elif separated(table, count, other) and _changes_at_falls(count, other):
            yield Total(other.values[-1], WORD, other.index)
        elif other.whole and other.trend.falls:
            yield from _rest(count, other)
        if other.suffix == "%" and other.trend.rising and count.whole:
            yield from _by_share(count, other)


def _constant(table: Table, count: Column, other: Column) -> Iterator[Total]:
    value = other.values[0]
    if value < max(count.values) or value <= 1 or (count.whole and not other.whole):
        return
    if separated(table, count, other):
        yield Total(value, BETWEEN, other.index)
    if other.named(words.NO_TOTAL) or words.names(other.after, words.SIZE_UNITS):
        return
    if belongs_to_another(table, count, other):
        return
    if any(_is_share(share, count, value) for share in table.numbers):
        yield Total(value, SHARE, other.index)
    if _goes_round_at(count, value):
        yield Total(value, ROUND, other.index)
    if _named_total(count, other):
        yield Total(value, WORD, other.index)
    if _beside(table, count, other):
        yield Total(value, BESIDE, other.index)


def separated(table: Table, count: Column, other: Column) -> bool:
    """`120/5000`, `120 of 5000`; a bar or a colon only within brackets, else it is a table."""
    if other.index != count.index + 1 or _is_date(table, count):
        return False
    gap = table.gap_before(other.index)
    if _OF.fullmatch(gap.removeprefix(count.suffix)) or _OF_AT_LAST.fullmatch(gap):
        return not other.suffix or other.suffix == count.suffix or other.suffix in "kKMB"
    opened = table.gap_before(count.index).rstrip().endswith(_OPENERS)
    closed = table.gaps[other.index + 1][-1].lstrip().startswith(_CLOSERS)
    return opened and closed and _BARRED.fullmatch(gap) is not None


def _is_date(table: Table, count: Column) -> bool:
    """`12/24/2026`: three numbers with the same sign between them."""
    before, after = table.gap_before(count.index), table.gap_before(count.index + 1)
    return count.index > 0 and before == after and before in ("/", "-", ".")


def belongs_to_another(table: Table, count: Column, other: Column) -> bool:
    """In `n 7: 445 of 500 right` the 500 is not what n runs up to."""
    neighbour = table.columns[other.index - 1] if other.index else count
    return neighbour is not count and separated(table, neighbour, other)


def is_separated(table: Table, count: Column) -> bool:
    """A constant stands behind the count, divided from it as totals are."""
    return any(other.trend.constant and separated(table, count, other) for other in table.numbers)


def _changes_at_falls(count: Column, other: Column) -> bool:
    """Each count of several that follow each other has its own total."""
    within = all(done <= total for done, total in zip(count.values, other.values, strict=True))
    moves = zip(count.trend.moves, other.trend.moves, count.trend.spans, strict=True)
    seen = all(done < 0 or span > 1 for done, total, span in moves if total != 0)
    return other.whole and within and seen


def _is_share(share: Column, count: Column, total: float) -> bool:
    """Whether a column is the share of the count in the total, as far as it is printed.

    One that moves by no more than its rounding fits any total that is large enough.
    """
    if share.index == count.index or share.trend.constant or len(set(count.values)) < 3:  # noqa: PLR2004 - two fit by chance
        return False
    slack = max(_last_digit(text) for text in share.texts)
    if max(share.values) - min(share.values) <= 2 * slack:
        return False
    for scale in (100.0, 1.0):
        if scale == 1.0 and share.whole:
            continue
        pairs = zip(share.values, share.texts, count.values, strict=True)
        if all(abs(part - scale * done / total) <= _last_digit(text) for part, text, done in pairs):
            return True
    return False


def _last_digit(text: str) -> float:
    """A number is printed rounded or cut off: up to one of its last digit away."""
    return 1.001 * 10.0 ** -len(text.partition(".")[2]) if "." in text else 1.001


def _goes_round_at(count: Column, value: float) -> bool:
    return count.trend.rounds > 1 and max(count.values) == value


def _named_total(count: Column, other: Column) -> bool:
    """`max_steps=5000` beside `step`, or `total 5000` alone; `total 8 gpus` is none."""
    pieces = words.pieces(other.before)
    if count.before and other.before == f"{count.before}s" and other.before not in words.NO_TOTAL:
        return True
    glued = (piece.removeprefix(word) for word in ("max", "num", "total") for piece in pieces)
    own = {piece.rstrip("s") for piece in words.pieces(f"{count.before} {count.after}")}
    if any(rest.rstrip("s") in own for rest in glued if rest not in pieces):
        return True  # `STEP 10 MAXSTEP 2000`
    if words.TOTALS.isdisjoint(pieces) or words.names(other.after, words.NO_TOTAL):
        return False
    rest = {piece.rstrip("s") for piece in pieces if piece not in words.TOTALS}
    return not rest or not rest.isdisjoint(own)


def _beside(table: Table, count: Column, other: Column) -> bool:
    """The next number, without a word of its own, and not one that sizes like to be."""
    value = int(other.values[0])
    if other.index != count.index + 1 or not other.whole or other.suffix or other.before:
        return False
    between = table.gap_before(other.index)
    power_of_two = value & (value - 1) == 0
    near = value < 2 * max(count.values) and len(count.values) < _MANY
    return not (words.pieces(between) or power_of_two or near)


def _rest(count: Column, other: Column) -> Iterator[Total]:
    """What is done and what is left make the same sum in every line."""
    sums = {a + b for a, b in zip(count.values, other.values, strict=True)}
    if len(sums) == 1 and len(set(count.values)) > 2 and count.whole:  # noqa: PLR2004 - see above
        yield Total(sums.pop(), SUM, left=other.index)


def _by_share(count: Column, share: Column) -> Iterator[Total]:
    """`step 1234 (2.47%)`: the one whole number of which all counts are those shares."""
    least, most = 0.0, math.inf
    for done, part, text in zip(count.values, share.values, share.texts, strict=True):
        slack = _last_digit(text)
        least = max(least, 100 * done / (part + slack))
        most = min(most, 100 * done / (part - slack) if part > slack else math.inf)
    if math.isfinite(most) and math.ceil(least) == math.floor(most) >= max(count.values):
        yield Total(float(math.ceil(least)), WORD)
