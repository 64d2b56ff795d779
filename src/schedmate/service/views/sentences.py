"""What is known of a job in one sentence: when it ends, why it is as it is, what was done."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from schedmate.core import is_opted_out
from schedmate.model import EndsBy, Job, JobState
from schedmate.service.views.carried_on import carried_sentence
from schedmate.service.views.doomed import doomed_sentence
from schedmate.service.views.holds import held_in_words, made_way_in_words, named, until_released
from schedmate.service.views.queue_order import NEVER, OWN_CONDITION, QueueOrder
from schedmate.service.views.sharing import sharing_sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from schedmate.model import ActionRecord, Advice, Decision, Diagnosis, Slowdown, Spread
    from schedmate.service.views.holds import Written as Written  # noqa: PLC0414 - many take it here
    from schedmate.service.views.job_view import JobView, RetryOutcome

_BY: dict[EndsBy, str] = {"cap": "by its time cap ", "limit": "by the scheduler's limit "}
_BE = {"done": "was", "intended": "is being", "observed": "would have been", "noted": "was"}

_MOMENT = "less than a second"
"""Nobody plans by what is shorter."""
_MINUTE_S = 60.0
_MOST_NAMED = 4
"""Nodes of a run."""


def eta_sentence(view: JobView, now: float, written: Written) -> str:
    job = view.job
    if job.state.ended:
        length = "" if job.run_time_s is None else f" after {written(job.run_time_s)}"
        when = length if job.started else " before it started"
        return f"job {job.id} has ended: {job.state}{when}"
    if job.state is JobState.PENDING:
        if view.predicted is None or view.predicted.too_wide:
            return f"job {job.id} waits; how long it will run is not known"
        length = _MOMENT if view.predicted.p90 < 1 else f"about {written(view.predicted.p50)}"
        return f"job {job.id} waits; it will run {length}"
    left = view.remaining_s(now)
    if left is None:
        return f"job {job.id} {_unknown_end(view, now, written)}"
    progress = view.progress
    ends_by: EndsBy = "unknown" if progress is None or progress.eta_s is None else progress.ends_by
    return f"job {job.id} {end_in_words(left, ends_by, written)}"


def _unknown_end(view: JobView, now: float, written: Written) -> str:
    if view.is_silent:
        return "runs; by the pace of its log it would be over, so its end is not known"
    if view.is_overdue(now):
        return f"{overdue_in_words(view, written)}; its end is not known"
    if view.progress is not None and view.progress.eta_s is not None:
        return "runs past the end that its log announced; its end is not known"
    return "runs; neither its log nor its history shows how long"


def overdue_in_words(view: JobView, written: Written) -> str:
    if view.predicted is None:
        return "runs for longer than predicted"
    longest = view.predicted.p90
    return f"runs for longer than predicted ({_MOMENT if longest < 1 else written(longest)})"


def why_sentence(
    view: JobView,
    queue: Sequence[Job] | QueueOrder,
    now: float,
    written: Written,
    *,
    objection: str | None = None,
) -> str:
    """`objection` is why SchedMate does nothing about this job, where the settings say so."""
    job = view.job
    if job.state is JobState.PENDING:
        waits = _why_waiting(view, queue, now, written)
        errors = "" if job.held else "".join(f"; {one}" for one in view.errors)
        place = _place(view, written)
        undone = _undone(view, objection, ordered=bool(place))
        before = f"{_made_way(view, written)}{_before(view, now, written)}"
        return f"job {job.id} {waits}{errors}{place}{undone}{before}"
    found = view.diagnoses.get(job.restarts)
    if found is not None and _was_mistaken(view, found):
        return f"{_as_it_is(view, written)}; it seemed to hang for a while"
    if found is not None:
        alone = _left_alone(view, objection)
        return f"{found.reason}: {found.summary}{_after(view, now, written)}{alone}"
    alone = ""
    if job.state.failed and (objection or is_opted_out(job)):
        alone = f"; SchedMate leaves it alone: {objection or 'its comment has schedmate=off'}"
        alone += f"; to have it read: schedmate diagnose {quote(job.logs[0])}" if job.logs else ""
    late = view.is_overdue(now) and view.remaining_s(now) is None
    past = f"; it {overdue_in_words(view, written)}" if late else ""
    doomed = doomed_sentence(view)
    vain = f"; {doomed}" if doomed else ""
    before = f"{_made_way(view, written)}{_before(view, now, written)}"
    return f"{_as_it_is(view, written)}{past}{vain}{before}{alone}"


def _made_way(view: JobView, written: Written) -> str:
    """Not of a run that has ended: it has done what it could."""
    if view.job.state.ended:
        return ""
    words = (made_way_in_words(view, written), sharing_sentence(view))
    return "".join(f"; {each}" for each in words if each)


def _place(view: JobView, written: Written) -> str:
    """By how much a job that waits was set back, in its scheduler's points and in waiting."""
    job = view.job
    orders = [one.action for one in view.actions if one.action.kind == "set_nice" and one.done]
    reason = orders[-1].reason if orders else None
    points = 0 if reason is None else job.nice - reason.own_nice + reason.lift
    if reason is None or orders[-1].value != job.nice:
        return ""
    late = _late_in_words(view, written)
    if reason.code == "overtaken_enough":
        return f"; {orders[-1].why}{late}"
    if points <= 0:
        return late
    hours = points / job.nice_an_hour if job.nice_an_hour else None
    worth = "" if hours is None else f", which {written(3600 * hours)} of waiting make up for"
    own = f" beyond its owner's own nice {reason.own_nice}" if reason.own_nice else ""
    return f"; set back by {points} points of priority{own}{worth} ({orders[-1].why}){late}"


def _late_in_words(view: JobView, written: Written) -> str:
    if view.late_s is None:
        return ""
    if view.late_s < _MINUTE_S:
        return "; so far it is not later because of SchedMate"
    return f"; so far about {written(view.late_s)} later because of SchedMate"


def _undone(view: JobView, objection: str | None, *, ordered: bool = False) -> str:
    """Why a job that waits has neither a place nor a hold by SchedMate."""
    if objection is not None:
        what = "changes nothing else about it" if ordered else "leaves it alone"
        return f"; SchedMate {what}: {objection}"
    holds = [one for one in view.actions if one.action.kind in ("hold", "release")]
    if view.job.held or not holds or holds[-1].state != "failed":
        return ""
    return f"; it could not be held: {holds[-1].note}"


def _left_alone(view: JobView, objection: str | None) -> str:
    """Why nothing came of a retry that is recommended."""
    retry = view.retry
    if objection is None or retry is None or retry.record is not None or retry.restarted:
        return ""
    return "" if retry.recommended.retry == "no" else f"; SchedMate leaves it alone: {objection}"


def _as_it_is(view: JobView, written: Written) -> str:
    job = view.job
    if job.state is JobState.RUNNING:
        how = _how_it_runs(view, written)
        return f"job {job.id} runs{f': {how}' if how else '; its log does not show how far it is'}"
    because = f", {job.reason}" if job.reason else ""
    if view.obstacle is not None:
        remedy = f"; {view.obstacle.remedy}" if view.obstacle.remedy else ""
        return f"job {job.id} {view.obstacle.text} ({job.reason}){remedy}"
    if job.state.failed and not job.started:
        return f"job {job.id} was refused and never ran: {job.state}{because}"
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
        return ""
    slower = progress.slowdown
    words = [
        "" if progress.phase == "unknown" else progress.phase,
        "" if slower is None else slowdown_in_words(slower, written),
        *(warning.text for warning in progress.warnings),
    ]
    return ", ".join(word for word in words if word)


def _before(view: JobView, now: float, written: Written) -> str:
    """What the last attempt died of that was diagnosed, and how one ended that was not."""
    carried = carried_sentence(view)
    if carried:
        return f"; {carried}"
    last, run = view.diagnosis, view.before
    number = max(view.diagnoses, default=-1)
    if run is not None and run.restarts > number and run.state.failed:
        length = "" if run.run_time_s is None else f" after {written(run.run_time_s)}"
        where = f" on {', '.join(run.nodes[:_MOST_NAMED])}" if run.nodes else ""
        return f"; the attempt before ended in {run.state}{length}{where} and was queued again"
    if last is None:
        return ""
    which = "the attempt before" if number == view.job.restarts - 1 else f"attempt {number + 1}"
    return f"; {which}: {last.reason}: {last.summary}{_after(view, now, written)}"


def _after(view: JobView, now: float, written: Written) -> str:
    """What was done about it, and which of its nodes are suspect."""
    words = [] if view.retry is None else [retry_sentence(view.retry, now, written)]
    words += [f"{one.node} is suspect ({one.probability:.0%} sure)" for one in view.suspects]
    return "".join(f"; {word}" for word in words)


def _why_waiting(
    view: JobView, queue: Sequence[Job] | QueueOrder, now: float, written: Written
) -> str:
    job = view.job
    because = f" ({job.reason})" if job.reason else ""
    obstacle = view.obstacle
    if obstacle is not None:
        return f"{obstacle.text}{because}{f'; {obstacle.remedy}' if obstacle.remedy else ''}"
    if job.held:
        held = held_in_words(view)
        return f"is {held}{until_released(view, held)}"
    if own := own_condition_in_words(job, now, written):
        return f"{own}{because}"
    order = queue if isinstance(queue, QueueOrder) else QueueOrder(queue, now)
    running, ahead = order.before(job)
    if not running and not ahead:
        return f"is next: no job runs or waits before it{because}"
    return f"waits behind {running} running and {ahead} waiting jobs{because}"


def own_condition_in_words(job: Job, now: float, written: Written) -> str:
    """What a job waits for that has nothing to do with the queue; empty where that is nothing."""
    if job.reason in NEVER:
        return NEVER[job.reason]
    if job.eligible_time is not None and job.eligible_time > now:
        return f"waits for its start time, in {written(job.eligible_time - now)}"
    if job.dependency:
        return f"{'never starts: it ' * ('(failed)' in job.dependency)}waits for {job.dependency}"
    return f"waits {OWN_CONDITION[job.reason]}" if job.reason in OWN_CONDITION else ""


def actions_in_words(records: Sequence[ActionRecord], written: Written) -> Iterator[str]:
    """`set_nice 169: …` and `set_time_limit from 10:00:00 to 00:38:00: …`, one a record."""
    limit_s: float | None = None
    for record in records:
        action = record.action
        values = ""
        if action.kind == "set_nice" and action.value is not None:
            own = 0 if action.reason is None else action.reason.own_nice
            values = f" {action.value:g}" + (f" (its owner's {own} included)" if own else "")
        elif action.kind == "set_time_limit":
            if action.reason is not None and action.reason.user_limit_s is not None:
                limit_s = action.reason.user_limit_s
            before = "" if limit_s is None else f" from {written(limit_s)}"
            values = f"{before} to {written(action.value)}"
            limit_s = action.value
        elif action.kind == "requeue":
            later = f", {written(action.delay_s)} later" if action.delay_s else ""
            values = f"{_elsewhere(record)}{later}"
        elif action.kind == "preempt":
            values = f" for {named(record)}"
        elif action.kind == "share" and action.value is not None:
            values = f" {action.value:g} parts of a GPU"
        note = f" ({record.note})" if record.state in ("failed", "intended") and record.note else ""
        yield f"{action.kind}{values}: {action.why}{note}"


def advice_lines(advice: Advice, written: Written) -> Iterator[str]:
    """What a person wants to know before a job runs: how long, and what is wrong with it."""
    prediction = advice.prediction
    if prediction.duration_s is not None:
        expected = expected_in_words(prediction.duration_s, written)
        yield f"expected to run {expected}: {prediction.explanation}"
    for remark in advice.advice:
        yield f"{remark.level}: {remark.text}"


def expected_in_words(spread: Spread, written: Written) -> str:
    """`00:10:00 (00:08:00 to 00:20:00)`; a range that says nothing is no answer."""
    if spread.too_wide:
        return "unknown (past runs differ by more than a thousand times)"
    if spread.p90 < 1:
        return _MOMENT
    return f"{written(spread.p50)} ({written(spread.p10)} to {written(spread.p90)})"


def end_in_words(left: Spread, ends_by: EndsBy, written: Written, *, brief: bool = False) -> str:
    """`ends by its time cap in 00:03:00 (…)`"""
    if left.too_wide:
        return "ends at a time that cannot be predicted yet"
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


def retry_sentence(outcome: RetryOutcome, now: float, written: Written) -> str:
    earlier, record = outcome.before, outcome.record
    if earlier is not None and earlier.action.kind == "requeue":
        return f"{_before_correction(earlier)}; {_as_it_is_now(outcome, now, written)}"
    if record is None:
        return _undecided(outcome)
    return _decided(record, now, written)


def _decided(record: ActionRecord, now: float, written: Written) -> str:
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
    if record.state == "intended" and record.note:
        return f"it waits to be {how}: {record.note}"
    if action.kind == "cancel":
        return f"it {_BE[record.state]} stopped ({action.why})"
    later = _later(record, now, written)
    return f"it {_BE[record.state]} queued again{_elsewhere(record)}{later}{_count(record)}"


def _later(record: ActionRecord, now: float, written: Written) -> str:
    """`, to start in 00:00:40`: counted from when it was done."""
    delay_s = record.action.delay_s
    left_s = delay_s if record.state == "observed" else record.at + delay_s - now
    return f", to start in {written(left_s)}" if delay_s and left_s > 0 else ""


def _before_correction(record: ActionRecord) -> str:
    because = f"because it was taken for {record.action.failure}"
    if record.state == "failed":
        return f"it could not be queued again, {because}: {record.note}"
    be = "would have been" if record.state == "observed" else "was"
    return f"it {be} queued again{_elsewhere(record)}, {because}"


def _as_it_is_now(outcome: RetryOutcome, now: float, written: Written) -> str:
    if outcome.record is not None:
        return f"as {outcome.failure}: {_decided(outcome.record, now, written)}"
    return f"as {outcome.failure} {_recommendation(outcome.recommended)}"


def _undecided(outcome: RetryOutcome) -> str:
    if outcome.restarted:
        return "it was queued again, not by SchedMate"
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
