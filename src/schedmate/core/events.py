"""What the mind is told. Every event carries its time: the mind has no clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from schedmate.core.history import Attempt, Reached
from schedmate.core.places import NOTHING_WRITTEN, Written
from schedmate.core.retry import Choice
from schedmate.model import Advice, Diagnosis, Job, JobId, Progress


@dataclass(frozen=True, slots=True)
class JobSeen:
    """The scheduler shows this job like this; told at least whenever something changed.

    `past` is how earlier attempts went, `written` which nice numbers we gave it, for a mind that
    was not there.
    """

    at: float
    job: Job
    past: Mapping[int, Attempt] = field(default_factory=dict)
    written: Written = NOTHING_WRITTEN


@dataclass(frozen=True, slots=True)
class JobAdvised:
    at: float
    job_id: JobId
    advice: Advice


@dataclass(frozen=True, slots=True)
class ProgressSeen:
    at: float
    job_id: JobId
    progress: Progress


@dataclass(frozen=True, slots=True)
class JobDiagnosed:
    """`attempt` is the restart count of the run that the diagnosis is about.

    `reached` is how far that run came; `choice` are the nodes that could run the job again.
    """

    at: float
    job_id: JobId
    attempt: int
    diagnosis: Diagnosis
    reached: Reached = field(default_factory=Reached)
    choice: Choice | None = None


Event = JobSeen | JobAdvised | ProgressSeen | JobDiagnosed
