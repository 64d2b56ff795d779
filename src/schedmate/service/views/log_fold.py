"""A log folded to what matters: the lines that show the cause with their context, and its end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from schedmate.model import NotFound

if TYPE_CHECKING:
    from schedmate.service.views.log_ranges import LogFile, LogRange

_CONTEXT: Final = 8
_END: Final = 25
_WORTH_FOLDING: Final = 20
"""Fewer lines than that are shown rather than folded."""
_MOST_WINDOWS: Final = 20


def folded(log: LogFile, numbers: Iterable[int], *, masked: bool) -> list[LogRange]:
    """Ranges in the order of the log, with lines left out between them."""
    shown: list[LogRange] = []
    for first, last in _windows(sorted(set(numbers)))[:_MOST_WINDOWS]:
        try:
            begin = log.offset_of(first)
        except NotFound:  # the log was begun anew since
            continue
        if begin < log.size:  # else its context begins right behind the last line
            shown.append(log.forwards(begin, lines=last - first + 1, masked=masked))
    end = log.backwards(log.size, lines=_END, masked=masked)
    reached = shown[-1].end if shown else 0
    if end.begin < reached:
        end = log.forwards(reached, masked=masked)
    if reached < log.size and end.lines:
        shown.append(end)
    return shown


def _windows(numbers: Sequence[int]) -> list[tuple[int, int]]:
    windows: list[tuple[int, int]] = []
    for number in numbers:
        first, last = max(1, number - _CONTEXT), number + _CONTEXT
        first = 1 if first <= _WORTH_FOLDING else first
        if windows and first <= windows[-1][1] + _WORTH_FOLDING:
            windows[-1] = (windows[-1][0], last)
        else:
            windows.append((first, last))
    return windows
