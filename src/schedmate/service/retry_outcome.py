"""What was decided about a failure and what became of it, in one sentence.

Read from the records of the decision engine; nothing is decided here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedmate.model import ActionRecord, Decision

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.model import Diagnosis, Job
    from schedmate.service.wording import Written

_ABOUT_FAILURES = ("requeue", "cancel", "leave", "warn")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryOutcome:
    """Of the newest attempt that was diagnosed."""

    attempt: int
    failure: str
    """What it is taken for now."""
    recommended: Decision
    """What the diagnosis recommends, for an attempt about which nothing was decided yet."""
    record: ActionRecord | None = None
    """The newest decision about it."""
    before: ActionRecord | None = None
    """What was decided when it was taken for another failure."""
    restarted: bool = False
    """The job has been queued again since, by SchedMate or by hand."""

    @property
    def excluded(self) -> tuple[str, ...]:
        if self.record is None:
            return self.recommended.exclude_nodes
        return self.record.action.exclude_nodes

    @property
    def was(self) -> str:
        """What it was taken for before, where that has been corrected since."""
        return "" if self.before is None else taken_for(self.before)


def retry_outcome(
    job: Job, diagnoses: dict[int, Diagnosis], records: Sequence[ActionRecord]
) -> RetryOutcome | None:
    """None where no attempt was diagnosed."""
    if not diagnoses:
        return None
    attempt = max(diagnoses)
    failure = diagnoses[attempt].reason
    about = [
        record
        for record in records
        if record.action.attempt == attempt and record.action.kind in _ABOUT_FAILURES
    ]
    now = [record for record in about if taken_for(record) in ("", failure)]
    earlier = [record for record in about if taken_for(record) not in ("", failure)]
    return RetryOutcome(
        attempt=attempt,
        failure=failure,
        recommended=diagnoses[attempt].decision,
        record=now[-1] if now else None,
        before=earlier[-1] if earlier else None,
        restarted=job.restarts > attempt,
    )


def taken_for(record: ActionRecord) -> str:
    """The failure that was decided upon."""
    return "" if record.action.reason is None else record.action.reason.failure


def in_words(outcome: RetryOutcome, written: Written) -> str:
    earlier, record = outcome.before, outcome.record
    if earlier is not None and earlier.action.kind == "requeue":
        return f"{_before_correction(earlier)}; {_as_it_is_now(outcome, written)}"
    if record is None:
        return _undecided(outcome)
    return _decided(record, written)


def _decided(record: ActionRecord, written: Written) -> str:
    action = record.action
    if action.kind == "leave":
        return f"it is not tried again ({action.why})"
    if action.kind == "warn":
        return f"it is left alone as long as it runs ({action.why})"
    how = "queued again" if action.kind == "requeue" else "stopped"
    if record.state == "failed":
        # a note that says how far it came says it all
        came_far = record.note.startswith("it was")
        return record.note if came_far else f"it could not be {how}: {record.note}"
    if action.kind == "cancel":
        return f"it {_BE[record.state]} stopped ({action.why})"
    later = f", to start in {written(action.delay_s)}" if action.delay_s else ""
    return f"it {_BE[record.state]} queued again{_elsewhere(record)}{later}{_count(record)}"


_BE = {"done": "was", "intended": "is being", "observed": "would have been", "noted": "was"}


def _before_correction(record: ActionRecord) -> str:
    because = f"because it was taken for {taken_for(record)}"
    if record.state == "failed":
        return f"it could not be queued again, {because}: {record.note}"
    be = "would have been" if record.state == "observed" else "was"
    return f"it {be} queued again{_elsewhere(record)}, {because}"


def _as_it_is_now(outcome: RetryOutcome, written: Written) -> str:
    if outcome.record is not None:
        return f"as {outcome.failure}: {_decided(outcome.record, written)}"
    return f"as {outcome.failure} {_recommendation(outcome.recommended)}"


def _undecided(outcome: RetryOutcome) -> str:
    if outcome.restarted:
        return "it was queued again by hand"
    return _recommendation(outcome.recommended)


def _recommendation(recommended: Decision) -> str:
    if recommended.retry == "no":
        return f"a retry is not recommended ({recommended.why})"
    nodes = recommended.exclude_nodes
    where = f", not on {', '.join(nodes)}" if nodes else ""
    return f"a retry is recommended{where} ({recommended.why})"


def _elsewhere(record: ActionRecord) -> str:
    nodes = record.action.exclude_nodes
    return f", not on {', '.join(nodes)}" if nodes else ""


def _count(record: ActionRecord) -> str:
    reason = record.action.reason
    return "" if reason is None else f", retry {reason.retries + 1} of {reason.allowed}"
