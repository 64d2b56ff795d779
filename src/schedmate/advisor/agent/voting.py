"""Several answers to one question: what they agree on counts.

A small model likes what is listed first, so the second answer is given with everything in the
other order; where the two disagree, a third that is asked in another way decides, and without a
majority nothing is said.
"""

from __future__ import annotations

from typing import Protocol

from schedmate.advisor.agent.gaps import Choice, Pointed
from schedmate.advisor.agent.question import Question


class Answerer(Protocol):
    @property
    def in_time(self) -> bool:
        """Whether another question may be asked."""

    def put(self, question: Question) -> dict[str, Choice | None]:
        """What is picked by gap, or a `ModelError`."""


def vote(question: Question, answerer: Answerer) -> dict[str, Pointed]:
    """One voice is enough where there was but one value to take or to leave."""
    first = answerer.put(question)
    picked = {name: choice for name, choice in first.items() if choice is not None}
    several = {gap.key for gap in question.gaps if len(gap.choices) > 1}
    doubtful = [name for name in picked if name in several]
    found = {name: Pointed(one, 1) for name, one in picked.items() if name not in doubtful}
    if not doubtful or not answerer.in_time:
        return found
    second = answerer.put(question.about(doubtful).turned())
    split = [name for name in doubtful if second[name] != picked[name]]
    third = {}
    if split and answerer.in_time:
        third = answerer.put(question.about(split).by_name())
    for name in doubtful:
        choice = _majority(picked[name], second[name], third.get(name))
        if choice is not None:
            found[name] = Pointed(choice, 2)
    return found


def _majority(first: Choice, second: Choice | None, third: Choice | None) -> Choice | None:
    if first in (second, third):
        return first
    return second if second == third else None
