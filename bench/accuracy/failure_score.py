"""How right an answer is, beside the label of the case."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from bench.accuracy.failure_baselines import Answer, Method
from bench.corpora.failure_cases import HEALTHY, LabelledCase
from schedmate.model.failures import REASONS


@dataclass(frozen=True, slots=True)
class Score:
    case: LabelledCase
    answer: Answer
    seconds: float

    @property
    def right(self) -> bool:
        label = self.case.label
        return bool(self.answer.reasons & {label.reason, *label.accept})

    @property
    def decided(self) -> bool:
        """Right as labelled, or as an accepted reason's own default says."""
        label = self.case.label
        accepted = self.answer.reasons & set(label.accept)
        return self.answer.retry in {label.retry, *(REASONS[reason].retry for reason in accepted)}

    @property
    def shown(self) -> bool:
        pieces = self.case.label.cause
        return any(piece in line for piece in pieces for line in self.answer.lines or ())

    @property
    def blamed(self) -> bool:
        return not self.case.label.ranks or self.answer.ranks == self.case.label.ranks

    @property
    def alarmed(self) -> bool:
        return self.case.label.healthy and HEALTHY not in self.answer.reasons

    @property
    def harmful(self) -> bool:
        """A user's error is tried again on other nodes: days of GPUs for nothing."""
        users = REASONS[self.case.label.reason].category == "user"
        return users and self.answer.retry == "elsewhere"

    @property
    def wrong(self) -> str:
        """What is wrong with it, in a word or two; empty when nothing is."""
        failed = not self.case.label.healthy
        checks = (
            ("reason", self.right),
            ("decision", self.decided or self.answer.retry is None),
            ("cause not shown", self.shown or not (failed and self.case.label.cause)),
            ("rank", self.blamed),
        )
        return ", ".join(what for what, fine in checks if not fine)


def score(method: Method, labelled: LabelledCase) -> Score:
    """Reading the logs for the other methods is not part of the time."""
    case, text = labelled.to_case(), labelled.text()
    begun = time.perf_counter()
    answer = method(case, text)
    return Score(labelled, answer, time.perf_counter() - begun)


def share(fine: Iterable[bool]) -> str:
    counted = list(fine)
    return f"{100 * sum(counted) / len(counted):.1f} %" if counted else "-"
