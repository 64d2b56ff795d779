"""Whether a process did after an alarm what it had done before: then it survived."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from schedmate.handler.reading.lines import DIGITS, clean
from schedmate.handler.reading.noise import is_clearing_up, is_stack
from schedmate.logs import opened, stamped_at

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
        told = [(number, raw) for number, raw in lines if len(raw.strip()) >= _SHORTEST]
        usual = {_template(raw) for number, raw in told if number < first_alarm}
        self._all: list[int] = []
        self._of_stream: dict[str, list[int]] = {}
        for number, raw in told:
            if number <= first_alarm:
                continue
            text = clean(raw)
            for _ in range(_life_in(text, before=_template(raw) in usual)):
                self._all.append(number)
                self._of_stream.setdefault(opened(text).stream, []).append(number)

    def goes_on_after(self, number: int, stream: str) -> bool:
        """Whether the process that writes this stream went on with it."""
        usual = self._of_stream.get(stream, []) if stream else self._all
        return len(usual) - bisect_right(usual, number) >= _ENOUGH


def _life_in(text: str, *, before: bool) -> int:
    """One usual line is enough where a logger wrote it: it was not late, it has a time."""
    if text[:1].isspace() or is_clearing_up(text) or is_stack(text):
        return 0
    if not before and _PROGRESS.search(text) is None:
        return 0
    return 1 if stamped_at(text) is None else _ENOUGH


def _template(raw: bytes) -> bytes:
    return raw.translate(None, DIGITS).strip()
