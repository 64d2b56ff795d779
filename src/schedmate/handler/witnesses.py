"""Which lines show a cause: its own, what else says the same, and what the message went on with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from schedmate.handler.rules import BUILT_IN
from schedmate.handler.signature import masked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedmate.handler.reading import Clue, Gathered, LogLine

_MOST: Final = 7
_MORE_OF_MESSAGE: Final = 2


def witnesses(clue: Clue, gathered: Gathered) -> tuple[LogLine, ...]:
    """Its line first; no two that differ in numbers and names only."""
    chosen: dict[str, LogLine] = {}
    for line in (*clue.shown, *_candidates(clue, gathered)):
        if len(chosen) < _MOST and line.text.strip():
            chosen.setdefault(masked(line.text), line)
    return tuple(chosen.values())


def _candidates(clue: Clue, gathered: Gathered) -> Iterator[LogLine]:
    rest = {part.strip() for part in clue.message.split("\n")[1:]}
    yield from [line for line in clue.below if line.text.strip() in rest][:_MORE_OF_MESSAGE]
    yield from (line for line in clue.below if _says(clue.rule.reason, line))
    yield from clue.chain[-1:]
    alike = [other for other in gathered.clues if other.rule.reason == clue.rule.reason]
    alike.sort(key=lambda other: other.confidence, reverse=True)
    yield from (other.line for other in alike if other.line is not None)


def _says(reason: str, line: LogLine) -> bool:
    rule = BUILT_IN.for_line(line.text) or BUILT_IN.for_error(line.text)
    return rule is not None and rule.reason == reason
