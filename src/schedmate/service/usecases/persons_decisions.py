"""What a person decides about a diagnosis or a proposed rule, whoever carries it to us."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from schedmate.model import REASONS, BadInput, Decision, NotFound
from schedmate.model.lessons import Origin
from schedmate.service.usecases.interventions import record_correction
from schedmate.store import KeptCorrection

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
    standing = store.correction(job.id, job.restarts)
    now = store.diagnoses(job.id).get(job.restarts)
    taught = None
    if for_all:
        before = original_diagnosis(store, job)
        diagnosis = _taught(store, job, reason, by=by, at=at, note=note)
    else:
        if now is None:
            raise BadInput(f"job {job.id} has no diagnosis to correct yet")
        before = now if standing is None else standing.before
        diagnosis = _of_this_attempt(before, reason, by=by, note=note)
        if standing is not None:
            taught = now if standing.for_all else standing.taught
    made = KeptCorrection(by=by, at=at, for_all=for_all, before=before, taught=taught)
    record_correction(store, job, diagnosis, made)
    return diagnosis


def original_diagnosis(store: Store, job: Job) -> Diagnosis:
    """Of the newest attempt, as it is without any correction of it."""
    from schedmate.handler import Case, Handler

    standing = store.correction(job.id, job.restarts)
    if standing is not None:
        return standing.before
    found = store.diagnoses(job.id).get(job.restarts)
    return Handler(store).diagnose(Case.of_job(job)) if found is None else found


def _taught(store: Store, job: Job, reason: str, *, by: str, at: float, note: str) -> Diagnosis:
    from schedmate.handler import Case, Handler
    from schedmate.handler.learning import Teaching

    handler, case = Handler(store), Case.of_job(job)
    origin = Origin(
        teacher="operator", by=by, about=f"job {job.id}", at=at, note=note, owner=job.user
    )
    handler.correct(case, reason, origin, teaching=Teaching(store))
    return handler.diagnose(case)


def _of_this_attempt(before: Diagnosis, reason: str, *, by: str, note: str) -> Diagnosis:
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
    """Put the diagnosis back that the newest attempt had before a person corrected it.

    Only an operator takes back what was corrected for all jobs; it is forgotten with its rule.
    Where an owner withdraws a correction of this attempt alone, one for all holds again.
    """
    standing = store.correction(job.id, job.restarts)
    if standing is None or not job.state.failed:
        raise BadInput(_nothing_to_withdraw(store, job, operator=operator))
    taught = _taught_on(store, job)
    if operator:
        for past in taught:
            forget_correction(store, past)
    elif standing.for_all and taught:
        raise BadInput(
            f"such failures are {taught[0].reason} for all jobs: an operator can withdraw that"
        )
    elif standing.taught is not None and taught:
        origin = taught[0].origin
        below = KeptCorrection(by=origin.by, at=origin.at, for_all=True, before=standing.before)
        record_correction(store, job, standing.taught, below)
        return standing.taught
    record_correction(store, job, standing.before)
    return standing.before


def may_withdraw(store: Store, job: Job, *, operator: bool) -> bool:
    """Whether `withdraw_correction` would do it now."""
    standing = store.correction(job.id, job.restarts) if job.state.failed else None
    if standing is None:
        return False
    return operator or not standing.for_all or not _taught_on(store, job)


def _taught_on(store: Store, job: Job) -> list[PastFailure]:
    past = store.past_failures(teacher="operator", limit=_ALL)
    return [one for one in past if one.origin.about == f"job {job.id}"]


def _nothing_to_withdraw(store: Store, job: Job, *, operator: bool) -> str:
    """Why, and what can be done instead."""
    known = store.diagnoses(job.id)
    corrected = [attempt for attempt in known if store.correction(job.id, attempt) is not None]
    if corrected:
        text = (
            f"attempt {corrected[-1] + 1} of job {job.id} was corrected, and it was queued again "
            f"since: attempt {job.restarts + 1} is {job.state}; cancel the job if it must not run, "
            "or correct this attempt once it fails"
        )
        taught = " ".join(past.id for past in _taught_on(store, job)) if operator else ""
        remove = f"; what was taught goes with: schedmate rules remove {taught}"
        return text + (remove if taught else "")
    text = f"the diagnosis of job {job.id} is no correction"
    found = known.get(job.restarts)
    origin = None if found is None else _origin_of(store, found.rule)
    if origin is None or origin.teacher != "operator":
        return text
    if origin.about.startswith("job "):
        return f"{text} of this job: it was taught on {origin.about}, withdraw it there"
    return f"{text} of this job: an operator can forget it with schedmate rules remove ID"


def _origin_of(store: Store, answered: str) -> Origin | None:
    """Of the correction, or of the rule that was made of one, that gave an answer."""
    past = store.past_failures(teacher="operator", limit=_ALL)
    origins = {one.id: one.origin for one in past}
    origins |= {rule.id: rule.origin for rule in store.learned_rules()}
    return origins.get(answered)


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
