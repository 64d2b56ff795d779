"""From a case to a diagnosis: rules, then memory; a model only refines what they leave open."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Final

from schedmate.handler import interpreter, report
from schedmate.handler.cause import first_cause
from schedmate.handler.reading import Gathered, gather
from schedmate.handler.signature import masked, signature
from schedmate.handler.view import compressed, key_lines
from schedmate.model import Cost, ModelError

if TYPE_CHECKING:
    from schedmate.handler.case import Case
    from schedmate.model import Asker, Diagnosis, FailureMemory

SURE_ENOUGH: Final = 0.5
"""Below that a memory or a model may know better."""
_MODEL_CONFIDENCE: Final = 0.7


class Handler:
    def __init__(self, memory: FailureMemory | None = None, asker: Asker | None = None) -> None:
        self._memory = memory
        self._asker = asker
        self._last: tuple[Case, Gathered] | None = None

    def diagnose(self, case: Case) -> Diagnosis:
        """Answer at once and always, without any model."""
        started = perf_counter()
        gathered = self._gathered(case)
        clue = first_cause(case, gathered)
        if clue is not None:
            diagnosis = report.from_clue(case, gathered, clue)
        elif case.failing or gathered.lines == 0:
            diagnosis = report.unknown(case, gathered)
        else:
            diagnosis = report.not_failed(case, gathered)
        if self.leaves_open(diagnosis):
            diagnosis = self._remembered(case, gathered) or diagnosis
        return replace(diagnosis, cost=Cost(seconds=perf_counter() - started))

    @staticmethod
    def leaves_open(diagnosis: Diagnosis) -> bool:
        """Whether a memory or a model may know better."""
        return diagnosis.reason == "unknown" or diagnosis.confidence < SURE_ENOUGH

    def refine(self, case: Case, diagnosis: Diagnosis) -> Diagnosis:
        """Ask the model where the answer is open; what it cannot show in the log is dropped."""
        try:
            return self.ask_model(case, diagnosis)
        except ModelError:
            return diagnosis

    def ask_model(self, case: Case, diagnosis: Diagnosis) -> Diagnosis:
        """As `refine`, but a model that cannot be asked is a `ModelError`."""
        if self._asker is None or not self.leaves_open(diagnosis):
            return diagnosis
        gathered = self._gathered(case)
        view = compressed(gathered)
        if not view:
            return diagnosis
        answer = self._asker.ask(
            interpreter.schema(view),
            interpreter.question(case, view),
            purpose=interpreter.PURPOSE,
            system=interpreter.SYSTEM,
            max_tokens=interpreter.MAX_TOKENS,
        )
        cost = _sum(diagnosis.cost, answer.cost)
        line = interpreter.grounded(answer.value, view)
        if line is None:
            return replace(diagnosis, cost=cost)
        refined = report.from_line(
            case,
            answer.value.reason,
            line,
            words=line.text,
            confidence=_MODEL_CONFIDENCE,
            source="llm",
        )
        if self._memory is not None:
            self._memory.remember_diagnosis(_signature(case, gathered), refined)
        return replace(refined, cost=cost)

    def _gathered(self, case: Case) -> Gathered:
        """Read the logs once for `diagnose` and `refine` of the same case.

        The two may be called by different threads about different cases at the same time.
        """
        last = self._last
        if last is None or last[0] is not case:
            last = self._last = (case, gather(case))
        return last[1]

    def _remembered(self, case: Case, gathered: Gathered) -> Diagnosis | None:
        """A past answer to the same failure, shown again on this log's own lines."""
        if self._memory is None or not gathered.tail:
            return None
        past = self._memory.remembered_diagnosis(_signature(case, gathered))
        if past is None:
            return None
        known = {masked(evidence.text) for evidence in past.evidence}
        lines = [line for line in compressed(gathered) if masked(line.text) in known]
        if not lines:
            return None
        return report.from_line(
            case,
            past.reason,
            lines[0],
            words=past.summary,
            confidence=past.confidence,
            source="memory",
        )


def _signature(case: Case, gathered: Gathered) -> str:
    return signature(case, (line.text for line in key_lines(gathered)))


def _sum(one: Cost, other: Cost) -> Cost:
    return Cost(
        seconds=one.seconds + other.seconds,
        llm_calls=one.llm_calls + other.llm_calls,
        llm_tokens=one.llm_tokens + other.llm_tokens,
    )
