"""Why a job is held, for whom a run has made way, and how either ends, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.model import JobState

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedmate.model import ActionRecord, Progress
    from schedmate.service.views.job_view import JobView

    Written = Callable[[float | None], str]
    """Puts a number of seconds into words."""

KEEP = "schedmate=keep in its comment rules that out"
_MOST_NAMED = 4
_BY_US = "held by SchedMate"
_BY = {
    "JobHeldUser": "held by its user",
    "JobHeldAdmin": "held by an administrator",
    "JobHoldMaxRequeue": "held because it was requeued too often",
    "launch failed requeued held": "held because its launch failed",
    "job requeued in held state": "held since it was requeued",
}


def held_in_words(view: JobView) -> str:
    """`held by SchedMate: …`; a scheduler's reason says whether it was its user."""
    job, last = view.job, None
    for record in view.actions:
        if record.action.kind in ("hold", "preempt", "release"):
            last = record
    if last is not None and last.action.kind != "release" and last.state in ("done", "intended"):
        ours = last.action.kind == "hold" or last.action.attempt == job.restarts - 1
        if ours:
            return f"{_BY_US}: {last.action.why}"
    by = _BY.get(job.reason, "held")
    return f"{by} ({job.reason})" if job.reason else by


def until_released(view: JobView, held: str) -> str:
    """How a held job gets free."""
    job_id = view.job.id
    if held.startswith(_BY_US) and made_way(view) is not None:
        return f"; it is released once they have started, or by: schedmate release {job_id}"
    if held.startswith(_BY_US):
        return f"; it is released once that is mended, or by: schedmate release {job_id}"
    if view.job.reason == "JobHeldAdmin":
        return "; only an administrator can release it"
    how = "scontrol" if view.job.reason in _BY else "schedmate"
    return f"; release it with: {how} release {job_id}"


def made_way(view: JobView) -> ActionRecord | None:
    """The decision that its present run follows, or by which it is about to be stopped."""
    done = [one for one in view.actions if one.action.kind == "preempt"]
    last = done[-1] if done else None
    if last is None or last.state not in ("done", "intended"):
        return None
    return last if last.action.attempt in (view.job.restarts, view.job.restarts - 1) else None


def made_way_in_words(view: JobView, written: Written) -> str:
    """`it made way for job 7 right after its checkpoint of step 20 …`; empty where it has not."""
    last = made_way(view)
    if last is None:
        return _would_have(view)
    job = view.job
    gone = last.action.attempt < job.restarts
    cost = 0.0 if last.action.reason is None else last.action.reason.lost_s
    what = "made way" if gone else "makes way"
    sentence = f"it {what} for {named(last)} right after its checkpoint{_step(last)}"
    if job.state is JobState.PENDING or not gone:
        sentence += f" and goes on from there, which costs it about {written(cost)}"
    else:
        sentence += _went_on(view.progress)
    return f"{sentence}; {KEEP}"


def _went_on(progress: Progress | None) -> str:
    resume = None if progress is None else progress.resume
    if resume is None:
        return "; its log does not show yet where it goes on"
    if resume.outcome == "resumed":
        return f" and went on at {resume.began:g}"
    return " and has begun anew: no run of its code is stopped for others any more"


def _would_have(view: JobView) -> str:
    """What modes that only show it have left undone."""
    shown = [one for one in view.actions if one.action.kind == "preempt"][-1:]
    if not shown or shown[0].state != "observed" or shown[0].action.attempt != view.job.restarts:
        return ""
    at = f"right after its checkpoint{_step(shown[0])}"
    return f"in mode act it would have made way for {named(shown[0])} {at}; {KEEP}"


def named(record: ActionRecord) -> str:
    """`jobs 7 and 9`"""
    those = record.action.for_jobs
    more = len(those) - _MOST_NAMED
    shown = [*those[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])]
    if len(shown) == 1:
        return f"job {shown[0]}"
    return f"jobs {', '.join(shown[:-1])} and {shown[-1]}"


def _step(record: ActionRecord) -> str:
    reason = record.action.reason
    return "" if reason is None or reason.step is None else f" of step {reason.step:g}"
