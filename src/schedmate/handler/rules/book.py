"""The rules that are asked, in their order: the built-in ones, or with others beside them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from schedmate.handler.case import Case
from schedmate.handler.rules.base import Rule


class RuleBook:
    """Cheap to make; what makes asking fast is made when it is first asked."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple(rules)
        self._of_lines = tuple(r for r in self.rules if r.pattern and not r.errors_only)
        self._of_errors = tuple(r for r in self.rules if r.pattern)
        self._of_cases = tuple(r for r in self.rules if r.predicate)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """What the rules themselves want to see lines with."""
        return tuple(dict.fromkeys(word for rule in self.rules for word in rule.words))

    def for_line(self, text: str) -> Rule | None:
        """The first rule that explains any line of a log."""
        return next((rule for rule in self._of_lines if rule.matches_text(text)), None)

    def for_error(self, text: str) -> Rule | None:
        """The first rule that explains an exception, given as `Type: message`."""
        return next((rule for rule in self._of_errors if rule.matches_text(text)), None)

    def for_case(self, case: Case) -> tuple[Rule, ...]:
        """What the scheduler's verdict and the exit code say by themselves."""
        return tuple(rule for rule in self._of_cases if rule.matches_case(case))
