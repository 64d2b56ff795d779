"""From a case to a diagnosis: rules, then a model for what they leave open.

A person's correction has precedence over everything else. What a model answers
holds for the failure it was asked about; what follows for others is a proposal until a person
accepts it.
"""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Final

from schedmate.handler import model_reading, opinion_asking, report
from schedmate.handler.excerpt import candidate_lines, excerpt, mentions_trouble, unusual_lines
from schedmate.handler.explanations import Explanation, explanations
from schedmate.handler.learning.active_rules import (
    CORRECTED_CONFIDENCE,
    MODEL_CONFIDENCE,
    ActiveRules,
)
from schedmate.handler.learning.similar import Example, similar
from schedmate.handler.learning.teaching import Lesson, Teaching
from schedmate.handler.opinion_judging import judge
from schedmate.handler.reading import Clue, Gathered, LogLine, gather
from schedmate.handler.signature import Key, keys_of_cause, keys_of_lines, masked
from schedmate.handler.suggestions import meaning
from schedmate.model import BadInput, Cost, Evidence, ModelError
from schedmate.model.diagnosis import SURE_ENOUGH
from schedmate.model.lessons import Origin
from schedmate.model.masking import masked as without_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from schedmate.handler.case import Case
    from schedmate.model import Asker, Diagnosis
    from schedmate.model.lessons import PastFailure
    from schedmate.model.ports import Experience

_COMPARED: Final = 4
_KEPT_LINES: Final = 30
_KEPT_WIDTH: Final = 300
_log = logging.getLogger("schedmate.handler")


class Analysis:
    """What the logs of one case show without a model; costly parts are computed on demand."""

    def __init__(self, case: Case, gathered: Gathered, clue: Clue | None) -> None:
        self.case = case
        self.gathered = gathered
        self.clue = clue

    @cached_property
    def unusual(self) -> tuple[LogLine, ...]:
        return unusual_lines(self.case, self.gathered)

    @property
    def open(self) -> bool:
        """Whether a memory or a model may know better."""
        clue = self.clue
        return clue is None or clue.rule.reason == "unknown" or clue.confidence < SURE_ENOUGH

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        """By what this failure is recognised; nothing of a run that did not fail."""
        case, clue = self.case, self.clue
        if clue is None and not case.failing:
            return ()
        of_cause = keys_of_cause(case, clue) if clue is not None else ()
        if not self.open:
            return of_cause or keys_of_lines(case, (), self.gathered.tail)
        return (*of_cause, *keys_of_lines(case, self.unusual, self.gathered.tail))

    @property
    def signature(self) -> str:
        return self.keys[0].signature if self.keys else ""

    def line_like(self, text: str, key: Key) -> LogLine | None:
        """The line of this log that equals the text but for numbers and names."""
        wanted = masked(text)
        clue = self.clue.shown if self.clue is not None else ()
        lines = (key.line, *clue, *self.unusual, *self.gathered.tail)
        return next((line for line in lines if masked(line.text) == wanted), None)

    @cached_property
    def view(self) -> tuple[LogLine, ...]:
        return excerpt(self.gathered, self.unusual)

    @cached_property
    def candidate_lines(self) -> tuple[LogLine, ...]:
        return candidate_lines(self.view, self.unusual)

    @property
    def explanations(self) -> tuple[Explanation, ...]:
        """What the rules leave a model to choose from."""
        return explanations(self.gathered, self.candidate_lines, model_reading.DEFINITIONS)


class Handler:
    def __init__(self, experience: Experience | None = None, asker: Asker | None = None) -> None:
        self._experience = experience
        self._asker = asker
        self._active_rules = ActiveRules()
        self._last: Analysis | None = None

    def diagnose(self, case: Case, *, within_s: float | None = None) -> Diagnosis:
        """Answer always, without any model; `TakesLong` where reading takes longer than that."""
        started = perf_counter()
        analysis = self._analyse(case, within_s)
        known = self._known(analysis)
        diagnosis = self._recalled(analysis, known)
        if diagnosis is None:
            diagnosis = _with_hint(analysis, self._by_rules(analysis), known)
        cost = Cost(seconds=perf_counter() - started)
        noted = report.with_what_was_refused(diagnosis, case, analysis.gathered)
        return replace(_with_last_lines(analysis, noted), signature=analysis.signature, cost=cost)

    @staticmethod
    def leaves_open(diagnosis: Diagnosis) -> bool:
        """Whether a memory or a model may know better."""
        return diagnosis.reason == "unknown" or diagnosis.confidence < SURE_ENOUGH

    def wants_model(self, diagnosis: Diagnosis) -> bool:
        """Whether a model is to be asked; one that reads is asked about every failure, once."""
        if diagnosis.opinion is not None:
            return False
        if self.leaves_open(diagnosis):
            return True
        reads = self._asker is not None and self._asker.tier == "read"
        return reads and diagnosis.reason != "not_failed"

    def refine(self, case: Case, diagnosis: Diagnosis) -> Diagnosis:
        """Ask the model where the answer is open; what it cannot show in the log is dropped."""
        try:
            return self.ask_model(case, diagnosis)
        except ModelError:
            return diagnosis

    def ask_model(self, case: Case, diagnosis: Diagnosis) -> Diagnosis:
        """As `refine`, but a model that cannot be asked is a `ModelError`."""
        if self._asker is None or diagnosis.opinion is not None:
            return diagnosis
        analysis = self._analyse(case)
        if self._asker.tier == "read":
            return self._read(analysis, diagnosis, self._asker)
        if not self.leaves_open(diagnosis):
            return diagnosis
        if not analysis.view:
            return diagnosis
        alike = self._similar(analysis, model_reading.DEFINITIONS)
        reasons = model_reading.offered(analysis.explanations)
        reasons = tuple(dict.fromkeys([*(one.reason for one in alike), *reasons]))
        answer = self._asker.ask(
            model_reading.schema(analysis.candidate_lines, reasons),
            model_reading.question(case, analysis.view, reasons, alike),
            purpose=model_reading.PURPOSE,
            system=model_reading.SYSTEM,
            max_tokens=model_reading.MAX_TOKENS,
            about=case.subject,
        )
        cost = diagnosis.cost + answer.cost
        line = model_reading.grounded(answer.value, analysis.candidate_lines, reasons)
        if line is None:
            return replace(diagnosis, cost=cost)
        refined = report.from_line(
            case,
            answer.value.reason,
            line,
            words=line.text,
            confidence=MODEL_CONFIDENCE,
            source="llm",
        )
        self._learn(analysis, refined.reason, line, answer.model)
        refined = _with_last_lines(analysis, refined)
        return replace(refined, signature=analysis.signature, cost=cost)

    def _read(self, analysis: Analysis, diagnosis: Diagnosis, asker: Asker) -> Diagnosis:
        """A model that reads for itself gives a second opinion on every failure."""
        case = analysis.case
        known = self._similar(analysis, opinion_asking.MEANINGS, rules=False)
        read = opinion_asking.read_failure(asker, case, analysis.gathered, similar=known)
        judged = judge(case, diagnosis, read)
        if judged.source == "llm" and read.lines and self.leaves_open(diagnosis):
            self._learn(analysis, judged.reason, read.lines[0], read.answer.model)
        cost = diagnosis.cost + read.answer.cost
        return replace(_with_last_lines(analysis, judged), signature=diagnosis.signature, cost=cost)

    def correct(
        self,
        case: Case,
        reason: str,
        origin: Origin,
        *,
        line: LogLine | None = None,
        teaching: Teaching | None = None,
        make_rule: bool = True,
    ) -> Lesson:
        """Keep a person's correction, by default of the line that shows the cause best."""
        if self._experience is None:
            raise ValueError("there is nothing to remember it in")
        analysis = self._analyse(case)
        shown = line or next((key.line for key in analysis.keys), None)
        if shown is None:
            raise BadInput("nothing in its logs shows a failure: point at a line that does")
        keys = (
            keys_of_lines(case, (shown,), analysis.gathered.tail)[:1]
            if analysis.open
            else analysis.keys
        )
        return (teaching or Teaching(self._experience)).teach(
            case,
            reason=reason,
            line=shown,
            keys=keys,
            confidence=CORRECTED_CONFIDENCE,
            origin=origin,
            make_rule=make_rule,
        )

    def _analyse(self, case: Case, within_s: float | None = None) -> Analysis:
        """Read the logs once for `diagnose` and `refine` of the same case.

        The two may be called by different threads about different cases at the same time.
        """
        last = self._last
        if last is None or last.case is not case:
            active_rules = self._active_rules
            if self._experience is not None:
                active_rules = self._active_rules = active_rules.put(
                    self._experience.learned_rules()
                )
            gathered = gather(case, active_rules.rule_set, within_s)
            last = self._last = Analysis(case, gathered, active_rules.pick(case, gathered))
        return last

    def _by_rules(self, analysis: Analysis) -> Diagnosis:
        case, clue = analysis.case, analysis.clue
        if clue is None:
            if case.failing or not analysis.gathered.readable:
                return report.unknown(case, analysis.gathered)
            return report.not_failed(case, analysis.gathered)
        if clue.rule.learned and self._experience is not None:
            self._experience.count_rule_hit(clue.rule.id, at=time.time())
        diagnosis = report.from_clue(case, analysis.gathered, clue)
        if diagnosis.source != "rule":
            return diagnosis
        return replace(diagnosis, rule=clue.rule.id)

    def _known(self, analysis: Analysis) -> list[tuple[Key, PastFailure]]:
        """What was answered to the same failure before, the best key first."""
        if self._experience is None or not analysis.keys:
            return []
        known = self._experience.recall_failures([key.signature for key in analysis.keys])
        return [(key, past) for key in analysis.keys if (past := known.get(key.signature))]

    @staticmethod
    def _recalled(analysis: Analysis, known: Sequence[tuple[Key, PastFailure]]) -> Diagnosis | None:
        """A person's answer to the same failure, shown again on this log's own line."""
        corrected = [pair for pair in known if pair[1].corrected]
        if not corrected:
            return None
        key, past = corrected[0]
        line = analysis.line_like(past.line, key)
        if line is None:
            return None
        found = report.from_line(
            analysis.case,
            past.reason,
            line,
            words=f"{meaning(past.reason)}, as {past.origin.by} says of such failures: {line.text}",
            confidence=past.confidence,
            source="memory",
        )
        return replace(found, rule=past.id)

    def _similar(
        self, analysis: Analysis, allowed: Iterable[str], *, rules: bool = True
    ) -> tuple[Example, ...]:
        """Only what people confirmed: a model must not confirm its own guesses."""
        memory = self._experience
        past = memory.past_failures(teacher="operator") if memory is not None else ()
        return similar(
            [line.text for line in analysis.unusual[:_COMPARED]],
            [
                Example(one.line, one.reason)
                for one in past
                if one.origin.owner == analysis.case.user
            ],
            allowed=allowed,
            rules=rules,
        )

    def _learn(self, analysis: Analysis, reason: str, line: LogLine, model: str) -> None:
        if self._experience is None:
            return
        origin = Origin(
            teacher="llm", by=model, about=line.file, at=time.time(), owner=analysis.case.user
        )
        lesson = Teaching(self._experience).teach(
            analysis.case,
            reason=reason,
            line=line,
            keys=keys_of_lines(analysis.case, (line,), analysis.gathered.tail)[:1],
            confidence=MODEL_CONFIDENCE,
            origin=origin,
            make_rule=mentions_trouble(line.text),
        )
        if lesson.problem:
            _log.info("no rule from the answer about %s: %s", line.file, lesson.problem)


def _with_last_lines(analysis: Analysis, diagnosis: Diagnosis) -> Diagnosis:
    """Many schedulers overwrite the log of a job that is queued again."""
    if diagnosis.decision.retry == "no":
        return diagnosis
    of_logs = [line for line in analysis.gathered.tail if not line.file.startswith("<")]
    last = of_logs[-_KEPT_LINES:]
    lines = tuple(Evidence(line.file, line.number, line.text[:_KEPT_WIDTH]) for line in last)
    return replace(diagnosis, last_lines=without_secrets(lines))


def _with_hint(
    analysis: Analysis, diagnosis: Diagnosis, known: Sequence[tuple[Key, PastFailure]]
) -> Diagnosis:
    """Mention what a model answered before; reason, confidence and decision stay as they are."""
    past = next((past for _, past in known if not past.corrected), None)
    if past is None or not analysis.open:
        return diagnosis
    words = (diagnosis.suggestion, _hint(past))
    return replace(diagnosis, suggestion="; ".join(word for word in words if word))


def _hint(past: PastFailure) -> str:
    shown = f" (schedmate rules show {past.rule})" if past.rule else ""
    model = " ".join(filter(None, ("the model", past.origin.by)))
    return f"{model} answered {past.reason} for the same failure before{shown}"
