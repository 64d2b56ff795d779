"""What a person decides about a diagnosis or a proposed rule, whoever carries it to us."""

from __future__ import annotations

import stat
from dataclasses import replace
from typing import TYPE_CHECKING

from schedmate.files import files_of, mode_of
from schedmate.model import REASONS, BadInput, Decision, NotFound
from schedmate.model.lessons import Origin
from schedmate.service.usecases.interventions import record_correction

if TYPE_CHECKING:
    from schedmate.model import Diagnosis, Job
    from schedmate.model.lessons import LearnedRule, PastFailure
    from schedmate.store import Store

_ALL = 10_000


def correct_diagnosis(
    store: Store, job: Job, reason: str, *, by: str, at: float, note: str = "", for_all: bool
) -> Diagnosis:
    """What the newest attempt of a job really died of.

    `for_all`: the same failure of other jobs is answered so as well, which only an operator may
    decide; else it holds for this attempt alone.
    """
    from schedmate.handler.learning import check_correction

    check_correction(reason)
    if not job.state.failed:
        raise BadInput(f"job {job.id} has not failed: {job.state}")
    if for_all:
        diagnosis = _taught(store, job, reason, by=by, at=at, note=note)
    else:
        diagnosis = _of_this_attempt(store, job, reason, by=by, note=note)
    record_correction(store, job, diagnosis)
    return diagnosis


def _taught(store: Store, job: Job, reason: str, *, by: str, at: float, note: str) -> Diagnosis:
    from schedmate.handler import Case, Handler
    from schedmate.handler.learning import Teaching

    handler, case = Handler(store), Case.of_job(job)
    origin = Origin(
        teacher="operator", by=by, about=f"job {job.id}", at=at, note=note, owner=job.user
    )
    handler.correct(case, reason, origin, teaching=Teaching(store))
    return handler.diagnose(case)


def _of_this_attempt(store: Store, job: Job, reason: str, *, by: str, note: str) -> Diagnosis:
    before = store.diagnoses(job.id).get(job.restarts)
    if before is None:
        raise BadInput(f"job {job.id} has no diagnosis to correct yet")
    known = REASONS[reason]
    detail = f": {note}" if note else ""
    return replace(
        before,
        reason=reason,
        category=known.category,
        summary=f"corrected by {by}{detail} (was {before.reason}: {before.summary})",
        confidence=1.0,
        source="memory",
        decision=Decision(retry=known.retry, why=f"{reason}, as {by} corrected it"),
        rule="",
        suggestion="",
    )


def withdraw_correction(store: Store, job: Job, *, operator: bool) -> Diagnosis:
    """Diagnose the newest attempt of a job anew, as if no one had corrected it.

    Only an operator takes back what was corrected for all jobs; it is forgotten with its rule.
    """
    from schedmate.handler import Case, Handler

    corrected = store.diagnoses(job.id).get(job.restarts)
    if corrected is None or corrected.source != "memory":
        raise BadInput(f"the diagnosis of job {job.id} is no correction")
    if job.logs and not any(_is_file(job, log) for log in job.logs):
        raise BadInput(
            f"the logs of job {job.id} are gone, so that it cannot be diagnosed again: "
            "correct it to what it was"
        )
    for past in store.past_failures(teacher="operator", limit=_ALL) if operator else ():
        if past.origin.about == f"job {job.id}":
            forget_correction(store, past)
    diagnosis = Handler(store).diagnose(Case.of_job(job))
    if not operator and (diagnosis.source, diagnosis.reason) == ("memory", corrected.reason):
        raise BadInput(
            f"such failures are {corrected.reason} for all jobs: an operator can withdraw that"
        )
    record_correction(store, job, diagnosis)
    return diagnosis


def _is_file(job: Job, path: str) -> bool:
    return stat.S_ISREG(mode_of(files_of(job.user), path))


def forget_correction(store: Store, past: PastFailure) -> list[str]:
    """With the rule that was made of it; the ids of what is gone."""
    store.forget_failure(past.id)
    return [past.id, *([past.rule] if past.rule and store.remove_rule(past.rule) else [])]


def decide_on_rule(store: Store, rule_id: str, *, accept: bool, by: str) -> LearnedRule:
    """Let a model's proposal answer, or turn it down; it is checked before it is accepted."""
    found = next((rule for rule in store.learned_rules() if rule.id == rule_id), None)
    if found is None:
        raise NotFound(f"no learned rule is called {rule_id}")
    if not found.proposed:
        raise BadInput(f"{rule_id} is no proposal any more")
    from schedmate.handler.learning import Teaching

    teaching = Teaching(store)
    return teaching.accept(found, by=by) if accept else teaching.refuse(found, by=by)
