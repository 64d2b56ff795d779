"""Which lines of a long backlog must be read: a log repeats itself a million times.

Lines are cut only once they are wanted; that makes it fast. Patterns take linear time.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise

import re2

from schedmate.tracker.tailing.lines import LINE_ENDS, MAX_LINE, lines_in, without_nuls

HEAD = 262_144
"""So much of a log's beginning is always read in full: totals and settings position there."""
TAIL = 32_768
"""So much of its end as well: the end of a run takes many lines, of which none may count."""

_SMALL = 32_768
_NARROWEST = 8192
_WIDEST = 524_288
_PLACES = 64
_RUN = 2
_EDGE = 2
_NEAR = 4
_JUDGED = 16
_PER_SHAPE = 3
_MOST_SHAPES = 1024
"""With keywords, of one piece: among more of them none is special."""
_MOST_RARE, _MOST_CUT = 4096, 65_536
"""Lines of rare shapes that are kept of one piece, and lines that are searched for them."""
_RARE_UP_TO = 2_000_000
_MIN_APART = 128
_MIN_SAMPLES = 4
_FINEST = 512
_MAX_SHAPE = 160
_PROBES = 2048
_VARYING = bytes(range(0x80, 0x100)) + b"0123456789.#+-eE \t"
_COUNT = re.compile(rb"(\d{1,15})\s{0,2}/\s{0,9}(\d{1,15})(?![\d/.])")
_EPOCH = re.compile(rb"epoch[^\w]{0,4}(\d{1,9})", re.IGNORECASE)
_ROUND = re.compile(rb"100 ?%|epoch|:::MLL", re.IGNORECASE)


def sample_lines(text: bytes, *, before: int = 0) -> list[bytes]:
    """Return, in order, the informative lines of a piece of complete lines.

    These are all that carry a rare keyword, with their neighbours, as far as they differ in more
    than their numbers; every end of a bar's round and every change of an epoch; the first and
    the last lines; and a few in a row at even distances, from which pace and rounds are seen.
    The distances grow with the length of the log `before` it. Early in a log lines of a rare
    shape are kept too, with any content.
    """
    if len(text) <= _SMALL:
        return lines_in(text)
    stride = min(_WIDEST, max(_NARROWEST, before // _PLACES))
    return _BacklogSampler(text, stride).lines(rare=before < _RARE_UP_TO)


def sample_last_lines(text: bytes, *, before: int = 0) -> list[bytes]:
    """Return the lines of the last piece of a log, of which the tail is read in full."""
    cut = max(text.rfind(end, 0, -TAIL) for end in LINE_ENDS) + 1
    return sample_lines(text[:cut], before=before) + lines_in(text[cut:])


def lines_about(text: bytes) -> int:
    """Return about how many lines it has, which is enough to know and much cheaper."""
    part = text[:HEAD]
    counted = max(part.count(b"\n"), part.count(b"\r"))
    return counted * len(text) // max(1, len(part))


@dataclass(frozen=True, slots=True)
class _Reading:
    """A count in a sampled line: what it counts, how far it is, and of what."""

    start: int
    epoch: bytes | None
    shape: bytes
    current: int
    total: bytes


class _BacklogSampler:
    def __init__(self, text: bytes, stride: int) -> None:
        self._text = text
        self._stride = min(stride, len(text) // _MIN_SAMPLES)
        self._ends = [end for end in LINE_ENDS if end in text]
        self._probes = _PROBES

    def lines(self, *, rare: bool) -> list[bytes]:
        readings = self._readings(self._stride)
        needed = _rounds_need(readings)
        if needed < self._stride:
            readings = self._readings(max(_FINEST, needed))
        rounds, events = self._events(readings)
        wanted = {*(one.start for one in readings), *self._edges(), *rounds, *events}
        wanted.update(self._changes(readings, rounds))
        if rare:
            wanted.update(self._rare())
        lines = (self._line(start) for start in sorted(wanted) if self._begins(start))
        return [line for line in map(without_nuls, lines) if line]

    def _rare(self) -> Iterator[int]:
        """The first lines like few others, for which all have to be cut: ten times as slow."""
        text = self._text
        for end in LINE_ENDS[1:]:
            text = text.replace(end, b"\n")
        starts: defaultdict[bytes, list[int]] = defaultdict(list)
        start = 0
        for line in text.split(b"\n", _MOST_CUT)[:_MOST_CUT]:
            starts[_shape(line)].append(start)
            start += len(line) + 1
        rare = (one for alike in starts.values() if len(alike) <= _PER_SHAPE for one in alike)
        return islice(rare, _MOST_RARE)

    def _readings(self, stride: int) -> list[_Reading]:
        """A few lines in a row at even distances."""
        starts: set[int] = set()
        for at in range(0, len(self._text), stride):
            start = self._next(at)
            for _ in range(_RUN):
                if start < len(self._text):
                    starts.add(start)
                start = self._next(start)
        return [self._reading(start) for start in sorted(starts)]

    def _edges(self) -> Iterator[int]:
        first, last = 0, len(self._text)
        for _ in range(_EDGE):
            last = self._previous(last)
            yield from (first, last)
            first = self._next(first)

    def _events(self, readings: list[_Reading]) -> tuple[list[int], list[int]]:
        """Rounds and epochs, all of them; other marked lines, of each shape a few, in context."""
        some = readings[:: max(1, len(readings) // _JUDGED)]
        common = common_keywords((one.shape, self._line(one.start)) for one in some)
        rounds: list[int] = []
        others: defaultdict[bytes, list[int]] = defaultdict(list)
        for start, line in self._lines_with_keywords(common, _totals(readings)):
            if _ended(line):
                rounds += [start, *self._begun_after(start)]
            elif _ROUND.search(line):
                rounds.append(start)
            else:
                others[_shape(line)].append(start)
        kept = list(others.values())[:: len(others) // _MOST_SHAPES + 1]
        events = [near for starts in kept for near in self._with_context(starts)]
        return rounds, events

    def _begun_after(self, start: int) -> Iterator[int]:
        """The next round's beginning: only a count that falls back is known to have gone round."""
        total = self._reading(start).total
        if not total:  # further to the right than a line is read
            return
        for _ in range(_NEAR):
            start = self._next(start)
            reading = self._reading(start)
            if reading.total == total and reading.current < int(total):
                yield start
                return

    def _with_context(self, starts: list[int]) -> Iterator[int]:
        """Rare lines with their neighbours, of frequent ones the first, a middle and the last."""
        if len(starts) > _PER_SHAPE:
            yield from (starts[0], starts[len(starts) // 2], starts[-1])
            return
        for start in starts:
            yield from (self._previous(start), start, self._next(start))

    def _lines_with_keywords(
        self, common: frozenset[str], totals: tuple[bytes, ...]
    ) -> Iterator[tuple[int, bytes]]:
        keywords, at = keyword_pattern(common, totals), 0
        for _ in range(len(self._text) // _MIN_APART):
            found = keywords.search(self._text, at)
            if found is None:
                return
            start = self._start(found.start())
            at = self._end(found.start())
            yield start, self._text[start:at]

    def _changes(self, readings: list[_Reading], rounds: list[int]) -> Iterator[int]:
        """Where between two samples the epoch changed, or a count fell back, if not yet known."""
        epochs = [one for one in readings if one.epoch is not None]
        for before, after in pairwise(epochs):
            if before.epoch != after.epoch and not _any_between(rounds, before, after):
                yield from self._epochs_between(before, after)
        counts: dict[tuple[bytes, bytes], _Reading] = {}
        for one in readings:
            last = counts.get((one.shape, one.total)) if one.total else None
            if last and one.current < last.current and not _any_between(rounds, last, one):
                yield from self._fall_between(last, one)
            counts[one.shape, one.total] = one

    def _epochs_between(self, low: _Reading, high: _Reading) -> Iterator[int]:
        pairs = [(low, high)]
        while pairs:
            low, high = pairs.pop()
            if low.epoch == high.epoch:
                continue
            middle = self._between(low, high)
            if middle is None:
                yield from (low.start, high.start)
            else:
                pairs += [(low, middle), (middle, high)]

    def _fall_between(self, low: _Reading, high: _Reading) -> Iterator[int]:
        first = low.current
        while (middle := self._between(low, high)) is not None:
            if middle.total == low.total and middle.current < first:
                high = middle
            else:
                low = middle
        yield from (low.start, high.start)

    def _between(self, low: _Reading, high: _Reading) -> _Reading | None:
        """A line of the same shape near the middle, if there is one."""
        start = self._start((low.start + high.start) // 2)
        for _ in range(_NEAR):
            self._probes -= 1
            if self._probes < 0 or start >= high.start:
                return None
            reading = self._reading(start)
            if start > low.start and reading.shape == low.shape:
                return reading
            start = self._next(start)
        return None

    def _reading(self, start: int) -> _Reading:
        line = self._line(start)
        epoch, count = _EPOCH.search(line), _COUNT.search(line)
        return _Reading(
            start,
            None if epoch is None else epoch[1],
            _shape(line),
            0 if count is None else int(count[1]),
            b"" if count is None else count[2],
        )

    def _line(self, start: int) -> bytes:
        return self._text[start : self._end(start)]

    def _start(self, at: int) -> int:
        """Where the line begins that holds this byte."""
        low = max(0, at - MAX_LINE)
        return max(low, max(self._text.rfind(end, low, at) for end in self._ends) + 1)

    def _end(self, start: int) -> int:
        high = start + MAX_LINE
        ends = [at for end in self._ends if (at := self._text.find(end, start, high)) >= 0]
        return min(ends, default=high)

    def _begins(self, start: int) -> bool:
        """Whether a line begins here, and not just a part of one that is too long."""
        return start == 0 or self._text[start - 1 : start] in LINE_ENDS

    def _previous(self, start: int) -> int:
        """Where the line before begins that is not empty."""
        while start > 0 and self._text[start - 1 : start] in LINE_ENDS:
            start -= 1
        return self._start(start)

    def _next(self, start: int) -> int:
        """Where the next line begins that is not empty."""
        at = self._end(start)
        while self._text[at : at + 1] in LINE_ENDS:
            at += 1
        return at


def _any_between(rounds: list[int], low: _Reading, high: _Reading) -> bool:
    return bisect_left(rounds, low.start) < bisect_left(rounds, high.start)


def _shape(line: bytes) -> bytes:
    return line[:_MAX_SHAPE].translate(None, _VARYING)


def _ended(line: bytes) -> bool:
    count = _COUNT.search(line)
    return count is not None and count[1] == count[2]


def _totals(readings: list[_Reading]) -> tuple[bytes, ...]:
    """The totals that most samples count to; a date or a fraction that varies is none."""
    seen = Counter(one.total for one in readings if one.total)
    return tuple(sorted(total for total, times in seen.most_common(2) if times >= _NEAR))


def _rounds_need(readings: list[_Reading]) -> int:
    """How far apart samples may be for every round to be seen that never shows its last count."""
    apart = [_WIDEST]
    for one, after in pairwise(readings):
        step, bytes_on = after.current - one.current, after.start - one.start
        same = one.total and (one.shape, one.total) == (after.shape, after.total)
        if same and step > 0 and bytes_on < MAX_LINE and (int(one.total) - one.current) % step:
            apart.append(bytes_on * int(one.total) // step // 3)
    return sorted(apart)[len(apart) // 2]


_BAR_END = rb"100%(?:\||[^\d\s]{0,2}\s{0,2}[\[|#=])"
"""The end of a bar's round. Its rounds may be the epochs, so none of them may be missed."""

KEYWORDS: dict[str, bytes] = {
    "bar_end": _BAR_END,
    "epoch": rb"epoch[^\w\n\r\x08]{0,4}\d",
    "failure": rb"traceback \(|slurmstepd|\berror\b|exception|\bkilled\b|out of memory|core dumped",
    "evaluation": rb"evaluat|\bvalidat|\bval[\s_:=/-]|\beval[\s_:=/-]|\btest[\s_](?:loss|acc)",
    "checkpoint": rb"checkpoint|\bckpt|snapshot|\bsav(?:e|ed|ing)\b",
    "full": rb"\b100(?:\.0{1,4})?\s?%",
    "end": rb"finish|complet|stopp|\bdone\b|\bended\b|early.stop",
    "total": (
        rb"num[\s_](?:train[\s_])?(?:epochs|steps|examples)|total[\s_-][\w\s]{0,24}(?:steps|epochs)"
        rb"|max[\s_-](?:steps|epochs|iters|iterations)|train[\s_-]iters"
    ),
    "mllog": rb":::MLL",
    "mllog_key": rb'"key": ?"(?:run_st|eval_acc|\w{0,40}(?:_max|target|max_))',
    "resume": rb"\bresum|\brestor(?:e|ed|ing)\b",
    "link": rb"https?://",
    "nan": rb"[=:\s]nan\b",
    "begin": rb"\bstart(?:ed|ing)?\b|\bbegin",
}


def _options() -> re2.Options:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.case_sensitive = False
    options.never_capture = True
    return options


_EACH = {
    name: re2.compile(keyword, _options())
    for name, keyword in KEYWORDS.items()
    if name not in ("bar_end", "full")
}
"""Without those that only some lines of a shape carry."""
_FULL = re2.compile(KEYWORDS["full"], _options())
_MAX_KNOWN = 1024
_MUCH = 0.2
"""A keyword in more than this share of the lines is not informative."""


@lru_cache(maxsize=64)
def keyword_pattern(common: frozenset[str], totals: tuple[bytes, ...]) -> re2._Regexp:
    """One alternation of the keywords that are not common, and of counts at their total."""
    kinds = [keyword for name, keyword in KEYWORDS.items() if name not in common]
    ends = [rb"\b" + total + rb"\s{0,2}/\s{0,9}" + total + rb"\b" for total in totals]
    return re2.compile(b"|".join(kinds + ends), _options())


def common_keywords(lines: Iterable[tuple[bytes, bytes]]) -> frozenset[str]:
    """Name the keywords that too many of these lines, each with its shape, carry.

    The ends of bars are never among them.
    """
    carried = [_of_shape(shape, line) for shape, line in lines]
    seen = Counter(name for names in carried for name in names)
    return frozenset(name for name, times in seen.items() if times > _MUCH * len(carried))


def _of_shape(shape: bytes, line: bytes) -> tuple[str, ...]:
    """Which keywords lines of a shape carry, by the first one seen."""
    if shape not in _known:
        if len(_known) >= _MAX_KNOWN:
            _known.clear()
        _known[shape] = tuple(name for name, keyword in _EACH.items() if keyword.search(line))
    return (*_known[shape], "full") if _FULL.search(line) else _known[shape]


_known: dict[bytes, tuple[str, ...]] = {}
