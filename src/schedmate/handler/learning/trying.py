"""Trying learned rules again: on their examples, on logs that somebody gives, on healthy ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from schedmate.handler.learning.healthy import MOST_SECONDS, Matcher, OnLog, healthy_logs, scan
from schedmate.model.lessons import LearnedRule
from schedmate.model.ports import History

_MOST_SHOWN: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """`found` are lines of the given logs, `caught` the line of a healthy one, if any."""

    rule: str
    missed: tuple[str, ...]
    """Its own examples that it does not match."""
    found: tuple[str, ...]
    caught: str
    healthy_logs: int
    of: int

    @property
    def ok(self) -> bool:
        return not self.missed and not self.caught


def try_rules(
    rules: Sequence[LearnedRule],
    given: Sequence[Path],
    history: History,
    *,
    seconds: float = MOST_SECONDS,
    on_log: OnLog | None = None,
) -> list[Trial]:
    """A log that is given is not held against a rule, even if its run ended well."""
    told = scan(rules, healthy_logs(history, leave_out=given), seconds=seconds, on_log=on_log)
    return [
        Trial(
            rule=rule.id,
            missed=tuple(line for line in rule.positives if not matcher.matches(line)),
            found=tuple(
                line for log in given for line in islice(matcher.lines_in(log), _MOST_SHOWN)
            ),
            caught=told.hits.get(rule.id, ""),
            healthy_logs=told.logs,
            of=told.of,
        )
        for rule, matcher in ((rule, Matcher(rule)) for rule in rules)
    ]
