"""Which processes went on writing after what went wrong in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from schedmate.handler.reading.lines import LogLine, clean
from schedmate.logs import opened

_MOST_WATCHED: Final = 64
_LONG_ENOUGH: Final = 4 << 20
"""Bytes of others' lines after which a process that was silent so long counts as dead."""
_MOST_LINES: Final = 30
_FEW_BYTES: Final = 1000


@dataclass(slots=True)
class Fate:
    """Shared by all that went wrong in one process since it last seemed well."""

    went_on: bool = False


@dataclass(slots=True)
class _Watch:
    fate: Fate
    mark: bytes
    since: int


class Life:
    def __init__(self) -> None:
        self._watched: dict[str, _Watch] = {}
        self._passed = 0

    @property
    def watching(self) -> bool:
        return bool(self._watched)

    def fate(self, line: LogLine, raw: bytes) -> Fate:
        """Watch the process that wrote this line."""
        watch = self._watched.get(line.stream)
        if watch is None:
            if len(self._watched) >= _MOST_WATCHED:
                del self._watched[next(iter(self._watched))]
            watch = self._watched[line.stream] = _Watch(Fate(), _mark(line, raw), self._passed)
        return watch.fate

    def calm(self, block: bytes, start: int, end: int) -> None:
        """These lines are calm: who wrote any of them is alive."""
        if not self._watched or start >= end:
            return
        if end - start < _FEW_BYTES:
            lines = block[start:end].split(b"\n")
            alive = {opened(text).stream for line in lines if (text := clean(line))}
        else:
            alive = {
                stream
                for stream, watch in self._watched.items()
                if _is_alive(watch.mark, block, start, end)
            }
        self._settle(alive, end - start)

    def _settle(self, alive: set[str], passed: int) -> None:
        for stream in alive & self._watched.keys():
            self._watched.pop(stream).fate.went_on = True
        self._passed += passed
        while self._watched:
            stream, watch = next(iter(self._watched.items()))
            if self._passed - watch.since <= _LONG_ENOUGH:
                break
            del self._watched[stream]


def _is_alive(mark: bytes, block: bytes, start: int, end: int) -> bool:
    if mark:
        return block.find(mark, max(0, start - 1), end) >= 0
    return _has_unmarked(block[start : min(end, start + (1 << 14))])


def _mark(line: LogLine, raw: bytes) -> bytes:
    """Bytes that its other lines have too; a time before the rank is different in each."""
    if not line.stream:
        return b""
    before = clean(raw).removesuffix(line.text).rstrip()
    if before.strip() == line.stream:
        return b"\n" + before.encode()
    return b" " + line.stream.rpartition(" ")[2].encode()


def _has_unmarked(lines: bytes) -> bool:
    for raw in lines.split(b"\n")[:_MOST_LINES]:
        text = clean(raw)
        if text and not opened(text).stream:
            return True
    return False
