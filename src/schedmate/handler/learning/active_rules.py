"""The rules in force, and their precedence: operators', built-in, accepted ones of a model.

A rule of an operator goes before every other. One that a model proposed and a person accepted is
asked only where the built-in ones give no reason at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from schedmate.handler.case import Case
from schedmate.handler.cause import first_cause
from schedmate.handler.credibility import credible
from schedmate.handler.learning.proposals import compiled
from schedmate.handler.reading import Clue, Gathered
from schedmate.handler.rules import BUILT_IN, RULES, Rule, RuleSet
from schedmate.model import BadInput
from schedmate.model.lessons import LearnedRule, Teacher

CORRECTED_CONFIDENCE: Final = 0.95
MODEL_CONFIDENCE: Final = 0.7
"""A rule made of an answer is no surer than the answer was."""
_CONFIDENCE: Final[dict[Teacher, float]] = {
    "operator": CORRECTED_CONFIDENCE,
    "llm": MODEL_CONFIDENCE,
}


class ActiveRules:
    """The rule set with the learned rules; built again only when they change."""

    def __init__(self) -> None:
        self._learned: tuple[LearnedRule, ...] = ()
        self.rule_set = BUILT_IN
        self.teachers: dict[str, Teacher] = {}

    def put(self, learned: Sequence[LearnedRule]) -> ActiveRules:
        asked = tuple(replace(rule, hits=0, last_hit=None) for rule in learned if rule.asked)
        if asked == self._learned:
            return self
        active_rules = ActiveRules()
        active_rules._learned = asked
        active_rules.teachers = {rule.id: rule.origin.teacher for rule in asked}
        active_rules.rule_set = _rule_set(asked)
        return active_rules

    def pick(self, case: Case, gathered: Gathered) -> Clue | None:
        """The first cause by the rules of the highest precedence."""
        gathered = credible(case, gathered)
        found = self._first(case, gathered, self._by("operator"))
        if found is not None:
            return found
        found = first_cause(case, _only(gathered, lambda clue: not clue.rule.learned))
        if found is not None and found.rule.reason != "unknown":
            return found
        return self._first(case, gathered, self._by("llm")) or found

    def _by(self, teacher: Teacher) -> Callable[[Clue], bool]:
        return lambda clue: self.teachers.get(clue.rule.id) == teacher

    @staticmethod
    def _first(case: Case, gathered: Gathered, theirs: Callable[[Clue], bool]) -> Clue | None:
        mine = _only(gathered, theirs)
        found = first_cause(case, mine) if mine.clues else None
        return found if found is not None and theirs(found) else None


def as_rule(learned: LearnedRule) -> Rule:
    return Rule(
        name=learned.id,
        reason=learned.reason,
        learned=True,
        pattern=compiled(learned.pattern),
        confidence=_CONFIDENCE[learned.origin.teacher],
        words=learned.words,
        positives=learned.positives,
    )


def _rule_set(learned: Iterable[LearnedRule]) -> RuleSet:
    """Operators' rules are asked about a line before the built-in ones, models' after them."""
    before: list[Rule] = []
    after: list[Rule] = []
    for one in learned:
        try:
            rule = as_rule(one)
        except (BadInput, ValueError):  # kept by another version, or by hand
            continue
        (before if one.origin.teacher == "operator" else after).append(rule)
    return RuleSet((*before, *RULES, *after)) if before or after else BUILT_IN


def _only(gathered: Gathered, wanted: Callable[[Clue], bool]) -> Gathered:
    return replace(gathered, clues=tuple(clue for clue in gathered.clues if wanted(clue)))
