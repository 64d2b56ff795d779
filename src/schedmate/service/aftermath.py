"""What was done about a failure, what was not, and what comes next, in one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedmate.core import Attempt, Choice, Limits, RetryPlan, plan_retry
from schedmate.model import REASONS, ActionRecord
from schedmate.service.attempts import attempts_before, reached_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.model import Diagnosis, Job
    from schedmate.service.wording import Written
    from schedmate.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Aftermath:
    """`record` is what was written down about the attempt, `plan` what follows if nothing was."""

    attempt: int
    plan: RetryPlan
    limits: Limits
    record: ActionRecord | None = None
    restarted: bool = False
    """The job has been queued again since, by whomever."""
    reason: str = ""
    was: str = ""
    """What it was taken for when the record was written, where that has been corrected since."""

    @property
    def excluded(self) -> tuple[str, ...]:
        return self.plan.exclude_nodes if self.record is None else self.record.action.exclude_nodes


def aftermath_of(
    job: Job,
    diagnoses: dict[int, Diagnosis],
    records: Sequence[ActionRecord],
    store: Store,
    limits: Limits,
    *,
    choice: Choice | None = None,
) -> Aftermath | None:
    """Of the newest attempt that was diagnosed; None where none was."""
    if not diagnoses:
        return None
    attempt = max(diagnoses)
    attempts = attempts_before(job, store)
    if attempt not in attempts:
        attempts[attempt] = Attempt(
            diagnosis=diagnoses[attempt], nodes=job.nodes, reached=reached_in(job, store)
        )
    about = [
        record
        for record in records
        if record.action.attempt == attempt and record.action.kind in ("requeue", "cancel")
    ]
    record = about[-1] if about else None
    reason = diagnoses[attempt].reason
    return Aftermath(
        attempt=attempt,
        plan=plan_retry(attempts, attempt, limits=limits, choice=choice, job_id=job.id),
        limits=limits,
        record=record,
        restarted=job.restarts > attempt,
        reason=reason,
        was="" if record is None else _taken_for(record, reason),
    )


def _taken_for(record: ActionRecord, reason: str) -> str:
    """A retry begins its why with the reason that it was made for."""
    word = record.action.why.partition(":")[0]
    return word if record.action.kind == "requeue" and word in REASONS and word != reason else ""


def in_words(after: Aftermath, written: Written) -> str:
    record = after.record
    if record is None:
        return _without_a_record(after)
    if after.was:
        return f"{_history(after, record)}; {_as_it_is_now(after)}"
    how = "queued again" if record.action.kind == "requeue" else "stopped"
    if record.state == "failed":
        return _failed(after, record, how)
    if record.action.kind == "cancel":
        return f"it {_BE[record.state]} stopped ({record.action.why})"
    delay = record.action.delay_s
    later = f", to start in {written(delay)}" if delay else ""
    return f"it {_BE[record.state]} queued again{_where(after)}{later}, {_count(after)}"


def _failed(after: Aftermath, record: ActionRecord, how: str) -> str:
    """A note that says how far it came says it all."""
    if after.restarted and record.note.startswith("it was"):
        return record.note
    return f"it could not be {how}: {record.note}"


def _history(after: Aftermath, record: ActionRecord) -> str:
    """What was done before anybody knew better."""
    because = f"because it was taken for {after.was}"
    if record.state == "failed":
        return f"it could not be queued again, {because}: {record.note}"
    be = "would have been" if record.state == "observed" else "was"
    return f"it {be} queued again{_where(after)}, {because}"


def _as_it_is_now(after: Aftermath) -> str:
    verdict = "worth another try" if after.plan.again else "not to be tried again"
    return f"as {after.reason} it is {verdict} ({after.plan.why})"


_BE = {"done": "was", "intended": "is being", "observed": "would have been"}


def _without_a_record(after: Aftermath) -> str:
    if after.restarted:
        return "somebody queued it again"
    if not after.plan.again:
        return f"it is not tried again ({after.plan.why})"
    return f"it is worth another try{_where(after)} ({after.plan.why}), {_count(after)}"


def _where(after: Aftermath) -> str:
    return f", not on {', '.join(after.excluded)}" if after.excluded else ""


def _count(after: Aftermath) -> str:
    return f"retry {after.plan.used + 1} of {after.limits.retries}"
