"""What a failed run said at its end, when nothing that was found in its logs explains it."""

from __future__ import annotations

from itertools import groupby

from schedmate.handler.reading import Clue, Gathered, LogLine
from schedmate.handler.rules import BUILT_IN, Weight
from schedmate.handler.rules.said import last_words


def clue_from_the_end(gathered: Gathered) -> Clue | None:
    """The clearest of the logs' last words; always below what a model may refine."""
    ends = groupby(gathered.tail, key=lambda line: line.order)
    clues = [clue for _, lines in ends if (clue := _of_log(list(lines))) is not None]
    return max(clues, key=lambda clue: clue.confidence, default=None)


def _of_log(tail: list[LogLine]) -> Clue | None:
    tail = [line for line in tail if not _is_wrapping(line.text)]
    found = last_words([line.text for line in tail])
    if found is None:
        return None
    at, rule = found
    line = tail[at]
    return Clue(rule=rule, confidence=rule.confidence, line=line, shown=(line,), message=line.text)


def _is_wrapping(text: str) -> bool:
    """A launcher's word that something failed is no word on why."""
    rule = BUILT_IN.for_line(text)
    return rule is not None and rule.weight is Weight.WRAPPER
