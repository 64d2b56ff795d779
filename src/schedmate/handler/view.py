"""The few lines that a model, or a memory, needs to see of a failed run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from schedmate.handler.reading import Gathered, LogLine

MOST_LINES: Final = 16
_CLUE_LINES: Final = 8
_KEY_LINES: Final = 5


def compressed(gathered: Gathered) -> tuple[LogLine, ...]:
    """Lines that rules noticed, the clearest first, then the end of the logs; in log order."""
    chosen: dict[tuple[int, int, str], LogLine] = {}
    by_weight = sorted(gathered.clues, key=lambda clue: (not clue.final, clue.rule.weight))
    noticed = [line for clue in by_weight for line in clue.shown]
    for line in noticed:
        if len(chosen) < _CLUE_LINES:
            chosen.setdefault((*line.place, line.text), line)
    for line in reversed(gathered.tail):
        if len(chosen) < MOST_LINES:
            chosen.setdefault((*line.place, line.text), line)
    return tuple(sorted(chosen.values(), key=lambda line: line.place))


def key_lines(gathered: Gathered) -> tuple[LogLine, ...]:
    """What the failure is recognised by when no rule explains it: its last words."""
    return gathered.tail[-_KEY_LINES:]
