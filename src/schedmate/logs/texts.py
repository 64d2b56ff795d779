"""The text of a log as UTF-8, however it was packed and encoded."""

from __future__ import annotations

import codecs
import errno
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from schedmate.logs.unpacking import unpacker_for

MOST_UNPACKED: Final = 2 << 30
_SAMPLE_BYTES: Final = 4096
_LEAST_BYTES: Final = 16
_MOST: Final = 0.8
_FEW: Final = 0.2
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
    """Unpacked and decoded; an OSError where that would be more than anybody wants to read."""
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
    left = MOST_UNPACKED
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
    marked = next((name for mark, name in _MARKS if head.startswith(mark)), None)
    if marked is not None or b"\0" not in head[:_SAMPLE_BYTES]:
        return marked
    sample = head[:_SAMPLE_BYTES]
    sample = sample[: len(sample) // 4 * 4]
    if len(sample) < _LEAST_BYTES:
        return None
    shares = [sample[place::4].count(0) * 4 / len(sample) for place in range(4)]
    for name, nuls in _NULS_OF:
        if all(
            share > _MOST if nul else share < _FEW for share, nul in zip(shares, nuls, strict=True)
        ):
            return name
    return None
