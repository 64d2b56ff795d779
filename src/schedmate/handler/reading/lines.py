"""From bytes to lines: bounded blocks, clean text, and which rank wrote it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from schedmate.logs import opened, stamped_at

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

BLOCK_BYTES = 1 << 19
LINE_BYTES = 800
"""What is read of one line: causes stand further to the left."""

_FLATTEN = bytes.maketrans(b"\r", b"\n")
DIGITS = b"0123456789"
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,40}[ -/]{0,4}[@-~]"  # CSI: colours and moves of the cursor
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]{0,400}(?:\x07|\x1b\\|\x9c)"  # OSC, DCS
    r"|\x1b[ -/]{1,4}[0-~]|\x1b[0-Z\\^-~]"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)
_C1_OF_ONE_BYTE = re.compile(rb"(?<![\x80-\xff])\x9b[0-?]{0,40}[ -/]{0,4}[@-~]")
"""A CSI in an encoding of one byte a letter; in UTF-8 the byte is a part of another letter."""


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line as a person would look it up; `order` is its file's place among the logs."""

    file: str
    order: int
    number: int
    text: str
    rank: int | None = None
    stream: str = ""
    """What all lines of the same process begin with; empty where nothing does."""
    node: str = ""
    bare_number: bool = False
    """The rank may just as well be a count."""

    @property
    def place(self) -> tuple[int, int]:
        return self.order, self.number


def blocks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Whole lines, half a megabyte at a time; a line longer than that is cut."""
    carry = b""
    for chunk in chunks:
        whole = carry + chunk
        cut = max(whole.rfind(b"\n"), whole.rfind(b"\r")) + 1
        if not cut and len(whole) >= BLOCK_BYTES:
            cut = len(whole)
        if cut:
            yield whole[:cut]
        carry = whole[cut:]
    if carry:
        yield carry


def templates(block: bytes) -> list[bytes]:
    """What is left of each piece without its digits: the same for lines that differ in numbers."""
    return block.translate(_FLATTEN, DIGITS).split(b"\n")


def pieces(block: bytes, first_number: int) -> Iterator[tuple[int, bytes]]:
    """Number the lines as an editor does; what `\\r` overwrote shares its line's number."""
    for number, line in enumerate(block.split(b"\n"), first_number):
        if b"\r" not in line:
            yield number, line
            continue
        for piece in line.split(b"\r"):
            yield number, piece


def clean(raw: bytes) -> str:
    """Text without colours and control characters, safe to print and to match."""
    raw = raw[:LINE_BYTES]
    if b"\x9b" in raw:
        raw = _C1_OF_ONE_BYTE.sub(b"", raw)
    text = raw.decode("utf-8", "replace").rstrip()
    return text if text.isprintable() else _ESCAPES.sub("", text).rstrip()


def read_line(
    raw: bytes, *, file: str, order: int, number: int, nodes: Collection[str] = ()
) -> LogLine:
    sender = opened(clean(raw), nodes)
    return LogLine(
        file,
        order,
        number,
        sender.text,
        sender.rank,
        sender.stream,
        sender.node,
        sender.bare_number,
    )


_LOOK_BACK_BYTES: Final = 1 << 14
_LOOK_BACK_LINES: Final = 64
_NEAR_BYTES: Final = 2000
_END_BYTES: Final = 1 << 13
_BELOW_LINES: Final = 8
_BELOW_BYTES: Final = 3000
_ABOVE_LINES: Final = 4
_ABOVE_BYTES: Final = 3000
_MOST_BETWEEN: Final = 400
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

    def above(self, end: int, lines: int) -> Iterator[tuple[int, bytes]]:
        """The lines before the one that begins so many lines earlier, as far as they are here."""
        start = end
        for _ in range(min(lines, _MOST_BETWEEN) + 1):
            start = self._raw.rfind(b"\n", 0, start)
            if start < 0:
                return
        number = self.number(end) - lines
        near = self._raw[max(0, start - _ABOVE_BYTES) : start].split(b"\n")[-_ABOVE_LINES:]
        yield from ((number - len(near) + place, raw) for place, raw in enumerate(near))

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


_LEAST_LETTERS: Final = 2
_MOST_STRANGE: Final = 0.3
_MOST_FOREIGN: Final = 0.75
_STRANGE = re.compile("[\ufffd\x01-\x07\x0e-\x1a\x1c-\x1f\x7f-\x9f]")
_CONTROL = re.compile(rb"[\x01-\x07\x0e-\x1a\x1c-\x1f\x7f]")
_ENCODED_LINE = re.compile(r"\s{0,8}[A-Za-z0-9+/_-]{60,}={0,2}\s{0,8}")
_ENCODED = re.compile(r"[A-Za-z0-9+/_-]{160,}={0,2}")
_STANDS_FOR_IT: Final = "…"


def is_text(sample: bytes) -> bool:
    """Holes that a truncated file leaves, colours and another encoding's letters do not matter."""
    text = sample.replace(b"\0", b"").decode("utf-8", "replace").strip()
    letters = sum(map(str.isalnum, text[:200])) >= _LEAST_LETTERS
    return letters and _strange_in(text) <= _MOST_STRANGE


def is_written(line: bytes) -> bool:
    """No random bytes; most of a line in another encoding may be strange, but has no controls."""
    if line.isascii() and _CONTROL.search(line) is None:
        return True
    text = line.replace(b"\0", b"").decode("utf-8", "replace")
    return _strange_in(text) <= (_MOST_STRANGE if _CONTROL.search(line) else _MOST_FOREIGN)


def without_encoded(text: str) -> str:
    """In base64 any short word turns up some day."""
    if _ENCODED_LINE.fullmatch(text):
        return ""
    return _ENCODED.sub(_STANDS_FOR_IT, text)


def _strange_in(text: str) -> float:
    return len(_STRANGE.findall(text)) / max(1, len(text))
