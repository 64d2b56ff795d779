"""A pattern of `re` as RE2 reads it, made wider so that one small automaton serves all of them.

What the pattern matches, its superset matches too; what only the superset matches is asked again.
"""

from __future__ import annotations

import re
from typing import Final

import re2

from schedmate.handler.rules.base import Pattern

_TOKEN = re.compile(r"\\.|\[\^?\]?|\]|\{\d{1,6}(?:,\d{0,6})?\}\??|[\^$]|[^\x00-\x7f]", re.DOTALL)
_BEYOND_ASCII: Final = r"\x80-\xff"
_MORE: Final = {r"\w": _BEYOND_ASCII, r"\s": r"\x85\xa0\xc2\xe2\x80-\xaf"}
"""What `re` counts among word characters and spaces, byte by byte."""


def options() -> re2.Options:
    """Bytes of any encoding, one line at a time, as much memory as a fast automaton needs."""
    chosen = re2.Options()
    chosen.encoding = re2.Options.Encoding.LATIN1
    chosen.log_errors = False
    chosen.never_capture = True
    chosen.never_nl = True
    chosen.max_mem = 32 << 20
    return chosen


_READING: Final = options()


def superset(pattern: Pattern, *, anywhere: bool) -> bytes | None:
    """None where RE2 cannot read it. `anywhere`: its line may stand amid others, and prefixed."""
    flags = getattr(pattern, "flags", 0)
    if flags & re.VERBOSE:
        return None
    wide = _Widening(anywhere=anywhere).of(pattern.pattern)
    if flags & re.IGNORECASE or not getattr(pattern, "options", _READING).case_sensitive:
        wide = f"(?i:{wide})"
    return wide.encode()


class _Widening:
    """One walk over the pattern's text; RE2 itself says whether the outcome is a pattern."""

    def __init__(self, *, anywhere: bool) -> None:
        self._anywhere = anywhere
        self._in_class = self._many_bytes = False

    def of(self, text: str) -> str:
        return _TOKEN.sub(self._wider, text)

    def _wider(self, token: re.Match[str]) -> str:
        text = token[0]
        if text[0] == "\\":
            return self._escape(text)
        if self._in_class:
            return self._of_class(text)
        if text[0] == "[":
            self._in_class, self._many_bytes = True, "^" in text
            return f"(?:{text}"
        if text[0] == "{":
            return "*" if text.startswith("{0") else "+"
        return "" if text in "^$" and self._anywhere else text

    def _escape(self, text: str) -> str:
        if self._anywhere and text in (r"\A", r"\Z") and not self._in_class:
            return ""
        more = _MORE.get(text)
        if more is None:
            return text
        return f"{text}{more}" if self._in_class else f"[{text}{more}]"

    def _of_class(self, text: str) -> str:
        """One character outside ASCII is several bytes."""
        if text == "]":
            self._in_class = False
            return "]+)" if self._many_bytes else "])"
        self._many_bytes |= not text.isascii()
        return text if text.isascii() else _BEYOND_ASCII
