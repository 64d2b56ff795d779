"""From bytes to lines: bounded blocks, clean text, and which rank wrote it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedmate.logs import opened

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

BLOCK_BYTES = 1 << 19
LINE_BYTES = 800
"""What is looked at of one line; nobody states a cause further to the right."""

_FLATTEN = bytes.maketrans(b"\r", b"\n")
DIGITS = b"0123456789"
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
    text = raw[:LINE_BYTES].decode("utf-8", "replace").rstrip()
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
