"""Whether bytes are a text that somebody wrote."""

from __future__ import annotations

import re
from typing import Final

_LEAST_LETTERS: Final = 2
_MOST_STRANGE: Final = 0.3
_STRANGE = re.compile("[\ufffd\x01-\x07\x0e-\x1a\x1c-\x1f\x7f-\x9f]")


def is_text(sample: bytes) -> bool:
    """Holes that a truncated file leaves, colours and another encoding's letters do not matter."""
    text = sample.replace(b"\0", b"").decode("utf-8", "replace").strip()
    letters = sum(map(str.isalnum, text[:200])) >= _LEAST_LETTERS
    return letters and len(_STRANGE.findall(text)) <= _MOST_STRANGE * len(text)
