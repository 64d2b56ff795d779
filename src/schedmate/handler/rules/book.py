"""The rules that are asked, in their order: the built-in ones, or with others beside them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import re2

from schedmate.handler.case import Case
from schedmate.handler.rules.base import Rule
from schedmate.handler.rules.superset import options, superset


class RuleBook:
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
        """What the scheduler's verdict and the exit code say by themselves."""
        return tuple(rule for rule in self._of_cases if rule.matches_case(case))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """What marks the lines of those rules whose patterns RE2 cannot read."""
        unread = (rule for rule, wide in self._amid_others if wide is None)
        return tuple(dict.fromkeys(word for rule in unread for word in rule.words))

    @cached_property
    def sources(self) -> tuple[bytes, ...]:
        """What finds the lines of the other rules amid a whole log, and few other lines."""
        return tuple(wide for _, wide in self._amid_others if wide is not None)

    @cached_property
    def _amid_others(self) -> tuple[tuple[Rule, bytes | None], ...]:
        return tuple((rule, _amid_others(rule)) for rule in self._line_rules)

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
    """One pass over a text tells which few rules need be asked about it."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules = tuple(rules)
        self._always: list[int] = []
        self._members: list[int] = []
        self._set = re2.Set.SearchSet(options())
        for place, rule in enumerate(self._rules):
            (self._members if self._added(rule) else self._always).append(place)
        self._set.Compile()

    def _added(self, rule: Rule) -> bool:
        wide = superset(rule.pattern, anywhere=False) if rule.pattern else None
        try:
            return wide is not None and self._set.Add(wide) is not None
        except re2.error:
            return False

    def first(self, text: str) -> Rule | None:
        found = self._set.Match(text.encode("utf-8", "replace")) or ()
        if not found and not self._always:
            return None
        places = sorted([*(self._members[member] for member in found), *self._always])
        rules = (self._rules[place] for place in places)
        return next((rule for rule in rules if rule.matches_text(text)), None)


def _amid_others(rule: Rule) -> bytes | None:
    """None as well where it would stop at every byte."""
    wide = superset(rule.pattern, anywhere=True) if rule.pattern else None
    if wide is None:
        return None
    try:
        return None if re2.compile(wide, options()).search(b"") else wide
    except re2.error:
        return None
