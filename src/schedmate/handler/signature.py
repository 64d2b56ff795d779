"""The same failure has the same signature, whatever its numbers, paths and names."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schedmate.handler.case import Case

_MASKS: Final = (
    (re.compile(r"'[^']{0,400}'|\"[^\"]{0,400}\"|`[^`]{0,400}`"), "<q>"),
    (re.compile(r"\b(?:[a-z][a-z0-9+]{1,10}://)\S{1,400}"), "<url>"),
    (re.compile(r"(?:[\w.\-~]{1,200})?(?:/[\w.\-+@=]{1,200}){1,60}/?"), "<path>"),
    (re.compile(r"\b0x[0-9a-fA-F]{1,32}\b|\b(?=[a-f]{0,40}\d)[0-9a-f]{8,64}\b"), "<hex>"),
    (re.compile(r"\d{1,400}(?:[.,:]\d{1,400}){0,40}"), "<n>"),
    (re.compile(r"\s{1,400}"), " "),
)


def masked(text: str) -> str:
    """What stays the same of a line from one run to the next."""
    for pattern, stand_in in _MASKS:
        text = pattern.sub(stand_in, text)
    return text.strip()


def signature(case: Case, lines: Iterable[str]) -> str:
    """Digest what the lines that matter say and how the run ended."""
    verdict = f"{case.state or ''}|{case.exit_code}|{case.signal}|{case.hung}"
    text = "\n".join([verdict, *(masked(line) for line in lines)])
    return hashlib.sha256(text.encode()).hexdigest()[:32]
