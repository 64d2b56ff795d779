"""Decisions to be carried out, and jobs for them."""

from __future__ import annotations

from schedmate.model import Action, JobState
from schedmate.testing.builders import a_job

NICE, LIMIT = 7.0, 60.0


def an_action(kind, **parts):
    value = {"set_nice": NICE, "set_time_limit": LIMIT}.get(kind)
    return Action(**{"kind": kind, "job_id": "1", "attempt": 0, "why": "", "value": value, **parts})


def put_job_for(scheduler, kind):
    state = {"requeue": JobState.FAILED, "cancel": JobState.RUNNING}.get(kind, JobState.PENDING)
    scheduler.put(a_job(state=state))
