"""The rules that are asked, in their order: the built-in ones, or with others beside them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import re2

from schedmate.handler.case import Case
from schedmate.handler.rules.base import Rule
from schedmate.handler.rules.needles import options, widened


class RuleSet:
    """Cheap to make; what makes asking fast is made when it is first asked."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple(rules)
        self._of_cases = tuple(rule for rule in self.rules if rule.predicate)

    def for_line(self, text: str) -> Rule | None:
        """The first rule that explains any line of a log."""
        return self._of_lines.first(text)

    def for_error(self, text: str) -> Rule | None:
        """The first rule that explains an exception, given as `Type: message`."""
        return self._of_errors.first(text)

    def for_case(self, case: Case) -> tuple[Rule, ...]:
        """The rules that match the scheduler's verdict or the exit code."""
        return tuple(rule for rule in self._of_cases if rule.matches_case(case))

    @cached_property
    def needles(self) -> tuple[bytes, ...]:
        """Literals that find in a whole log the lines that rules may explain."""
        return tuple(sorted({one for rule in self._line_rules for one in _needles(rule)}))

    @cached_property
    def _line_rules(self) -> tuple[Rule, ...]:
        return tuple(rule for rule in self.rules if rule.pattern and not rule.errors_only)

    @cached_property
    def _of_lines(self) -> _Sorted:
        return _Sorted(self._line_rules)

    @cached_property
    def _of_errors(self) -> _Sorted:
        return _Sorted(rule for rule in self.rules if rule.pattern)


class _Sorted:
    """Selects in one pass over a text the few rules to be tried on it."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules = tuple(rules)
        self._always: list[int] = []
        self._members: list[int] = []
        self._wide = [widened(rule.pattern) for rule in self._rules if rule.pattern]
        self._set = re2.Set.SearchSet(options(16))
        for place, rule in enumerate(self._rules):
            (self._members if self._is_added(rule) else self._always).append(place)
        self._set.Compile()

    def _is_added(self, rule: Rule) -> bool:
        found = _needles(rule)
        try:
            return bool(found) and self._set.Add(b"|".join(found)) >= 0
        except re2.error:
            return False

    def first(self, text: str) -> Rule | None:
        raw = text.encode("utf-8", "replace")
        found = self._set.Match(raw) or ()
        if not found and not self._always:
            return None
        places = sorted([*(self._members[member] for member in found), *self._always])
        rules = (self._rules[place] for place in places if self._may_match(place, raw))
        return next((rule for rule in rules if rule.matches_text(text)), None)

    def _may_match(self, place: int, raw: bytes) -> bool:
        """RE2 rejects a text much sooner than `re` does."""
        whole = self._wide[place].whole
        return whole is None or whole.search(raw) is not None


def _needles(rule: Rule) -> tuple[bytes, ...]:
    """Of the pattern, or the words that its author gives where the pattern has none."""
    words = tuple(b"(?i:" + re2.escape(word.encode()) + b")" for word in rule.words)
    return (widened(rule.pattern).needles if rule.pattern else ()) or words
