"""What becomes of a model's finding beside the rules' diagnosis.

Agreement raises the confidence. Where they differ, both are shown, the confidence falls below what
a node could be blamed for, and a retry that only one of them leads to is not made. What a
scheduler, a system log or a person says is never outvoted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from schedmate.handler import report
from schedmate.handler.learning.active_rules import MODEL_CONFIDENCE
from schedmate.handler.model_reading import fits
from schedmate.model import REASONS, Decision, Diagnosis, Evidence, Opinion
from schedmate.model.diagnosis import SURE_ENOUGH
from schedmate.model.masking import masked
from schedmate.model.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.handler.case import Case
    from schedmate.handler.opinion_asking import ReadFailure
    from schedmate.handler.opinion_question import ModelFinding
    from schedmate.handler.reading import LogLine

DISPUTED: Final = 0.45
_DOUBT_LEFT: Final = 0.5
"""Of the doubt, where both say the same."""
_MOST_EVIDENCE: Final = 7
_TEXT_LENGTH: Final = 400
_SILENT: Final = frozenset({"unknown", "not_failed"})


def judge(case: Case, diagnosis: Diagnosis, read: ReadFailure) -> Diagnosis:
    finding, lines = read.answer.value, read.lines
    if not lines and finding.reason not in _SILENT:
        return diagnosis  # it showed nothing
    opinion = _opinion(read, diagnosis)
    if opinion.agrees:
        return replace(_surer(diagnosis, lines), opinion=opinion)
    if diagnosis.source == "memory" or finding.reason == "unknown":
        return replace(diagnosis, opinion=opinion)
    if finding.reason == "not_failed":
        return replace(_healthy(case, diagnosis), opinion=opinion)
    if diagnosis.reason in _SILENT or diagnosis.confidence < SURE_ENOUGH:
        return replace(_by_model(case, finding, lines, MODEL_CONFIDENCE), opinion=opinion)
    return replace(_disputed(case, diagnosis, finding, lines), opinion=opinion)


def _opinion(read: ReadFailure, diagnosis: Diagnosis) -> Opinion:
    finding = read.answer.value
    return Opinion(
        model=read.answer.model,
        reason=finding.reason,
        agrees=finding.reason == diagnosis.reason,
        sure=finding.sure,
        rules_reason=diagnosis.reason,
        evidence=masked(tuple(_evidence(line) for line in read.lines)),
        chain=tuple(map(_in_one_line, finding.chain)),
        change=_in_one_line(finding.change),
        code=read.code,
        refuted_by=_in_one_line(finding.refuted_by),
    )


def _in_one_line(text: str) -> str:
    """Safe to show: a model's words are no terminal's."""
    return redact(" ".join("".join(c if c.isprintable() else " " for c in text).split()))


def _surer(diagnosis: Diagnosis, lines: Sequence[LogLine]) -> Diagnosis:
    confidence = round(1 - (1 - diagnosis.confidence) * _DOUBT_LEFT, 3)
    if diagnosis.reason in _SILENT:
        return replace(diagnosis, confidence=confidence)
    more = [_evidence(line) for line in lines]
    evidence = tuple(dict.fromkeys([*diagnosis.evidence, *more]))[:_MOST_EVIDENCE]
    return replace(diagnosis, confidence=confidence, evidence=evidence)


def _healthy(case: Case, diagnosis: Diagnosis) -> Diagnosis:
    """That a run went well is believed only where nothing but its log speaks of a failure."""
    if case.failing or diagnosis.reported_by != "job":
        return diagnosis
    return report.healthy_by_model(case, confidence=MODEL_CONFIDENCE)


def _by_model(
    case: Case, finding: ModelFinding, lines: Sequence[LogLine], confidence: float
) -> Diagnosis:
    first = lines[0]
    made = report.from_line(
        case, finding.reason, first, words=first.text, confidence=confidence, source="llm"
    )
    if made.decision.retry != "no" and not any(fits(finding.reason, line.text) for line in lines):
        made = _without_retry(made, "only a model names it, and no line does")
    evidence = tuple(_evidence(line) for line in lines[:_MOST_EVIDENCE])
    return replace(made, evidence=evidence)


def _disputed(
    case: Case, diagnosis: Diagnosis, finding: ModelFinding, lines: Sequence[LogLine]
) -> Diagnosis:
    """The model's reading of a log goes before a pattern's, not before facts of others."""
    both = f"rules say {diagnosis.reason}, the model {finding.reason}"
    if diagnosis.reported_by != "job" or finding.sure != "sure":
        kept = replace(diagnosis, confidence=min(diagnosis.confidence, DISPUTED))
        return _without_retry(kept, both) if _differ(diagnosis, finding) else kept
    told = _by_model(case, finding, lines, DISPUTED)
    if _differ(diagnosis, finding):
        return _without_retry(told, both)
    decision = replace(diagnosis.decision, exclude_nodes=())
    return replace(told, decision=decision)


def _differ(diagnosis: Diagnosis, finding: ModelFinding) -> bool:
    return diagnosis.decision.retry != REASONS[finding.reason].retry


def _without_retry(diagnosis: Diagnosis, why: str) -> Diagnosis:
    if diagnosis.decision.retry == "no":
        return diagnosis
    return replace(diagnosis, decision=Decision(retry="no", why=f"{diagnosis.reason}: {why}"))


def _evidence(line: LogLine) -> Evidence:
    return Evidence(line.file, line.number, line.text[:_TEXT_LENGTH])
