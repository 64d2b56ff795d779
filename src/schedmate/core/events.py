"""What the mind is told. Every event carries its time: the mind has no clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from schedmate.model import Advice, Diagnosis, Job, JobId, Progress


@dataclass(frozen=True, slots=True)
class JobSeen:
    """The scheduler shows this job like this; told at least whenever something changed.

    `past` is what earlier attempts died of, for a mind that was not there.
    """

    at: float
    job: Job
    past: Mapping[int, Diagnosis] = field(default_factory=dict)


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
    """`attempt` is the restart count of the run that the diagnosis is about."""

    at: float
    job_id: JobId
    attempt: int
    diagnosis: Diagnosis


Event = JobSeen | JobAdvised | ProgressSeen | JobDiagnosed
