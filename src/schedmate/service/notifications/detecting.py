"""What about a job is worth a message: it failed, it hangs, or it will not make its limit.

Pure: a view in, notices out. The store keeps each once, so the same view may come again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from schedmate.model import JobState
from schedmate.model.access import Notice
from schedmate.service.views.doomed import doomed_line, goes_on, how_to_end
from schedmate.service.views.holds import made_way, made_way_in_words
from schedmate.service.views.sentences import retry_sentence

if TYPE_CHECKING:
    from schedmate.model import Diagnosis
    from schedmate.model.access import NoticeKind
    from schedmate.service.views.job_view import JobView
    from schedmate.service.views.sentences import Written

FRESH_S = 3600.0
"""What ended longer ago is no news."""
PATIENCE_S = 300.0
"""So long a failure waits for its diagnosis."""
_NO_FAILURE = ("not_failed", "cancelled")
_MOST_LINES = 3
_OF_OTHER_KINDS = ("hang", "limit")
"""Reasons of runs in vain that have a kind of message of their own: one is enough."""


def notices_in(
    view: JobView,
    now: float,
    written: Written,
    *,
    since: float,
    last_ended_at: float | None = None,
) -> Iterator[Notice]:
    """`last_ended_at` is when the attempt before the present one ended, where that is known; what
    ended before `since` is no news."""
    job = view.job
    if job.state is JobState.RUNNING:
        yield from _of_running(view, now)
    stopped = made_way(view)
    if not job.state.ended and stopped is not None and stopped.done:
        text = made_way_in_words(view, written).removeprefix("it ")
        yield _notice(view, "made_way", now, text, stopped.action.attempt)
    last = job.restarts - 1
    found = view.diagnoses.get(last)
    if (
        found is not None
        and _is_failure(found)
        and _is_news(last_ended_at or job.start_time, since)
    ):
        yield _notice(view, "failed", now, _failed(found), last, *_evidence(found))
    if job.state.failed and _is_news(job.end_time, since):
        yield from _of_failed(view, now, written)


def _is_news(ended_at: float | None, since: float) -> bool:
    return ended_at is None or ended_at >= since


def is_undiagnosed(view: JobView, since: float) -> bool:
    """A failure that may still get its reason."""
    job = view.job
    undiagnosed = job.restarts not in view.diagnoses
    return job.state.failed and undiagnosed and _is_news(job.end_time, since)


def _of_running(view: JobView, now: float) -> Iterator[Notice]:
    job, progress = view.job, view.progress
    warnings = () if progress is None else progress.warnings
    doomed = view.doomed
    if doomed is not None:
        shown = [line for line in (doomed_line(view),) if line]
        end = f"to end it: {how_to_end(view)}"
        yield _notice(view, "doomed", now, goes_on(doomed), job.restarts, *shown, end)
        if doomed.action.failure in _OF_OTHER_KINDS:
            return
    found = view.diagnoses.get(job.restarts)
    if found is not None and found.reason == "hang":
        yield _notice(view, "hung", now, f"hangs: {found.summary}", job.restarts)
    else:
        for one in warnings:
            if one.reason == "hang":
                yield _notice(view, "hung", now, f"seems to hang: {one.text}", job.restarts)
                break
    for one in warnings:
        if one.reason == "time_limit":
            text = f"will not make its time limit: {one.text}"
            yield _notice(view, "limit", now, text, job.restarts)
            break


def _of_failed(view: JobView, now: float, written: Written) -> Iterator[Notice]:
    job = view.job
    found = view.diagnoses.get(job.restarts)
    if found is None:
        if now - (job.end_time or now) >= PATIENCE_S:
            yield _notice(view, "failed", now, f"failed: {job.state}", job.restarts)
        return
    if _is_failure(found):
        done = "" if view.retry is None else retry_sentence(view.retry, now, written)
        lines = (*_evidence(found), *((done,) if done else ()))
        yield _notice(view, "failed", now, _failed(found), job.restarts, *lines)


def _is_failure(found: Diagnosis) -> bool:
    return found.reason not in _NO_FAILURE


def _failed(found: Diagnosis) -> str:
    return f"failed: {found.reason}: {found.summary}"


def _evidence(found: Diagnosis) -> tuple[str, ...]:
    lines = tuple(f"{one.file}:{one.line}: {one.text}" for one in found.evidence[:_MOST_LINES])
    return (*lines, f"what to do: {found.suggestion}") if found.suggestion else lines


def _notice(
    view: JobView, kind: NoticeKind, now: float, text: str, attempt: int, *details: str
) -> Notice:
    job = view.job
    name = f"{job.id} ({job.name})" if job.name else job.id
    return Notice(
        job_id=job.id,
        attempt=attempt,
        kind=kind,
        user=job.user,
        at=now,
        text=f"job {name} {text}",
        details=details,
    )
