"""Puts the questions to a model, one kind after the other."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from schedmate.llm.asker import ModelAsker
from schedmate.llm.exam.questions import FORMS, MAX_TOKENS, SYSTEM, read_questions
from schedmate.llm.opening import choose_endpoint
from schedmate.model import BadAnswer, ModelUnavailable
from schedmate.model.exam import READS, ExamResult, KindScore, tier_by

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from schedmate.config import LlmSettings
    from schedmate.llm.exam.questions import ExamQuestion
    from schedmate.model import Asker, Ledger
    from schedmate.model.exam import ExamKind

    OnQuestion = Callable[[int, int], None]

PURPOSE: Final = "exam"
_WITHOUT_WHICH_NOTHING: Final = ("schema", "reasons")


def examine(
    settings: LlmSettings, *, cache_dir: Path, ledger: Ledger, on_question: OnQuestion
) -> ExamResult:
    """Examine the model that the settings choose, and keep the result."""
    endpoint = choose_endpoint(settings, cache_dir)
    if endpoint is None or not settings.enabled:
        raise ModelUnavailable("no language model is configured or installed")
    patience = max(settings.deadline_s, settings.background_deadline_s)
    once = replace(settings, repair_turns=0, deadline_s=patience)
    result = take_exam(
        ModelAsker(endpoint, once, cast("Ledger", _Uncached(ledger))),
        endpoint.identity,
        on_question,
    )
    ledger.keep_exam(result)
    return result


def take_exam(asker: Asker, identity: str, on_question: OnQuestion) -> ExamResult:
    """A `ModelError` where it cannot be asked; an invalid answer is a wrong one.

    Where reading is out of reach, what only reading needs is not asked.
    """
    begun = time.monotonic()
    paper = _Paper(asker, read_questions(), on_question)
    scores: list[KindScore] = []
    reads = True
    for kind, least in READS.items():
        score = paper.put(kind, ask=reads or kind in _WITHOUT_WHICH_NOTHING)
        scores.append(score)
        reads = reads and score.share >= least
    return ExamResult(
        identity=identity,
        model=paper.model,
        at=time.time(),
        tier=tier_by({score.kind: score.share for score in scores}),
        scores=tuple(scores),
        tokens=paper.tokens,
        seconds=round(time.monotonic() - begun, 1),
    )


class _Paper:
    def __init__(
        self, asker: Asker, questions: Sequence[ExamQuestion], on_question: OnQuestion
    ) -> None:
        self._asker = asker
        self._questions = questions
        self._on_question = on_question
        self._done = 0
        self.tokens = 0
        self.model = ""

    def put(self, kind: ExamKind, *, ask: bool) -> KindScore:
        right, asked = 0, 0
        questions = [each for each in self._questions if each.kind == kind]
        for question in questions:
            if ask:
                asked += 1
                right += self._answered_rightly(question)
            self._done += 1
            self._on_question(self._done, len(self._questions))
        return KindScore(kind=kind, right=right, asked=asked, questions=len(questions))

    def _answered_rightly(self, question: ExamQuestion) -> bool:
        try:
            answer = self._asker.ask(
                FORMS[question.form],
                question.text,
                purpose=PURPOSE,
                system=SYSTEM,
                max_tokens=MAX_TOKENS,
            )
        except BadAnswer:
            return False
        self.tokens += answer.cost.llm_tokens
        self.model = answer.model
        return question.is_right(answer.value)


class _Uncached:
    """The ledger, but that every question is asked anew."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def cached_answer(self, key: str) -> str | None:  # noqa: ARG002 - whatever it is
        return None

    def cache_answer(self, key: str, answer: str) -> None: ...

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)
