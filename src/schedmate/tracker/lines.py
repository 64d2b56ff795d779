"""From bytes to lines: cut, cleaned, and thinned out where there are too many."""

from __future__ import annotations

import re
from collections.abc import Sequence

LONGEST_LINE = 65_536
"""The rest of a longer line is dropped: no progress line is that long."""

_ESCAPES = re.compile(r"\x1b\[[0-9;?]{0,16}[A-Za-z]")
_VARYING = bytes(range(0x80, 0x100)) + b"0123456789.#+-eE \t"


class LineCutter:
    """Cuts a stream into lines at `\\r` as well as `\\n`; never holds more than one line."""

    def __init__(self) -> None:
        self._open = bytearray()
        self._drawn_over = False
        self.open_bytes = 0
        """True length of the line that has not ended yet, dropped bytes included."""

    @property
    def open_bar(self) -> bytes | None:
        """The unended line, if it draws over the line before, as the last state of a bar does."""
        return bytes(self._open) if self._drawn_over and self._open else None

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the non-empty lines that end in this chunk."""
        end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) + 1
        if end == 0:
            self._keep(chunk)
            return []
        ended = bytes(self._open) + chunk[:end] if self._open else chunk[:end]
        self._open.clear()
        self.open_bytes = 0
        self._drawn_over = ended.endswith(b"\r")
        self._keep(chunk[end:])
        lines = ended.replace(b"\r", b"\n").split(b"\n")
        return [line[:LONGEST_LINE] for line in lines if line]

    def finish(self) -> list[bytes]:
        """Return the last line of a stream that ended without a line end."""
        rest, self._open, self.open_bytes = bytes(self._open), bytearray(), 0
        return [rest] if rest else []

    def _keep(self, rest: bytes) -> None:
        self._open += rest[: LONGEST_LINE - len(self._open)]
        self.open_bytes += len(rest)


def clean(line: bytes) -> str:
    """Text without terminal escapes; what is no UTF-8 becomes a replacement character.

    Its indentation stays: a traceback is known by it.
    """
    text = line.decode("utf-8", "replace")
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    return text.rstrip()


def thinned(lines: Sequence[bytes]) -> list[bytes]:
    """Of lines that differ only in their numbers, keep the last.

    A log of hundreds of megabytes says the same thing a million times; between two looks only
    the newest state counts. Much cheaper than reading every line.
    """
    seen: set[bytes] = set()
    kept: list[bytes] = []
    for line in reversed(lines):
        shape = line.translate(None, _VARYING)
        if shape not in seen:
            seen.add(shape)
            kept.append(line)
    kept.reverse()
    return kept
