"""A piece of a log in memory: where its lines are, their numbers, their times."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import Final

from schedmate.handler.reading.lines import LINE_BYTES, clean
from schedmate.logs import stamped_at

_LOOK_BACK_BYTES: Final = 1 << 14
_LOOK_BACK_LINES: Final = 64
_NEAR_BYTES: Final = 2000
_END_BYTES: Final = 1 << 13
_BELOW_LINES: Final = 8
_BELOW_BYTES: Final = 3000
_NUMBER: Final = re.compile(rb"\s{0,8}(\d{1,6}): ")
_LEAD: Final = 100
"""What is shown before the place that matters in an endless line."""


class Block:
    """Whole lines; what `\\r` overwrote is a line too, but shares its line's number."""

    def __init__(self, raw: bytes, first_number: int, before: bytes = b"") -> None:
        self.flat = _flat(raw)
        self.end = len(raw)
        self._raw = raw
        self._counted, self._number = 0, first_number
        self._before = before
        self._stamped: tuple[int, float | None] | None = None

    def line_start(self, at: int, not_before: int) -> int:
        return max(self.flat.rfind(b"\n", not_before, at) + 1, not_before)

    def line_end(self, start: int) -> int:
        """Where its line feed is, or would be."""
        end = self.flat.find(b"\n", start)
        return self.end if end < 0 else end

    def text(self, start: int, end: int, centre: int) -> bytes:
        """The line, or what stands round the centre of one without end."""
        if centre - start > LINE_BYTES - _LEAD:
            start = centre - _LEAD
        return self.flat[start : min(end, start + LINE_BYTES)]

    @cached_property
    def lines(self) -> int:
        """Line feeds in it."""
        return self._raw.count(b"\n")

    def count(self, start: int, end: int) -> int:
        """Lines in a part of it; what was overwritten counts too."""
        if start == 0 and end == self.end and self.flat is self._raw:
            return self.lines
        return self.flat.count(b"\n", start, end)

    def number(self, at: int) -> int:
        """The line's number; asked for in the order of the log."""
        if at > self._counted:
            self._number += self._raw.count(b"\n", self._counted, at)
            self._counted = at
        return self._number

    def below(self, end: int) -> Iterator[tuple[int, bytes]]:
        """The next lines, numbered, as far as they are in this block."""
        number, at = self.number(end), end + 1
        for raw in self.flat[at : at + _BELOW_BYTES].split(b"\n")[:_BELOW_LINES]:
            yield number + self._raw.count(b"\n", end, at), raw
            at += len(raw) + 1

    def near_end(self) -> int:
        """Where the last lines begin."""
        return self.line_end(max(0, self.end - _END_BYTES)) + 1

    def counts_up(self, start: int) -> bool:
        """Whether the numbers before this line and its neighbours are a count, not ranks."""
        lines = self.flat[max(0, start - _NEAR_BYTES) : start + _NEAR_BYTES].split(b"\n")[1:-1]
        numbers = [int(found[1]) for line in lines if (found := _NUMBER.match(line))]
        pairs = list(pairwise(numbers))
        return len(pairs) > 1 and all(one < other for one, other in pairs)

    def stamped(self, end: int) -> float | None:
        """The time of the line that ends here or of the nearest before it that has one."""
        known, at = self._stamped or (0, _last_time(self._before))
        begin = max(known, end - _LOOK_BACK_BYTES)
        found = _last_time(self.flat[begin:end])
        if found is None and begin == known:
            found = at
        self._stamped = (max(known, end), found)
        return found


def _last_time(chunk: bytes) -> float | None:
    lines = chunk.split(b"\n")[-_LOOK_BACK_LINES:]
    times = (stamped_at(clean(line)) for line in reversed(lines) if b":" in line[:100])
    return next((at for at in times if at is not None), None)


def _flat(raw: bytes) -> bytes:
    if b"\r" not in raw:
        return raw
    return raw.replace(b"\r\n", b" \n").replace(b"\r", b"\n")
