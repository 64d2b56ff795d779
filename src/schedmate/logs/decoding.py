"""The text of a log as UTF-8, however it was packed and encoded; an archive may still grow."""

from __future__ import annotations

import bz2
import codecs
import errno
import lzma
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from itertools import chain
from typing import Final, Protocol

MAX_UNPACKED: Final = 2 << 30
_SAMPLE_BYTES: Final = 4096
_MIN_BYTES: Final = 16
_NEARLY_ALL_NULS: Final = 0.8
_FEW: Final = 0.2
_MAX_STRAY_NULS: Final = 0.005
_MAX_STRAY: Final = 0.05
_STRAY: Final = re.compile("[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
"""No letters of a log: controls that no terminal uses, and what is no UTF-8."""
_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NULS_OF: Final = (
    ("utf-32-le", (False, True, True, True)),
    ("utf-32-be", (True, True, True, False)),
    ("utf-16-le", (False, True, False, True)),
    ("utf-16-be", (True, False, True, False)),
)
"""Which of four bytes are NULs where nearly all letters are ASCII."""


def plain(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Unpacked and decoded; an OSError beyond `MAX_UNPACKED` bytes."""
    return _decoded(_unpacked(iter(chunks)))


def is_plain(head: bytes) -> bool:
    """Whether the log's own bytes are its text."""
    return unpacker_for(head) is None and _encoding(head) is None


def _unpacked(chunks: Iterator[bytes]) -> Iterator[bytes]:
    head = next(chunks, b"")
    unpacker = unpacker_for(head)
    if unpacker is None:
        yield head
        yield from chunks
        return
    left = MAX_UNPACKED
    for packed in chain([head], chunks):
        for piece in unpacker.feed(packed):
            yield piece
            left -= len(piece)
            if left < 0:
                raise OSError(errno.EFBIG, "read only as far as its first 2 GB unpacked")


def _decoded(chunks: Iterator[bytes]) -> Iterator[bytes]:
    head = next(chunks, b"")
    encoding = _encoding(head)
    if encoding is None:
        yield head.removeprefix(codecs.BOM_UTF8)
        yield from chunks
        return
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for chunk in chain([head], chunks):
        yield decoder.decode(chunk).encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")


def _encoding(head: bytes) -> str | None:
    """Of two or four bytes a letter, by its mark or by where its NULs are."""
    sample = head[:_SAMPLE_BYTES]
    marked = next((one for one in _MARKS if sample.startswith(one[0])), None)
    if marked is not None and not _is_narrow(sample.removeprefix(marked[0])):
        return marked[1]
    if b"\0" not in sample:
        return None
    sample = sample[: len(sample) // 4 * 4]
    if len(sample) < _MIN_BYTES:
        return None
    shares = [sample[place::4].count(0) * 4 / len(sample) for place in range(4)]
    for name, nuls in _NULS_OF:
        if all(
            share > _NEARLY_ALL_NULS if nul else share < _FEW
            for share, nul in zip(shares, nuls, strict=True)
        ):
            return name
    return None


def _is_narrow(text: bytes) -> bool:
    """Whether this reads as ASCII or UTF-8, so that a mark before it is a stray byte or two.

    Blanks, digits and line ends of two bytes a letter have NULs; most other letters are no UTF-8.
    """
    if not text or text.count(0) > _MAX_STRAY_NULS * len(text):
        return False
    letters = codecs.getincrementaldecoder("utf-8")("replace").decode(text)
    return len(_STRAY.findall(letters)) <= _MAX_STRAY * len(letters)


MAGIC = b"\x1f\x8b"
"""Of gzip, the only kind that grows while it is followed."""
_PIECE = 262_144
_GZIP_BITS = 31
_MAX_MEMORY = 256 << 20
_XZ_MAGIC = b"\xfd7zXZ\0"
_BZ2_MAGIC = b"BZh"
_BZ2_BLOCK = slice(4, 10)
_BZ2_BLOCK_MAGICS = (b"1AY&SY", b"\x17rE8P\x90")
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


class _Member(Protocol):
    """The archives' own decompressors."""

    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    @property
    def needs_input(self) -> bool: ...


class _GzipMember:
    """zlib's, which hands back what it has not come to yet."""

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(_GZIP_BITS)
        self.needs_input = True

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        piece = self._inflate.decompress(self._inflate.unconsumed_tail + data, max_length)
        self.needs_input = not piece and not self._inflate.unconsumed_tail
        return piece

    @property
    def eof(self) -> bool:
        return self._inflate.eof

    @property
    def unused_data(self) -> bytes:
        return self._inflate.unused_data


class Unpacker:
    """Fed with an archive bit by bit; its state is as large as the window of the compression."""

    def __init__(self, member: Callable[[], _Member] = _GzipMember) -> None:
        self.damaged = False
        """Nothing that follows can be read."""
        self.between_members = True
        self._new_member = member
        self._member = member()

    def feed(self, packed: bytes) -> Iterator[bytes]:
        """Yield what these bytes add, in pieces of bounded size; stop where damage begins."""
        while not self.damaged and (packed := self._padding_dropped(packed)):
            try:
                yield from self._of_member(packed)
            except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError):
                self.damaged = True
            packed = self._member.unused_data
            if self._member.eof:
                self.between_members = True
                self._member = self._new_member()

    def _padding_dropped(self, packed: bytes) -> bytes:
        return packed.lstrip(b"\0") if self.between_members else packed

    def _of_member(self, packed: bytes) -> Iterator[bytes]:
        self.between_members = False
        while not self._member.eof:
            piece = self._member.decompress(packed, _PIECE)
            packed = b""
            if piece:
                yield piece
            elif self._member.needs_input:
                return


def unpacker_for(head: bytes) -> Unpacker | None:
    """By how the file begins: gzip, xz, bzip2, and zstd where this Python knows it."""
    if head.startswith(MAGIC):
        return Unpacker()
    if head.startswith(_XZ_MAGIC):
        return Unpacker(lambda: lzma.LZMADecompressor(memlimit=_MAX_MEMORY))
    if head.startswith(_BZ2_MAGIC) and head[_BZ2_BLOCK] in _BZ2_BLOCK_MAGICS:
        return Unpacker(bz2.BZ2Decompressor)
    if head.startswith(_ZSTD_MAGIC):
        return _of_zstd()
    return None


def _of_zstd() -> Unpacker | None:
    try:
        return Unpacker(import_module("compression.zstd").ZstdDecompressor)
    except ImportError:
        return None
