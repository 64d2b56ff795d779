"""A quote counts only where the file or log has it to the letter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHORTEST: Final = 3


class Quote(BaseModel):
    """A line, or a part of one, as it is written."""

    model_config = ConfigDict(extra="forbid")
    file: str
    line: int
    text: str


def found_at(text: str, lines: Sequence[str], near: int) -> int | None:
    """The number of the line that has this text in it, the nearest to the one that was named.

    Numbers begin at 1. A model may miscount; it may not misquote.
    """
    wanted = text.strip()
    if len(wanted) < _SHORTEST:
        return None
    if 1 <= near <= len(lines) and wanted in lines[near - 1]:
        return near
    places = [number for number, line in enumerate(lines, 1) if wanted in line]
    return min(places, key=lambda number: abs(number - near), default=None)
