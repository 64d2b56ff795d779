"""What the other jobs mean for a retry, and a retry for the jobs that wait for it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from schedmate.core.reactions import act
from schedmate.core.successors import succeeded_since, successor
from schedmate.model import DecisionReason, JobState
from schedmate.model.job import dependency_anew

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from schedmate.core.events import JobDiagnosed
    from schedmate.core.instructions import Act
    from schedmate.core.known_job import KnownJob
    from schedmate.model import Job, JobId


def competition(event: JobDiagnosed, job: Job, jobs: Mapping[JobId, KnownJob]) -> str | None:
    """Why a retry would not be the only one to go on with the work of this run."""
    if event.submits_jobs:
        return "its script or its code submits or requeues jobs itself"
    if event.successors:
        return f"job {event.successors[0]} was submitted to run after it"
    if event.children:
        return f"job {event.children[0]} was submitted on a node of this run since it began"
    found = successor(job, ((one.job, one.awaited) for one in jobs.values()), event.at)
    if found is None and event.rivals:
        return f"job {event.rivals[0]}, submitted since it began, runs the same or in its directory"
    return found


def renewals(
    known: KnownJob,
    jobs: Mapping[JobId, KnownJob],
    objection: Callable[[KnownJob], str | None],
) -> list[Act]:
    """Dependencies that are set anew, of this job or of those that waited for it: a scheduler does
    not forget a failure, even where our retry has succeeded since."""
    waiting = list(jobs.values()) if _has_succeeded(known) else [known]
    return [one for each in waiting if (one := _renewal(each, jobs, objection)) is not None]


def _renewal(
    known: KnownJob,
    jobs: Mapping[JobId, KnownJob],
    objection: Callable[[KnownJob], str | None],
) -> Act | None:
    job = known.job
    since = succeeded_since(job, lambda one: one in jobs and _has_succeeded(jobs[one]))
    if not since or objection(known) is not None:
        return None
    known.job = replace(job, dependency=dependency_anew(job.dependency))
    known.quiet_until = float("-inf")
    words = " and ".join(f"job {one}" for one in since)
    reason = DecisionReason(
        code="retry_succeeded", detail=f"{words} was queued again and has succeeded since"
    )
    return act("set_dependency", job, reason, dependency=known.job.dependency)


def _has_succeeded(known: KnownJob) -> bool:
    """In a retry of ours."""
    return known.retried and known.job.state is JobState.COMPLETED
