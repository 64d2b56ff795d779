"""Python 2, written so that a newer one can parse it. Lines stay where they are."""

from __future__ import annotations

import re

_START = r"^([ \t]*|[^\n#'\"]{0,200}[:;][ \t]*)"
_CAUGHT = r"^([ \t]*except[ \t][^\n:,()]{1,200}|[ \t]*except[ \t]*\([^\n()]{1,200}\))"
_REWRITTEN = (
    (_START + r"print[ \t]*>>[ \t]*([\w.]{1,80})[ \t]*(?=,|$)", r"\1_ = \2"),
    (_START + r"print[ \t]*(?=['\"\w\[{-])", r"\1_ = "),
    (_START + r"print[ \t]+(?=\()", r"\1_ = "),
    (_CAUGHT + r",[ \t]*(\w+)[ \t]*:", r"\1 as \2:"),
    (r"^([ \t]*raise[ \t]+[\w.]{1,80})[ \t]*,[^\n]*$", r"\1"),
    (r"^([ \t]*)exec[ \t]+(?=[\w'\"])[^\n]*$", r"\1pass"),
    (r"(?<![\w.'\"])0([0-7]{2,6})\b(?![.'\"])", r"0o\1"),
    (r"(?<![\w.])(\d{1,20})[lL]\b", r"\1"),
    (r"<>", "!="),
)
_PATTERNS = tuple((re.compile(pattern, re.MULTILINE), new) for pattern, new in _REWRITTEN)


def in_newer_words(text: str) -> str | None:
    """None where nothing in it looks like Python 2."""
    found = text.expandtabs(8) if "\t" in text else text
    for pattern, new in _PATTERNS:
        found = pattern.sub(new, found)
    return None if found == text else found
