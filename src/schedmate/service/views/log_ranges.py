"""Parts of a log, however long it is: read by byte offsets, never as a whole.

Lines are numbered as an editor numbers them. The number of a line far behind needs all line feeds
before it; they are counted once, a block at a time, and remembered for the file.
"""

from __future__ import annotations

import os
import threading
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from schedmate.files import files_of
from schedmate.logs import is_plain, plain
from schedmate.model import NotFound
from schedmate.model.key_blocks import LONGEST as LONGEST_KEY
from schedmate.model.key_blocks import KeyBlocks
from schedmate.service.views.log_terminal import ScreenLine, screen_line

if TYPE_CHECKING:
    from schedmate.files import Reader

BLOCK: Final = 1 << 20
MOST_LINES: Final = 400
_MOST_BYTES: Final = 1 << 18
"""What is read for one page: lines of a log have some hundred bytes."""
_LONGEST_LINE: Final = 16 * BLOCK
"""A bar that overwrites itself is one line; a longer one is shown in parts."""
_BLOCKS_AT_ONCE: Final = 128
_MOST_UNPACKED: Final = 32 * BLOCK
_HEAD: Final = 4096
_INDEXES: Final = 64


class MissingLog(NotFound):
    """There is no such file, as its owner sees it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    offset: int
    """Of its first byte."""
    number: int | None
    """Counted from one; None where the lines before it are not counted yet, and for the rest of
    a line whose beginning is not in it."""
    screen: ScreenLine

    @property
    def anchor(self) -> str:
        return f"o{self.offset}" if self.number is None else f"L{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRange:
    lines: tuple[LogLine, ...]
    begin: int
    end: int
    """Offsets of the first byte of the range, and of the first one behind it."""
    size: int

    @property
    def at_end(self) -> bool:
        return self.end >= self.size


@dataclass(slots=True)
class _Index:
    """How many line feeds are before every block of a file."""

    head: bytes
    feeds: list[int] = field(default_factory=lambda: [0])
    lock: threading.Lock = field(default_factory=threading.Lock)


_indexes: OrderedDict[tuple[int, int], _Index] = OrderedDict()
_indexes_lock = threading.Lock()


class LogFile:
    """An open log; offsets count bytes of its text."""

    def __init__(self, file: int) -> None:
        found = os.fstat(file)
        self._file, self._content = file, b""
        head = os.pread(file, _HEAD, 0)
        self.packed = not is_plain(head)
        self.unpacked_in_part = False
        self.size = found.st_size
        self.identity = f"{found.st_ino:x}"
        """Another file under the same name has another one."""
        self._key = (found.st_dev, found.st_ino)
        self._head = head[: min(256, found.st_size)]
        if self.packed:
            self._content = b"".join(_limited(plain(_chunks(file))))
            self.size = len(self._content)
            self.unpacked_in_part = self.size >= _MOST_UNPACKED

    def read(self, begin: int, count: int) -> bytes:
        if self.packed:
            return self._content[begin : begin + count]
        return os.pread(self._file, max(0, min(count, self.size - begin)), begin)

    def forwards(self, begin: int, *, lines: int = MOST_LINES, masked: bool) -> LogRange:
        """From the line that holds the byte `begin` on."""
        at = begin = self.line_start(max(0, min(begin, self.size)))
        found: list[LogLine] = []
        short = False
        while at < self.size and len(found) < lines and at - begin <= _LONGEST_LINE:
            line = self._long_line_at(at)
            if line is not None:
                found.append(self._long_line(*line, masked=masked))
                at, short = line[1], False
            elif short:
                break
            else:
                raw = self.read(at, _MOST_BYTES)
                whole = at + len(raw) >= self.size
                raw = _first_lines(raw, lines - len(found), whole=whole)
                found += self._lines(at, raw, masked=masked)
                at, short = at + len(raw), True
        return LogRange(lines=tuple(found), begin=begin, end=at, size=self.size)

    def backwards(self, end: int, *, lines: int = MOST_LINES, masked: bool) -> LogRange:
        """The last lines before the byte `end`."""
        at = end = max(0, min(end, self.size))
        found: list[LogLine] = []
        short = False
        while at > 0 and len(found) < lines and end - at <= _LONGEST_LINE:
            line = self._long_line_before(at)
            if line is not None:
                found.insert(0, self._long_line(*line, masked=masked))
                at, short = line[0], False
            elif short:
                break
            else:
                raw = _last_lines(
                    self.read(*self._before(at)), lines - len(found), whole=at <= _MOST_BYTES
                )
                at, short = at - len(raw), True
                found[:0] = self._lines(at, raw, masked=masked)
        return LogRange(lines=tuple(found), begin=at, end=end, size=self.size)

    def line_start(self, offset: int) -> int:
        """Where the line begins that holds this byte; of one that is shown in parts, the byte."""
        line = self._line_around(offset)
        return offset if line is None else line[0]

    def line_end(self, offset: int) -> int:
        """Behind the line that holds this byte, however long it is."""
        while raw := self.read(offset, BLOCK):
            feed = raw.find(b"\n")
            if feed >= 0:
                return offset + feed + 1
            offset += len(raw)
        return offset

    def offset_of(self, number: int) -> int:
        """Where a line begins; NotFound beyond the last one."""
        index, wanted = self._index(), number - 1
        with index.lock:
            while index.feeds[-1] < wanted and self._count_block(index):
                pass
            block = max(0, bisect_left(index.feeds, wanted) - 1)
            before = index.feeds[block]
        raw, at = self.read(block * BLOCK, BLOCK), 0
        for _ in range(wanted - before):
            at = raw.find(b"\n", at) + 1
            if not at:
                raise NotFound(f"this log has no line {number}")
        return block * BLOCK + at

    def number_at(self, offset: int) -> int | None:
        """The number of the line that begins there.

        None where counting takes longer than one request may: the next one goes on with it.
        """
        index, block = self._index(), offset // BLOCK
        with index.lock:
            for _ in range(_BLOCKS_AT_ONCE):
                if len(index.feeds) > block or not self._count_block(index):
                    break
            if len(index.feeds) <= block:
                return None
            before = index.feeds[block]
        rest = self.read(block * BLOCK, offset - block * BLOCK)
        return before + rest.count(b"\n") + 1

    def _count_block(self, index: _Index) -> bool:
        """Whole blocks only: the last one may still grow."""
        begin = (len(index.feeds) - 1) * BLOCK
        if begin + BLOCK > self.size:
            return False
        index.feeds.append(index.feeds[-1] + self.read(begin, BLOCK).count(b"\n"))
        return True

    def _index(self) -> _Index:
        if self.packed:
            return _Index(self._head)
        with _indexes_lock:
            known = _indexes.get(self._key)
            if known is None or not self._head.startswith(known.head) or self._shrunk(known):
                known = _indexes[self._key] = _Index(self._head)
            _indexes.move_to_end(self._key)
            while len(_indexes) > _INDEXES:
                _indexes.popitem(last=False)
            return known

    def _shrunk(self, known: _Index) -> bool:
        return (len(known.feeds) - 1) * BLOCK > self.size

    def _before(self, end: int) -> tuple[int, int]:
        """Where to read from, and how much, for what is before this byte."""
        begin = max(0, end - _MOST_BYTES)
        return begin, end - begin

    def _long_line_at(self, begin: int) -> tuple[int, int] | None:
        """From where to where the line goes that begins here, if it is longer than a page."""
        raw = self.read(begin, _MOST_BYTES)
        if begin + len(raw) >= self.size or b"\n" in raw:
            return None
        line = self._line_around(begin)
        return line if line is not None and line[0] == begin else None

    def _long_line_before(self, end: int) -> tuple[int, int] | None:
        if end <= _MOST_BYTES or b"\n" in self.read(*self._before(end))[:-1]:
            return None
        line = self._line_around(end - 1)
        return None if line is None else (line[0], end)

    def _line_around(self, offset: int) -> tuple[int, int] | None:
        """From where to where the line goes that holds this byte; None beyond `_LONGEST_LINE`."""
        start = offset
        while start > 0:
            begin, count = self._before(start)
            feed = self.read(begin, count).rfind(b"\n")
            start = begin + feed + 1
            if feed >= 0:
                break
            if offset - start > _LONGEST_LINE:
                return None
        end = offset
        while raw := self.read(end, _MOST_BYTES):
            feed = raw.find(b"\n")
            end += len(raw) if feed < 0 else feed + 1
            if end - start > _LONGEST_LINE:
                return None
            if feed >= 0:
                break
        return start, end

    def _long_line(self, begin: int, end: int, *, masked: bool) -> LogLine:
        """As a terminal leaves it, without what was overwritten before its last part."""
        last = self.read(*self._before(end)).rstrip(b"\r\n")
        _, redrawn, last = last.partition(b"\r")
        if redrawn:
            if masked:
                last = self._keys(end - len(last) - 1).masked(last)
            screen = screen_line(last, masked=masked)
            states = self.read(begin, end - begin).rstrip(b"\r\n").count(b"\r")
            screen = replace(screen, redrawn=states)
        else:
            first = self.read(begin, _MOST_BYTES)
            clean = self._keys(begin).masked(first) if masked else first
            screen = screen_line(clean, masked=masked)
            screen = replace(screen, cut=screen.cut + end - begin - len(first))
        return LogLine(offset=begin, number=self.number_at(begin), screen=screen)

    def _lines(self, begin: int, raw: bytes, *, masked: bool) -> list[LogLine]:
        """The rest of a line that began before has no number: its first part has it."""
        number = self.number_at(begin)
        keys = self._keys(begin) if masked else None
        rest = begin > 0 and self.read(begin - 1, 1) != b"\n"
        return [
            LogLine(
                offset=begin + at,
                number=None if number is None or (rest and not place) else number + place,
                screen=screen_line(
                    raw[at:behind] if keys is None else keys.masked(raw[at:behind]), masked=masked
                ),
            )
            for place, (at, behind) in enumerate(pairwise([*_starts(raw), len(raw)]))
        ]

    def _keys(self, begin: int) -> KeyBlocks:
        """That mask the lines from this byte on, also of a private key that began before."""
        at = max(0, begin - LONGEST_KEY)
        return KeyBlocks(self.read(at, begin - at))


@contextmanager
def open_log(path: Path, owner: str) -> Iterator[LogFile]:
    """With the rights of the job's owner; NotFound where they do not suffice, MissingLog where
    there is nothing.
    """
    reader: Reader = files_of(owner)
    try:
        file = reader.open(str(path))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise MissingLog(f"{path.name} is not there: it was deleted or moved") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it cannot be read"
        raise NotFound(f"{path.name}: {reason}") from error
    try:
        yield LogFile(file)
    finally:
        os.close(file)


@contextmanager
def empty_log() -> Iterator[LogFile]:
    """Stands for one that is not there."""
    with Path(os.devnull).open("rb") as nothing:
        yield LogFile(nothing.fileno())


def _chunks(file: int) -> Iterator[bytes]:
    at = 0
    while chunk := os.pread(file, BLOCK, at):
        at += len(chunk)
        yield chunk


def _limited(chunks: Iterator[bytes]) -> Iterator[bytes]:
    left = _MOST_UNPACKED
    for chunk in chunks:
        yield chunk[:left]
        left -= len(chunk)
        if left <= 0:
            return


def _starts(raw: bytes) -> list[int]:
    """Where the lines of a text begin."""
    starts, at = [0] if raw else [], 0
    while (at := raw.find(b"\n", at) + 1) and at < len(raw):
        starts.append(at)
    return starts


def _first_lines(raw: bytes, count: int, *, whole: bool) -> bytes:
    """As many lines as wanted; one that is cut at the end only where there is no other."""
    at = 0
    for _ in range(count):
        feed = raw.find(b"\n", at)
        if feed < 0:
            return raw if whole or not at else raw[:at]
        at = feed + 1
    return raw[:at]


def _last_lines(raw: bytes, count: int, *, whole: bool) -> bytes:
    """As many lines as wanted; one that is cut at its beginning only where there is no other."""
    cut = 0 if whole else raw.find(b"\n") + 1
    raw = raw[cut:] if cut < len(raw) else raw
    starts = _starts(raw)
    return raw[starts[-count] :] if len(starts) > count else raw
