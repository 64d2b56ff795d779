"""Finding lines of a log without showing all of it: by their words, or because they name trouble.

A request reads so many bytes at most and says how far it came, so that the next one goes on there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import re2

from schedmate.service.views.log_ranges import BLOCK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedmate.service.views.log_ranges import LogFile, LogLine

MOST_MATCHES: Final = 100
_READ_AT_ONCE: Final = 256 * BLOCK
_TROUBLE: Final = re2.compile(
    rb"(?i)traceback \(most recent|(?-i:[a-zA-Z](?:Error|Exception)\b)"
    rb"|(?:\b|\x1b\[[\d;]*m)(?:errors?|exception|fatal|failed|killed|panic|aborted|xid|nan)\b"
    rb"|segmentation fault|core dumped|out of memory"
)
"""Words by which a reader looks for what went wrong; the diagnosis has finer ones. A colour may
stand before them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    lines: tuple[LogLine, ...]
    searched: int
    """The offset up to which the log was read; behind it there may be more."""
    size: int

    @property
    def complete(self) -> bool:
        return self.searched >= self.size


def search(log: LogFile, words: str, *, begin: int = 0, masked: bool) -> Matches:
    """Lines with this text, in any case unless it has a capital letter."""
    any_case = "(?i)" if words == words.lower() else ""
    pattern = re2.compile((any_case + re2.escape(words)).encode())
    found: list[LogLine] = []
    reached = begin
    for offset, reached in _hits(log, pattern, begin):  # noqa: B007 - the last one is wanted
        if offset is None:
            continue
        line = log.forwards(offset, lines=1, masked=masked).lines[0]
        again = bool(found) and found[-1].offset == line.offset  # in the next block of a long line
        if not again and words.lower() in line.screen.text.lower():  # else masked or overwritten
            found.append(line)
        if len(found) >= MOST_MATCHES:
            break
    return Matches(lines=tuple(found), searched=reached, size=log.size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """One line that names trouble, or up to which byte there is none."""

    line: int | None
    """Where it begins."""
    reached: int


def next_trouble(log: LogFile, begin: int) -> Sought:
    """The next line that names trouble, not the one that holds this byte."""
    begin = log.line_end(begin - 1) if begin else 0
    reached = begin
    for at, reached in _hits(log, _TROUBLE, begin):
        if at is not None:
            return Sought(line=log.line_start(at), reached=reached)
    return Sought(line=None, reached=reached)


def previous_trouble(log: LogFile, end: int) -> Sought:
    """The last line that names trouble before the line that holds this byte."""
    at = log.line_start(min(end, log.size))
    until = max(0, at - _READ_AT_ONCE)
    while at > until:
        begin = max(0, at - BLOCK)
        raw = log.read(begin, at - begin)
        cut = raw.find(b"\n") + 1 if begin else 0
        if cut < len(raw):  # else it is the rest of a longer line
            raw, begin = raw[cut:], begin + cut
        starts = [start for start, _ in _lines_with(_TROUBLE, raw)]
        if starts:
            return Sought(line=log.line_start(begin + starts[-1]), reached=begin)
        at = begin
    return Sought(line=None, reached=at)


def names_trouble(text: str) -> bool:
    return _TROUBLE.search(text.encode()) is not None


def _hits(log: LogFile, pattern: Any, begin: int) -> Iterator[tuple[int | None, int]]:
    """Where lines with the pattern begin, and up to where it was looked for; each line once."""
    at, until = begin, min(log.size, begin + _READ_AT_ONCE)
    while at < until:
        raw = log.read(at, BLOCK)
        cut = raw.rfind(b"\n") + 1
        if cut and at + len(raw) < log.size:
            raw = raw[:cut]
        yield from ((at + start, at + behind) for start, behind in _lines_with(pattern, raw))
        at += len(raw)
        yield None, at


def _lines_with(pattern: Any, raw: bytes) -> Iterator[tuple[int, int]]:
    """From where to where each line of a text goes that has the pattern."""
    place = 0
    while (match := pattern.search(raw, place)) is not None:
        start = raw.rfind(b"\n", 0, match.start()) + 1
        end = raw.find(b"\n", match.end())
        place = len(raw) if end < 0 else end + 1
        yield start, place
