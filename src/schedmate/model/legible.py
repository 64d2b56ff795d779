"""Text from logs, scripts and names as a person may safely see it."""

from __future__ import annotations

import re
from typing import Final

from schedmate.model.errors import BadInput

_HIDDEN: Final = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)
"""What moves the cursor, turns the reading direction, is invisible or no character at all."""

_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What no text needs that a person writes on one line."""

_LAST_OF_FOUR_DIGITS: Final = 0xFFFF

LONGEST_NAME: Final = 200
"""Characters of a job's name that are shown."""


def has_hidden(text: str) -> bool:
    return _HIDDEN.search(text) is not None


def one_line(text: str) -> str:
    """The same text; BadInput where it has line breaks or other control characters."""
    if _CONTROL.search(text) is not None:
        raise BadInput("write it on one line, without tabs and other control characters")
    return text


def legible(text: str) -> str:
    """One line in which nothing is hidden; what would be is shown as `\\x1b` or `\\u202e`."""
    return text if text.isprintable() else _HIDDEN.sub(_shown, text)


def legible_lines(text: str) -> str:
    """The same of a text of several lines, which stay lines."""
    return (
        text
        if text.isprintable()
        else "\n".join(legible(line.removesuffix("\r")) for line in text.split("\n"))
    )


def short_name(name: str) -> str:
    """A job's name as pages and answers show it: a name of any length leaves room for others."""
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


def escaped_json(text: str) -> str:
    """JSON that says the same and hides nothing, line breaks of its layout apart."""
    return "\n".join(_HIDDEN.sub(_as_json, line) for line in text.split("\n"))


def _shown(found: re.Match[str]) -> str:
    code = ord(found[0])
    if "\ud800" <= found[0] <= "\udfff":
        return "\N{REPLACEMENT CHARACTER}"
    if code <= 0xFF:  # noqa: PLR2004 - two digits
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= _LAST_OF_FOUR_DIGITS else f"\\U{code:08x}"


def escaped_characters(text: str) -> str:
    """Each character as JSON escapes it: `\\u202e`, two of them beyond the first plane."""
    digits = text.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{digits[at : at + 4]}" for at in range(0, len(digits), 4))


def _as_json(found: re.Match[str]) -> str:
    return escaped_characters(found[0])
