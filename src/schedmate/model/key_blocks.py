"""Private keys that span lines of a log: taken out line by line, wherever a range begins."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from schedmate.model.redaction import MARK

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST: Final = 1 << 15
"""Bytes from the begin of a key to its end; one without an end hides so many."""
_DASHES: Final = b"-----"
_MARKER: Final = re.compile(rb"-----(BEGIN|END) (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_COLOURS: Final = re.compile(rb"\x1b\[[0-?]{0,40}[ -/]{0,4}[@-~]")
_MARK: Final = MARK.encode()
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]{60,76}={0,2}")


def masked_quotes(texts: Sequence[str]) -> list[str]:
    """Lines of one file in their order, some of which may be left out between them."""
    raw = [text.encode("utf-8", "surrogatepass") for text in texts]
    markers = [found[1] for line in raw for found in _MARKER.finditer(_COLOURS.sub(b"", line))]
    begun = markers[:1] == [b"END"]  # before what is quoted
    keys = KeyBlocks(b"-----BEGIN PRIVATE KEY-----\n" if begun else b"")
    clean = [keys.masked(line).decode("utf-8", "surrogatepass") for line in raw]
    return [MARK if _is_of_a_key(text) else text for text in clean]


def may_be_of_a_key(text: str) -> bool:
    """Whether the lines around this one matter."""
    return "-----" in text or _is_of_a_key(text)


def _is_of_a_key(text: str) -> bool:
    """A line that is nothing but base64, as those within a key are; digests have one case."""
    line = text.strip()
    return _BASE64.fullmatch(line) is not None and line.upper() != line != line.lower()


class KeyBlocks:
    """Reads the lines of a log in their order; `before` is the text in front of the first."""

    def __init__(self, before: bytes = b"") -> None:
        self._left = 0
        if _DASHES in before:
            self.masked_lines(before)

    def masked_lines(self, text: bytes) -> bytes:
        """Whole lines, but for the last one."""
        if not self._left and _DASHES not in text:
            return text
        return b"".join(map(self.masked, re.findall(rb"[^\n]*\n|[^\n]+", text)))

    def masked(self, line: bytes) -> bytes:
        """What of the line belongs to a key is replaced; a line with a marker has no colours."""
        if not self._left and _DASHES not in line:
            return line
        plain = _COLOURS.sub(b"", line)
        markers = list(_MARKER.finditer(plain))
        if not self._left and not markers:
            return line
        shown, at = _MARK if self._left else b"", 0
        for marker in markers:
            begins = marker[1] == b"BEGIN"
            if begins and not self._left:
                shown += plain[at : marker.start()] + _MARK
                self._left = LONGEST
            elif not begins and self._left:
                self._left, at = 0, marker.end()
        if not self._left:
            return shown + plain[at:]
        self._left = max(0, self._left - len(line))
        return shown + plain[len(plain.rstrip(b"\r\n")) :]
