"""Records as the JSON that tables keep."""

from __future__ import annotations

import re

from schedmate.model import wire

_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
_NO_CHARACTER = "\\1\N{REPLACEMENT CHARACTER}"


def dumps(value: object) -> str:
    return without_nul(wire.dumps(value))


def without_nul(text: str) -> str:
    """PostgreSQL reads no JSON that has one, and SQLite's texts end there."""
    return _NUL.sub(_NO_CHARACTER, text) if "\\u0000" in text else text
