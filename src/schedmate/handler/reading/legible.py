"""Whether bytes are a text that somebody wrote."""

from __future__ import annotations

import re
from typing import Final

_LEAST_LETTERS: Final = 2
_MOST_STRANGE: Final = 0.3
_MOST_FOREIGN: Final = 0.75
_STRANGE = re.compile("[\ufffd\x01-\x07\x0e-\x1a\x1c-\x1f\x7f-\x9f]")
_CONTROL = re.compile(rb"[\x01-\x07\x0e-\x1a\x1c-\x1f\x7f]")
_ENCODED_LINE = re.compile(r"\s{0,8}[A-Za-z0-9+/_-]{60,}={0,2}\s{0,8}")
_ENCODED = re.compile(r"[A-Za-z0-9+/_-]{160,}={0,2}")
_STANDS_FOR_IT: Final = "…"


def is_text(sample: bytes) -> bool:
    """Holes that a truncated file leaves, colours and another encoding's letters do not matter."""
    text = sample.replace(b"\0", b"").decode("utf-8", "replace").strip()
    letters = sum(map(str.isalnum, text[:200])) >= _LEAST_LETTERS
    return letters and _strange_in(text) <= _MOST_STRANGE


def is_written(line: bytes) -> bool:
    """No random bytes; most of a line in another encoding may be strange, but has no controls."""
    if line.isascii() and _CONTROL.search(line) is None:
        return True
    text = line.replace(b"\0", b"").decode("utf-8", "replace")
    return _strange_in(text) <= (_MOST_STRANGE if _CONTROL.search(line) else _MOST_FOREIGN)


def without_encoded(text: str) -> str:
    """In base64 any short word turns up some day."""
    if _ENCODED_LINE.fullmatch(text):
        return ""
    return _ENCODED.sub(_STANDS_FOR_IT, text)


def _strange_in(text: str) -> float:
    return len(_STRANGE.findall(text)) / max(1, len(text))
