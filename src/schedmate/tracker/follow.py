"""Following one log by polling: it may not be there yet, rotate, shrink or start anew.

Polling, because inotify does not see what other machines write to a shared file system; and
no file is held open between two looks, so a thousand logs cost no descriptors.
"""

from __future__ import annotations

import contextlib
import os
import stat
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from schedmate.tracker.lines import LineCutter

CHUNK = 262_144
MOST_PER_LOOK = 64 * CHUNK
"""A long backlog is read over several looks, so that no single one keeps the others waiting."""
_ANCHOR = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPosition:
    """Up to where a file has been read: always the start of a line.

    `anchor` digests the bytes before it, so that a file written anew is noticed even when it
    has already grown past the old offset.
    """

    path: str
    inode: int
    offset: int
    anchor: int
    lines: int = 0
    """How many lines of this run were read up to here."""


class LogFollower:
    """New lines of one file; whatever happens to the file, it goes on."""

    def __init__(self, path: Path, position: LogPosition | None = None) -> None:
        self.path = path
        self.rewritten = False
        """The last look found the file written anew in place."""
        self.behind = False
        """The last look did not reach the end of the file."""
        self.lines = position.lines if position else 0
        self._cutter = LineCutter()
        self._seen = (0, 0, 0)
        self._settled = False
        self._inode = position.inode if position else 0
        self._offset = position.offset if position else 0
        self._anchor = position.anchor if position else zlib.crc32(b"")

    @property
    def position(self) -> LogPosition:
        """Where a follower after a restart goes on without reading anything twice."""
        return LogPosition(
            path=str(self.path),
            inode=self._inode,
            offset=self._line_start,
            anchor=self._anchor,
            lines=self.lines,
        )

    @property
    def written_at(self) -> float | None:
        """When the file had last been written at the last look; None while it was not there."""
        return self._seen[2] / 1e9 if self._seen[2] else None

    def written_before(self, moment: float) -> bool:
        """Whether the file is there and has not been written since."""
        now = self._state()
        return now is not None and now[2] / 1e9 < moment

    @property
    def open_bar(self) -> bytes | None:
        """A bar drawn without a line end, once it has not changed between two looks.

        A line that is still being written is no news; half a number is worse than none.
        """
        return self._cutter.open_bar if self._settled else None

    def look(self) -> Iterator[list[bytes]]:
        """Yield the lines completed since the last look, chunk by chunk."""
        self.rewritten = False
        now = self._state()
        self._settled = now == self._seen and not self.behind
        if now is None or self._settled:
            return
        self._seen = now
        with contextlib.suppress(OSError):  # gone, forbidden or stale: perhaps not next time
            yield from self._look_into()

    def skip_to_end(self) -> None:
        """Take what the file holds now as read: it is from an earlier run."""
        for _ in self.look():
            pass
        if self.behind:
            self.skip_to_end()
        self.lines = 0

    def _look_into(self) -> Iterator[list[bytes]]:
        file = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            self._find_place(file)
            yield from self._read_on(file)
            self._anchor = self._anchor_in(file)
        finally:
            os.close(file)

    @property
    def _line_start(self) -> int:
        return self._offset - self._cutter.open_bytes

    def _state(self) -> tuple[int, int, int] | None:
        try:
            found = self.path.stat()
        except OSError:
            return None
        if not stat.S_ISREG(found.st_mode):
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns

    def _find_place(self, file: int) -> None:
        """Start anew in a file that is not the one read so far, go on in the same."""
        found = os.fstat(file)
        same_file = found.st_ino == self._inode
        if same_file and found.st_size >= self._offset and self._anchor_in(file) == self._anchor:
            return
        self.rewritten = same_file
        self._inode, self._offset, self.lines = found.st_ino, 0, 0
        self._cutter = LineCutter()

    def _anchor_in(self, file: int) -> int:
        length = min(_ANCHOR, self._line_start)
        return zlib.crc32(os.pread(file, length, self._line_start - length))

    def _read_on(self, file: int) -> Iterator[list[bytes]]:
        end = self._offset + MOST_PER_LOOK
        self.behind = True
        while self._offset < end:
            chunk = os.pread(file, CHUNK, self._offset)
            if not chunk:
                self.behind = False
                return
            lines = self._cutter.feed(chunk)
            self._offset += len(chunk)
            self.lines += len(lines)
            if lines:
                yield lines
