"""What a job gains by sharing a GPU, would gain, or lost by it, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.model import JobState
from schedmate.service.views.holds import KEEP

if TYPE_CHECKING:
    from schedmate.model import ActionRecord
    from schedmate.service.views.job_view import JobView

_CODES = ("fits_beside", "could_share", "slow_beside", "alone_again")


def sharing_sentence(view: JobView) -> str:
    """By the newest decision about its present run, or about the one before; else empty."""
    job = view.job
    about = [one for one in view.actions if _code(one) in _CODES]
    last = about[-1] if about else None
    if (
        last is None
        or job.state.ended
        or last.action.attempt not in (job.restarts, job.restarts - 1)
    ):
        return ""
    return _in_words(view, last)


def _in_words(view: JobView, last: ActionRecord) -> str:
    code, why = _code(last), last.action.why
    if code == "slow_beside":
        gone = last.action.kind == "requeue" and last.state in ("done", "intended")
        done = "it was queued again" if gone else "nothing is done about it: it may begin anew"
        return f"it shares a GPU: {why}; {done}"
    if code == "could_share":
        return why if view.job.state is JobState.PENDING else ""
    if code == "alone_again":
        return why
    if last.state == "failed":
        return f"it could not share a GPU: {last.note}"
    if last.state == "observed":
        return f"in mode act it would share a GPU: {why}; {KEEP}"
    return f"it shares a GPU: {why}; {KEEP}"


def _code(record: ActionRecord) -> str:
    return "" if record.action.reason is None else record.action.reason.code
