"""Tailing one log by polling: the file may not exist yet, rotate, shrink or start anew.

Polling, because inotify does not see what other machines write to a shared file system. No file
stays open between two looks, so a thousand logs cost no descriptors.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from schedmate.files import INVOKER, Reader, Status
from schedmate.logs.decoding import MAGIC
from schedmate.tracker.tailing import rotation
from schedmate.tracker.tailing.backlog import (
    HEAD,
    lines_about,
    sample_last_lines,
    sample_lines,
)
from schedmate.tracker.tailing.budget import ReadBudget
from schedmate.tracker.tailing.cursor import FileCursor, LogPosition
from schedmate.tracker.tailing.lines import MAX_LINE, lines_in

__all__ = ["LogPosition", "LogTailer"]

CHUNK = 262_144
BACKLOG = CHUNK
"""If a poll finds more than this, only informative lines are handed out."""
MAX_PER_POLL = 64 * CHUNK
"""A long backlog is read over several looks, so that no single one keeps the others waiting."""
_BACKLOG_CHUNK = 8 * CHUNK
_PACKED_CHUNK = CHUNK // 8
_LAST_BYTES = 16_384
"""The end of a log that there is no time to read as a whole."""
_REOPEN_EVERY = 16
"""So many quiet looks, and the file is opened all the same: a network file system may show old
sizes until then."""

_State = tuple[int, int, int]


class LogTailer:
    """New lines of one file; it survives rotation, truncation and rewriting."""

    __slots__ = (
        "_budget",
        "_cursor",
        "_held",
        "_path",
        "_quiet",
        "_reader",
        "_seen",
        "_settled",
        "_unread",
        "lines",
        "refused",
        "rewritten",
    )  # fmt: skip

    def __init__(
        self, path: Path, position: LogPosition | None = None, *, reader: Reader = INVOKER
    ) -> None:
        self.refused = False
        """The last look found something that may not be read."""
        self.rewritten = False
        """The last look found the file written anew in cursor."""
        self.lines = position.lines if position else 0
        """How many were read; about, where a backlog was only sampled."""
        self._path = str(path)
        self._reader = reader
        self._cursor = FileCursor(position)
        self._seen: _State = (0, 0, position.written_ns if position else 0)
        self._settled = False
        self._quiet = 0
        self._unread = False
        self._held = [line.encode("latin-1") for line in position.held] if position else []
        self._budget: ReadBudget | None = None

    @property
    def path(self) -> Path:
        return Path(self._path)

    @property
    def behind(self) -> bool:
        """The last look did not reach the end of the file."""
        return self._unread or bool(self._held)

    @property
    def position(self) -> LogPosition:
        """Where a tailer after a restart goes on without reading anything twice."""
        return self._cursor.position(
            self._path,
            lines=self.lines,
            written_ns=self._seen[2],
            held=tuple(line.decode("latin-1") for line in self._held),
        )

    def hold(self, lines: list[bytes]) -> None:
        """Hand these out again at the next look, before all else: this one takes too long."""
        self._held += lines

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
        return self._cursor.cutter.open_bar if self._settled else None

    def read_new(self, budget: ReadBudget | None = None) -> Iterator[list[bytes]]:
        """Yield the lines completed since the last look, chunk by chunk.

        Of a long backlog, beyond the head of the log, only informative lines. No chunk is read
        once the budget is spent.
        """
        self.rewritten, self._budget = False, budget
        now = self._state()
        self._settled = now == self._seen and not self.behind
        self._quiet = self._quiet + 1 if self._settled else 0
        if self._held:
            held, self._held = self._held, []
            yield held
        if self._held or now is None or (self._settled and self._quiet % _REOPEN_EVERY):
            return
        try:  # gone, forbidden or stale: perhaps not next time
            yield from self._read_file()
        except FileNotFoundError:
            return
        except OSError:
            self.refused = True

    def skip_to_end(self) -> None:
        """Take what the file holds now as read: it is from an earlier run."""
        with suppress(OSError), self._opened(self._path) as file:
            found = os.fstat(file)
            self._cursor.begin(found.st_ino)
            if os.pread(file, len(MAGIC), 0) != MAGIC:
                self._cursor.jump(file, found.st_size - MAX_LINE)
            self._budget, self._unread = None, True
            while self._unread:
                for _ in self._read_on(file):
                    pass
            self._cursor.leave_open_line()
            self._seen = _state(found)
        self.lines = 0

    def skip_to_tail(self) -> int:
        """Leave out all but the end of the file; return how many bytes of it are never read."""
        with suppress(OSError), self._opened(self._path) as file:
            found, cursor = os.fstat(file), self._cursor
            left_out = found.st_size - _LAST_BYTES - cursor.offset
            if not cursor.inode and os.pread(file, len(MAGIC), 0) != MAGIC:
                cursor.begin(found.st_ino)
            same = cursor.inode == found.st_ino and cursor.continues_in(file)
            if same and left_out > 0 and not cursor.packed:
                cursor.jump(file, found.st_size - _LAST_BYTES)
                self._held.clear()
                return left_out
        return 0

    def _stopped(self) -> bool:
        return bool(self._held) or (self._budget is not None and self._budget.spent)

    def _state(self) -> _State | None:
        self.refused = False
        try:
            found = self._reader.stat(self._path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:
            self.refused = True
            return None
        self.refused = not stat.S_ISREG(found.st_mode)
        return None if self.refused else _state(found)

    def _read_file(self) -> Iterator[list[bytes]]:
        with self._opened(self._path) as file:
            found = os.fstat(file)
            now = _state(found)
            if not stat.S_ISREG(found.st_mode) or (self._settled and now == self._seen):
                return
            self._settled = False
            if self._cursor.inode != found.st_ino or not self._cursor.continues_in(file):
                yield from self._move_on(file, found)
            if self._cursor.inode == found.st_ino:
                yield from self._read_on(file)
        self._seen = now

    def _move_on(self, file: int, found: os.stat_result) -> Iterator[list[bytes]]:
        """Read what is left of the file that was read so far, then begin with this one."""
        in_place = self._cursor.inode == found.st_ino
        rest = self._copied() if in_place else self._renamed()
        if (
            rest is None
            and not in_place
            and self._cursor.offset
            and self._cursor.continues_in(file)
        ):
            self._cursor.inode = found.st_ino  # it was replaced by a longer copy of itself
            return
        if rest is None and in_place:
            self.rewritten, self.lines = True, 0
            yield []  # this is news, even if nothing is in it yet
        while rest is not None:
            yield from self._read_rest(rest)
            if self.behind:
                return
            if not in_place:
                yield self._cursor.cutter.finish()
            rest = rotation.successor(self._path, self._reader, of=rest)
            if rest is not None:  # there were several rotations since the last look
                self._cursor.begin(self._reader.stat(rest).st_ino, carry=in_place)
        self._cursor.begin(found.st_ino, carry=in_place and not self.rewritten)

    def _renamed(self) -> str | None:
        """The file read so far under its new name."""
        if not self._cursor.inode:
            return None
        name = rotation.by_inode(self._path, self._reader, self._cursor.inode)
        if name is None or not (self._cursor.offset or rotation.is_rotated(self._path, name)):
            return None
        return name if self._goes_on_in(name) else None

    def _copied(self) -> str | None:
        """A copy of the file read so far, made before it was truncated."""
        copies = rotation.copies(self._path, self._reader, since_ns=self._seen[2])
        return next(filter(self._goes_on_in, copies), None)

    def _goes_on_in(self, name: str) -> bool:
        with suppress(OSError), self._opened(name) as file:
            return self._cursor.continues_in(file)
        return False

    def _read_rest(self, name: str) -> Iterator[list[bytes]]:
        with self._opened(name) as file:
            self._cursor.inode = os.fstat(file).st_ino
            yield from self._read_on(file)

    def _read_on(self, file: int) -> Iterator[list[bytes]]:
        cursor, self._unread = self._cursor, True
        stop = cursor.offset + (MAX_PER_POLL // 8 if cursor.packed else MAX_PER_POLL)
        backlog = os.fstat(file).st_size - cursor.offset > BACKLOG
        while cursor.offset < stop:
            sampled = backlog and cursor.offset >= HEAD
            wanted = _PACKED_CHUNK if cursor.packed else _BACKLOG_CHUNK if sampled else CHUNK
            chunk = os.pread(file, wanted, cursor.offset)
            at_end = len(chunk) < wanted
            if at_end and not cursor.packed:
                chunk = _written(chunk)
            for ended in cursor.take(chunk):
                yield self._lines_of(ended, sampled=sampled, last=at_end)
            if at_end:
                self._unread = False
                return
            cursor.skip_hole(file, chunk)
            if self._stopped():
                return

    @contextmanager
    def _opened(self, path: str) -> Iterator[int]:
        """A descriptor; what has become a pipe in the meantime does not keep us waiting."""
        file = self._reader.open(path)
        try:
            yield file
        finally:
            os.close(file)

    def _lines_of(self, ended: bytes, *, sampled: bool, last: bool) -> list[bytes]:
        if not sampled:
            lines = lines_in(ended)
            self.lines += len(lines)
            return lines
        self.lines += lines_about(ended)
        return (sample_last_lines if last else sample_lines)(
            ended, before=self._cursor.offset - len(ended)
        )


def _written(end: bytes) -> bytes:
    """Without what may change yet: a network file system shows zeros before the data arrive."""
    return b"" if end == MAGIC[:1] else end.rstrip(b"\0")


def _state(found: Status) -> _State:
    return found.st_ino, found.st_size, found.st_mtime_ns
