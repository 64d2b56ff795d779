"""Corrections and answers become remembered failures and learned rules."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from schedmate.handler.case import Case
from schedmate.handler.learning.active_rules import ActiveRules
from schedmate.handler.learning.proposals import propose, rule_id
from schedmate.handler.learning.trials import MOST_SECONDS, OnLog, healthy_logs, scan
from schedmate.handler.reading import LogLine, gather
from schedmate.handler.signature import Key, masked
from schedmate.model import REASONS, BadInput
from schedmate.model.lessons import LearnedRule, Origin, PastFailure
from schedmate.model.ports import Experience

_ALL: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """What was remembered, the rule made of it, and why there is none or it may not answer."""

    failure: PastFailure
    rule: LearnedRule | None = None
    problem: str = ""


class Teaching:
    """Checks everything that is learnt."""

    def __init__(
        self, experience: Experience, *, seconds: float = MOST_SECONDS, on_log: OnLog | None = None
    ) -> None:
        self._experience = experience
        self._seconds = seconds
        self._on_log = on_log

    def teach(
        self,
        case: Case,
        *,
        reason: str,
        line: LogLine,
        keys: Sequence[Key],
        confidence: float,
        origin: Origin,
        make_rule: bool = True,
    ) -> Lesson:
        """Remember the answer by the failure's signatures, and try to make a rule of it."""
        signatures = tuple(dict.fromkeys(key.signature for key in keys))
        make_rule = make_rule and reason != "not_failed"  # harmless here may be a cause elsewhere
        replaced = origin.teacher == "operator" and self._disable_contradicted(signatures, reason)
        rule, problem = self._rule_of(case, reason, line, origin) if make_rule else (None, "")
        if rule is not None and replaced and not rule.enabled:  # disabled by the one replaced now
            rule = self.keep(replace(rule, enabled=True))
            problem = rule.refused
        failure = PastFailure(
            id=_failure_id(origin, signatures),
            signatures=signatures,
            reason=reason,
            line=line.text,
            confidence=confidence,
            origin=origin,
            rule=rule.id if rule else "",
        )
        self._experience.remember_failure(failure)
        return Lesson(failure=failure, rule=rule, problem=problem)

    def add(self, reason: str, text: str, origin: Origin) -> LearnedRule:
        """A rule from a given line, without a failure at hand."""
        check_reason(reason)
        return self.keep(self._proposed(reason, text, origin))

    def keep(self, rule: LearnedRule) -> LearnedRule:
        """Keep a rule with the verdict of every healthy log on file."""
        checked = self.checked(rule)
        self._experience.keep_rule(checked)
        return checked

    def accept(self, rule: LearnedRule, *, by: str) -> LearnedRule:
        """Enable a proposal, unless it matches a healthy log."""
        return self.keep(replace(rule, enabled=True, accepted_by=by))

    def refuse(self, rule: LearnedRule, *, by: str) -> LearnedRule:
        """Keep a proposal as refused, so that it is not proposed again; forget its answer."""
        refused = replace(rule, enabled=False, refused=f"refused by {by}")
        self._experience.keep_rule(refused)
        for past in self._experience.past_failures(teacher="llm", limit=_ALL):
            if past.rule == rule.id:
                self._experience.forget_failure(past.id)
        return refused

    def checked(self, rule: LearnedRule, *, case: Case | None = None) -> LearnedRule:
        own = [log for log in (case.logs if case else ()) if isinstance(log, Path)]
        logs = healthy_logs(self._experience, leave_out=own)
        scanned = scan([rule], logs, seconds=self._seconds, on_log=self._on_log)
        return replace(rule, healthy_logs=scanned.logs, refused=scanned.hits.get(rule.id, ""))

    def _disable_contradicted(self, signatures: Sequence[str], reason: str) -> bool:
        """Rules of a person's older corrections of the same failure; whether there are any."""
        known = self._experience.recall_failures(signatures).values()
        older = {past.rule for past in known if past.corrected and past.reason != reason}
        for rule in self._experience.learned_rules():
            if rule.id in older and rule.enabled:
                self._experience.keep_rule(replace(rule, enabled=False))
        return bool(older)

    def _rule_of(
        self, case: Case, reason: str, line: LogLine, origin: Origin
    ) -> tuple[LearnedRule | None, str]:
        """A refused rule is kept with its reason, so that it is not proposed again."""
        try:
            check_reason(reason)
            rule = self._proposed(reason, line.text, origin)
        except BadInput as error:
            return None, str(error)
        known = {one.id: one for one in self._experience.learned_rules()}.get(rule.id)
        persons_word = origin.teacher == "operator"
        if known is not None and not (persons_word and known.origin.teacher == "llm"):
            return known, known.refused
        problem = self._answers(rule, case, line)
        if problem:
            return None, problem
        checked = self.checked(rule, case=case)
        self._experience.keep_rule(checked)
        return checked, checked.refused

    def _answers(self, rule: LearnedRule, case: Case, line: LogLine) -> str:
        """It must give this reason for the failure it was made of, and show that line."""
        others = [one for one in self._experience.learned_rules() if one.id != rule.id]
        applied = replace(rule, enabled=True, accepted_by=rule.accepted_by or "trial")
        active_rules = ActiveRules().put([*others, applied])
        clue = active_rules.pick(case, gather(case, active_rules.rule_set))
        if clue is None or clue.line is None:
            return "no rule: it would not explain the failure it was made of"
        if clue.rule.reason != rule.reason or masked(clue.line.text) != masked(line.text):
            return f"no rule: the failure would still be taken for {clue.rule.reason}"
        return ""

    @staticmethod
    def _proposed(reason: str, text: str, origin: Origin) -> LearnedRule:
        proposal = propose(text)
        return LearnedRule(
            enabled=origin.teacher == "operator",
            id=rule_id(reason, proposal.pattern),
            reason=reason,
            pattern=proposal.pattern,
            words=proposal.words,
            positives=(text.strip(),),
            origin=origin,
        )


def check_reason(reason: str) -> None:
    if reason in REASONS and REASONS[reason].category != "none":
        return
    near = get_close_matches(reason, REASONS, n=3) or ("data_error", "storage_io", "gpu_oom")
    raise BadInput(f"{reason!r} is no reason of a failure: did you mean {' or '.join(near)}?")


def check_correction(reason: str) -> None:
    """A false alarm can be corrected too; `unknown` corrects nothing."""
    if reason == "unknown":
        raise BadInput(
            "'unknown' corrects nothing: say what it was, or not_failed if nothing was wrong"
        )
    if reason != "not_failed":
        check_reason(reason)


def _failure_id(origin: Origin, signatures: Sequence[str]) -> str:
    digest = hashlib.sha256("\n".join([origin.teacher, *signatures]).encode()).hexdigest()
    return "c" + digest[:7]
