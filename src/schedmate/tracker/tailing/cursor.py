"""Up to which byte of which file a log has been read, and how that cursor is found again."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from schedmate.logs.decoding import MAGIC, Unpacker
from schedmate.tracker.tailing.lines import LineCutter

_ANCHOR = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPosition:
    """Up to where a file has been read, small enough to be kept over a restart."""

    path: str
    inode: int
    offset: int
    """Reading goes on here: at the start of a line, or of a member of an archive."""
    anchor: int
    """Digests the bytes before the furthest that was read, so that a file written anew is noticed
    even when it has already grown past that."""
    ahead: int = 0
    """How far beyond the offset that furthest byte was."""
    lines: int = 0
    """How many lines of this run were read up to here."""
    written_ns: int = 0
    """When the file had last been written."""
    packed: bool = False
    skip: int = 0
    """So many unpacked bytes after the offset have been read as well."""
    overlong: bool = False
    """The offset is within a line whose beginning was already handed out."""
    carried: str = ""
    """The beginning of this line, in Latin-1, which was in a file that was rotated away."""
    held: tuple[str, ...] = ()
    """Lines before the offset, in Latin-1, that wait for the next look."""


class FileCursor:
    """Takes in the bytes of a file in order and gives out complete lines."""

    __slots__ = (
        "_anchor", "_base", "_carried", "_furthest", "_skip", "_tail", "_unpacked", "_unpacker",
        "cutter", "inode", "offset",
    )  # fmt: skip

    def __init__(self, position: LogPosition | None = None) -> None:
        self.cutter = LineCutter()
        self.begin(0)
        if position is not None:
            self._restore(position)

    def begin(self, inode: int, *, carry: bool = False) -> None:
        """At the start of a file; `carry`: it goes on in the middle of the unended line."""
        if not carry:
            self.cutter = LineCutter()
        self.cutter.open_bytes = 0
        self._carried = self.cutter.open_line
        self.inode, self.offset = inode, 0
        self._furthest = self._base = self._unpacked = self._skip = 0
        self._anchor = zlib.crc32(b"")
        self._tail: bytes | None = b""
        self._unpacker: Unpacker | None = None

    def _restore(self, position: LogPosition) -> None:
        self.inode = position.inode
        self.offset = self._base = position.offset
        self._furthest = position.offset + position.ahead
        self._anchor = position.anchor
        self._tail = None
        self._skip = position.skip
        self._unpacker = Unpacker() if position.packed else None
        self._carried = position.carried.encode("latin-1", "replace")
        self.cutter = LineCutter(overlong=position.overlong, open_line=self._carried)

    def position(
        self, path: str, *, lines: int, written_ns: int, held: tuple[str, ...] = ()
    ) -> LogPosition:
        unended = 0 if self.cutter.overlong else self.cutter.open_bytes
        packed = self._unpacker is not None
        offset = self._base if packed else self.offset - unended
        return LogPosition(
            path=path,
            inode=self.inode,
            offset=offset,
            anchor=self._anchor_now,
            ahead=self._furthest - offset,
            lines=lines,
            written_ns=written_ns,
            packed=packed,
            skip=self._unpacked - unended + self._skip if packed else 0,
            overlong=self.cutter.overlong,
            carried=self._carried.decode("latin-1"),
            held=held,
        )

    @property
    def packed(self) -> bool:
        return self._unpacker is not None

    @property
    def _anchor_now(self) -> int:
        if self._tail is None or self.offset < self._furthest:
            return self._anchor
        return zlib.crc32(self._tail)

    def continues_in(self, file: int) -> bool:
        """Whether this file holds, at its cursor, what was read last."""
        if zlib.crc32(_before(file, self._furthest)) != self._anchor_now:
            return False
        if self._tail is None:
            self._tail = _before(file, self.offset)
            self.cutter.follows(self._tail[-1:])
        return True

    def jump(self, file: int, offset: int) -> None:
        """Go on further down the file; the rest of the line there is not read."""
        if offset > self.offset:
            self.offset = self._furthest = offset
            self._tail = _before(file, offset)
            self._carried = b""
            self.cutter = LineCutter(overlong=True)

    def leave_open_line(self) -> None:
        """What follows in the same line is not read either."""
        if self.cutter.open_bytes and not self.packed:
            self.cutter = LineCutter(overlong=True)
            self._carried = b""

    def skip_hole(self, file: int, chunk: bytes) -> None:
        """Where nothing but zeros was found, go on where the file system knows of data."""
        if chunk[:1] == chunk[-1:] == b"\0" and not self.packed and not chunk.strip(b"\0"):
            try:
                data = os.lseek(file, self.offset, os.SEEK_DATA)
            except OSError:
                return
            self.cutter.open_bytes += data - self.offset
            self.offset = data
            self._furthest = max(self._furthest, data)
            self._tail = _before(file, data)

    def take(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the lines that end in the next bytes of the file, pieces of complete lines."""
        if self.offset == 0 and chunk.startswith(MAGIC):
            self._unpacker = Unpacker()
        self.offset += len(chunk)
        self._tail = ((self._tail or b"") + chunk[-_ANCHOR:])[-_ANCHOR:]
        self._anchor, self._furthest = self._anchor_now, max(self._furthest, self.offset)
        texts = (chunk,) if self._unpacker is None else self._unpack(self._unpacker, chunk)
        for text in texts:
            ended = self.cutter.cut(text)
            if ended:
                self._carried = b""
                yield ended

    def _unpack(self, unpacker: Unpacker, chunk: bytes) -> Iterator[bytes]:
        for piece in unpacker.feed(chunk):
            known = min(self._skip, len(piece))
            self._skip -= known
            self._unpacked += len(piece)
            yield piece[known:]
        if unpacker.damaged or (unpacker.between_members and not self.cutter.open_bytes):
            self._base, self._unpacked, self._skip = self.offset, 0, 0
            self.cutter.open_bytes = 0


def _before(file: int, offset: int) -> bytes:
    length = min(_ANCHOR, offset)
    return os.pread(file, length, offset - length)
