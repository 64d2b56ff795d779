"""From bytes to lines: bounded blocks, clean text, and which rank wrote it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BLOCK_BYTES = 1 << 20
LINE_BYTES = 800
"""What is looked at of one line; nobody states a cause further to the right."""

_FLATTEN = bytes.maketrans(b"\r", b"\n")
_DIGITS = b"0123456789"
_RANK_PREFIX = re.compile(
    r"""
      \[rank(\d{1,6})\]:[ ]?                          # torch
    | \[default(\d{1,6})\]:[ ]?                       # torchrun --tee
    | \[\d{1,6},(\d{1,6})\]<std(?:out|err)>:?[ ]?     # mpirun --tag-output
    | [ ]{0,4}(\d{1,5}):(?:[ ]|$)                     # srun --label
    | \([A-Za-z_][\w.]{0,60}(?:\ rank=(\d{1,6}),?)?\ pid=\d{1,10}(?:,\ ip=[\d.]{1,40})?\)[ ]?  # Ray
    """,
    re.VERBOSE,
)
_ESCAPES = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line as a person would look it up; `order` is its file's place among the logs."""

    file: str
    order: int
    number: int
    text: str
    rank: int | None = None
    stream: str = ""

    @property
    def place(self) -> tuple[int, int]:
        return self.order, self.number


def blocks(stream: BinaryIO) -> Iterator[bytes]:
    """Whole lines, about a megabyte at a time; a line longer than that is cut."""
    carry = b""
    while chunk := stream.read(BLOCK_BYTES):
        chunk = carry + chunk
        cut = max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) + 1 or len(chunk)
        yield chunk[:cut]
        carry = chunk[cut:]
    if carry:
        yield carry


def templates(block: bytes) -> list[bytes]:
    """What is left of each piece without its digits: the same for lines that differ in numbers."""
    return block.translate(_FLATTEN, _DIGITS).split(b"\n")


def pieces(block: bytes, first_number: int) -> Iterator[tuple[int, bytes]]:
    """Number the lines as an editor does; what `\\r` overwrote shares its line's number."""
    for number, line in enumerate(block.split(b"\n"), first_number):
        if b"\r" not in line:
            yield number, line
            continue
        for piece in line.split(b"\r"):
            yield number, piece


@dataclass(frozen=True, slots=True)
class Page:
    """A block cut into pieces: what they say, what they have in common with others, where."""

    raws: list[bytes]
    templates: list[bytes]
    numbers: Sequence[int]

    @classmethod
    def of(cls, block: bytes, first_number: int) -> Page:
        raws = block.replace(b"\r", b"\n").split(b"\n")
        numbers: Sequence[int] = range(first_number, first_number + len(raws))
        if b"\r" in block:
            numbers = [number for number, _ in pieces(block, first_number)]
        return cls(raws, templates(block), numbers)


def clean(raw: bytes) -> str:
    """Text without colours and control characters, safe to print and to match."""
    text = raw[:LINE_BYTES].decode("utf-8", "replace").rstrip()
    return text if text.isprintable() else _ESCAPES.sub("", text).rstrip()


def read_line(raw: bytes, *, file: str, order: int, number: int) -> LogLine:
    text = clean(raw)
    prefix = _RANK_PREFIX.match(text)
    if prefix is None:
        return LogLine(file, order, number, text)
    rank = next((int(group) for group in prefix.groups() if group), None)
    return LogLine(file, order, number, text[prefix.end() :], rank, prefix.group().strip())
