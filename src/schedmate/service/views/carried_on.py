"""That a run goes on where the attempt before it was stopped for its limit, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedmate.service.views.job_view import JobView


def carried_sentence(view: JobView) -> str:
    """Of its present attempt; empty where that is the first, or a retry."""
    for record in view.actions:
        action, reason = record.action, record.action.reason
        before = action.attempt == view.job.restarts - 1
        if before and record.done and reason is not None and reason.code == "carried_on":
            step = "" if reason.step is None else f" from step {reason.step:.15g}"
            count = f"{reason.retries + 1} of {reason.allowed} times"
            return f"it goes on{step}, queued again right before its time limit ({count})"
    return ""
