"""What the mind is told. Every event carries its time: the mind has no clock."""

from __future__ import annotations

from dataclasses import dataclass

from schedmate.model import Advice, Diagnosis, Job, JobId, Progress


@dataclass(frozen=True, slots=True)
class JobSeen:
    """The scheduler shows this job like this; told at least whenever something changed."""

    at: float
    job: Job


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
