"""Whether a process did after an alarm what it had done before: then it survived."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from schedmate.handler.reading.lines import DIGITS, clean
from schedmate.handler.reading.noise import is_clearing_up, is_stack
from schedmate.logs import opened

if TYPE_CHECKING:
    from collections.abc import Iterable

_PROGRESS: Final = re.compile(
    r"\b(?:step|epoch|iter|iteration|batch|loss|round|episode)s?\b.{0,60}\d|\d(?:it/s|s/it)\b",
    re.IGNORECASE,
)
_SHORTEST: Final = 4
_ENOUGH: Final = 2
"""One line may have been in the pipe when the process died."""


class Routine:
    """The end of a log, line by line, beside what was usual before the first alarm in it."""

    def __init__(self, lines: Iterable[tuple[int, bytes]], first_alarm: int) -> None:
        self._lines = [(number, raw) for number, raw in lines if len(raw.strip()) >= _SHORTEST]
        self._usual = {_template(raw) for number, raw in self._lines if number < first_alarm}

    def goes_on_after(self, number: int, stream: str) -> bool:
        """Whether the process that writes this stream went on with it."""
        after = [raw for at, raw in self._lines if at > number]
        return sum(self._is_usual(raw, stream) for raw in after) >= _ENOUGH

    def _is_usual(self, raw: bytes, stream: str) -> bool:
        text = clean(raw)
        if text[:1].isspace() or is_clearing_up(text) or is_stack(text):
            return False
        if stream and opened(text).stream != stream:
            return False
        return _template(raw) in self._usual or _PROGRESS.search(text) is not None


def _template(raw: bytes) -> bytes:
    return raw.translate(None, DIGITS).strip()
