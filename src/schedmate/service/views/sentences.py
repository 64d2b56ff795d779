"""What is known of a job in one sentence: when it ends, why it is as it is, what was done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.model import EndsBy, Job, JobState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from schedmate.model import ActionRecord, Decision, Diagnosis, Slowdown, Spread
    from schedmate.service.views.job_view import JobView, RetryOutcome

    Written = Callable[[float | None], str]
    """Puts a number of seconds into words."""

_BY: dict[EndsBy, str] = {"cap": "by its time cap ", "limit": "by the scheduler's limit "}
_BE = {"done": "was", "intended": "is being", "observed": "would have been", "noted": "was"}

_NEVER = {
    "DependencyNeverSatisfied": "never starts: a job that it depends on did not end as it asks",
    "BadConstraints": "never starts: no node has what it asks for",
}
_OWN_CONDITION = {
    "Dependency": "for another job that it depends on",
    "BeginTime": "for its start time",
}
"""Reasons that have nothing to do with the queue."""


def eta_sentence(view: JobView, now: float, written: Written) -> str:
    job = view.job
    if job.state.ended:
        return f"job {job.id} has ended: {job.state} after {written(job.run_time_s)}"
    if job.state is JobState.PENDING:
        if view.predicted is None or view.predicted.too_wide:
            return f"job {job.id} waits; how long it will run is not known"
        return f"job {job.id} waits; it will run about {written(view.predicted.p50)}"
    left = view.remaining_s(now)
    if left is None and view.predicted is not None and not view.predicted.too_wide:
        usual = written(view.predicted.p90)
        return f"job {job.id} runs for longer than predicted ({usual}); its end is not known"
    if left is None:
        return f"job {job.id} runs; neither its log nor its history shows how long"
    progress = view.progress
    ends_by: EndsBy = "unknown" if progress is None or progress.eta_s is None else progress.ends_by
    return f"job {job.id} {end_in_words(left, ends_by, written)}"


def why_sentence(view: JobView, queue: Sequence[Job], written: Written) -> str:
    job = view.job
    if job.state is JobState.PENDING:
        return _why_waiting(view, queue, written)
    found = view.diagnoses.get(job.restarts)
    if found is not None and _was_mistaken(view, found):
        return f"{_as_it_is(view, written)}; it seemed to hang for a while"
    if found is not None:
        return f"{found.reason}: {found.summary}{_after(view, written)}"
    return f"{_as_it_is(view, written)}{_before(view, written)}"


def _as_it_is(view: JobView, written: Written) -> str:
    job = view.job
    if job.state is JobState.RUNNING:
        return f"job {job.id} runs: {_how_it_runs(view, written)}"
    because = f", {job.reason}" if job.reason else ""
    return f"job {job.id} has ended: {job.state}{because}"


def _was_mistaken(view: JobView, found: Diagnosis) -> bool:
    """A run that was taken for hung and went on."""
    if found.reason != "hang":
        return False
    if view.job.state is JobState.RUNNING:
        return (
            view.progress is not None
            and view.progress.silence is not None
            and (view.progress.silence.silent_s <= view.progress.silence.allowed_s)
        )
    return view.job.state is JobState.COMPLETED


def _how_it_runs(view: JobView, written: Written) -> str:
    progress = view.progress
    if progress is None:
        return "unknown"
    slower = progress.slowdown
    words = [
        progress.phase,
        "" if slower is None else slowdown_in_words(slower, written),
        *(warning.text for warning in progress.warnings),
    ]
    return ", ".join(word for word in words if word)


def _before(view: JobView, written: Written) -> str:
    """What the attempt before this one died of."""
    last = view.diagnosis
    if last is None:
        return ""
    return f"; the attempt before: {last.reason}: {last.summary}{_after(view, written)}"


def _after(view: JobView, written: Written) -> str:
    """What was done about it, and which of its nodes are suspect."""
    words = [] if view.retry is None else [retry_sentence(view.retry, written)]
    words += [f"{one.node} is suspect ({one.probability:.0%} sure)" for one in view.suspects]
    return "".join(f"; {word}" for word in words)


def _why_held(view: JobView) -> str:
    job, last = view.job, None
    for record in view.actions:
        if record.action.kind in ("hold", "release"):
            last = record
    if last is None or last.action.kind != "hold" or last.state not in ("done", "intended"):
        return f"job {job.id} is held{f' ({job.reason})' if job.reason else ''}"
    return (
        f"job {job.id} is held by SchedMate: {last.action.why}; it is released once that is "
        f"mended, or by: schedmate release {job.id}"
    )


def _why_waiting(view: JobView, queue: Sequence[Job], written: Written) -> str:
    job = view.job
    if job.held:
        return f"{_why_held(view)}{_before(view, written)}"
    if job.reason in _NEVER:
        return f"job {job.id} {_NEVER[job.reason]} ({job.reason}){_before(view, written)}"
    if job.reason in _OWN_CONDITION:
        condition = _OWN_CONDITION[job.reason]
        return f"job {job.id} waits {condition} ({job.reason}){_before(view, written)}"
    running = sum(other.state is JobState.RUNNING for other in queue)
    ahead = sum(
        other.state is JobState.PENDING
        and (other.nice, other.submit_time) < (job.nice, job.submit_time)
        for other in queue
    )
    because = f" ({job.reason})" if job.reason else ""
    queue_words = f"{running} running and {ahead} waiting jobs"
    return f"job {job.id} waits behind {queue_words}{because}{_before(view, written)}"


def expected_in_words(spread: Spread, written: Written) -> str:
    """`00:10:00 (00:08:00 to 00:20:00)`; a range that says nothing is no answer."""
    if spread.too_wide:
        return "unknown (past runs differ by more than a thousand times)"
    return f"{written(spread.p50)} ({written(spread.p10)} to {written(spread.p90)})"


def end_in_words(left: Spread, ends_by: EndsBy, written: Written, *, brief: bool = False) -> str:
    """`ends by its time cap in 00:03:00 (…)`"""
    text = f"ends {_BY.get(ends_by, '')}in {written(left.p50)}"
    if brief:
        return text
    if left.p10 < left.p90:
        text += f" ({written(left.p10)} to {written(left.p90)})"
    return f"{text}, if it does not stop early" if ends_by == "early_stop" else text


def slowdown_in_words(slowdown: Slowdown, written: Written) -> str:
    """`slowed to 55% of its speed after 00:12:00`"""
    whose = "of its speed" if slowdown.against == "own" else "of similar runs' speed"
    return f"slowed to {slowdown.factor:.0%} {whose} after {written(slowdown.since_s)}"


def retry_sentence(outcome: RetryOutcome, written: Written) -> str:
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
        # a note on how far it came is a sentence by itself
        came_far = record.note.startswith("it was")
        return record.note if came_far else f"it could not be {how}: {record.note}"
    if action.kind == "cancel":
        return f"it {_BE[record.state]} stopped ({action.why})"
    later = f", to start in {written(action.delay_s)}" if action.delay_s else ""
    return f"it {_BE[record.state]} queued again{_elsewhere(record)}{later}{_count(record)}"


def _before_correction(record: ActionRecord) -> str:
    because = f"because it was taken for {record.action.failure}"
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
