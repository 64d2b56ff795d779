"""What an answer is worth beside the case's label."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from bench.accuracy.failure_baselines import Answer, Asked
from bench.corpora.failure_cases import HEALTHY, ExamCase
from schedmate.model.failures import REASONS


@dataclass(frozen=True, slots=True)
class Mark:
    exam: ExamCase
    answer: Answer
    seconds: float

    @property
    def right(self) -> bool:
        label = self.exam.label
        return bool(self.answer.reasons & {label.reason, *label.accept})

    @property
    def decided(self) -> bool:
        """Right as labelled, or as an accepted reason's own default says."""
        label = self.exam.label
        accepted = self.answer.reasons & set(label.accept)
        return self.answer.retry in {label.retry, *(REASONS[said].retry for said in accepted)}

    @property
    def shown(self) -> bool:
        pieces = self.exam.label.cause
        return any(piece in line for piece in pieces for line in self.answer.lines or ())

    @property
    def blamed(self) -> bool:
        return not self.exam.label.ranks or self.answer.ranks == self.exam.label.ranks

    @property
    def alarmed(self) -> bool:
        return self.exam.label.healthy and HEALTHY not in self.answer.reasons

    @property
    def harmful(self) -> bool:
        """A user's error is tried again on other nodes: days of GPUs for nothing."""
        users = REASONS[self.exam.label.reason].category == "user"
        return users and self.answer.retry == "elsewhere"

    @property
    def wrong(self) -> str:
        """What is wrong with it, in a word or two; empty when nothing is."""
        failed = not self.exam.label.healthy
        checks = (
            ("reason", self.right),
            ("decision", self.decided or self.answer.retry is None),
            ("cause not shown", self.shown or not (failed and self.exam.label.cause)),
            ("rank", self.blamed),
        )
        return ", ".join(what for what, fine in checks if not fine)


def mark(method: Asked, exam: ExamCase) -> Mark:
    case, text = exam.to_case(), exam.text()
    begun = time.perf_counter()
    answer = method(case, text)
    return Mark(exam, answer, time.perf_counter() - begun)


def share(fine: Iterable[bool]) -> str:
    counted = list(fine)
    return f"{100 * sum(counted) / len(counted):.1f} %" if counted else "-"
