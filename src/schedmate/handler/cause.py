"""The first cause among the clues: what happened first and explains the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from schedmate.handler.last_words import clue_from_the_end
from schedmate.handler.reading import Clue, Gathered
from schedmate.handler.rules import BUILT_IN, Weight

if TYPE_CHECKING:
    from schedmate.handler.case import Case

_AT_THE_END: Final = 20
"""Calm lines that may follow a cause when the scheduler itself already gives a reason."""
_LAST_WORDS: Final = 5
"""Calm lines that may follow it when the run is said to have ended well."""
_SURVIVED_CONFIDENCE: Final = 0.4
_DOUBTED_CONFIDENCE: Final = 0.6
_AFTER_ALL_LINES: Final = (1 << 60, 0)


def first_cause(case: Case, gathered: Gathered) -> Clue | None:
    """None means that nothing found says why, or that nothing went wrong."""
    verdicts = [Clue(rule=rule, confidence=rule.confidence) for rule in BUILT_IN.for_case(case)]
    told = [_doubted(case, clue) for clue in gathered.clues if _counts(case, clue, verdicts)]
    best = min([*told, *verdicts], key=lambda clue: _rank(case, clue), default=None)
    if case.failing and (best is None or best.rule.weight is Weight.WRAPPER):
        return clue_from_the_end(gathered) or best or _survived(gathered)
    return best


def _counts(case: Case, clue: Clue, verdicts: list[Clue]) -> bool:
    if clue.rule.lasting and clue.calm_after > _AT_THE_END + clue.ended - clue.began:
        return False
    if not clue.final:
        return False
    if case.succeeded:
        last_words = clue.uncaught and clue.calm_after <= _LAST_WORDS
        return clue.rule.outlives_success or last_words
    return not verdicts or clue.calm_after <= _AT_THE_END


def _doubted(case: Case, clue: Clue) -> Clue:
    if case.succeeded and not clue.rule.outlives_success:
        return replace(clue, confidence=min(clue.confidence, _DOUBTED_CONFIDENCE))
    return clue


def _rank(case: Case, clue: Clue) -> tuple[int, tuple[int, int]]:
    place = clue.line.place if clue.line else _AFTER_ALL_LINES
    return _weight(case, clue), place


def _weight(case: Case, clue: Clue) -> Weight:
    """A line that claims what the scheduler itself would know, and does not say, is an echo."""
    weight = clue.rule.weight
    if weight is Weight.DECISIVE and clue.line is not None and case.state is not None:
        return Weight.SYMPTOM
    return weight


def _survived(gathered: Gathered) -> Clue | None:
    """The run did fail, and the last thing that went wrong before is better than nothing."""
    causes = [
        clue
        for clue in gathered.clues
        if clue.rule.weight <= Weight.CAUSE and clue.line is not None
    ]
    if not causes:
        return None
    last = max(causes, key=lambda clue: clue.line.place if clue.line else (0, 0))
    return replace(last, confidence=min(last.confidence, _SURVIVED_CONFIDENCE))
