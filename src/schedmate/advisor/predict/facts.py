"""A job as light as a million of them must be: what it asked for, and how it went."""

from __future__ import annotations

import re
from dataclasses import dataclass

from schedmate.advisor.launch.target import Target
from schedmate.model import Job, JobState, PastRun

_NUMBER = re.compile(r"\d+")
_FIRST_WORD = re.compile(r"[^\W\d_]{1,40}")
_LONGEST_STEM = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a scheduler knows of a job when it is submitted. Times are seconds since the epoch."""

    job_id: str
    user: str
    name: str = ""
    command: str = ""
    gpus: int = 0
    cpus: int = 0
    nodes: int = 1
    limit_s: float | None = None
    partition: str = ""
    submitted_at: float

    @property
    def request(self) -> tuple[int, int, int, float | None, str]:
        return self.gpus, self.cpus, self.nodes, self.limit_s, self.partition

    @property
    def stem(self) -> str:
        """`train-12 lr=0.1` and `train-7 lr=0.3` are one."""
        return _NUMBER.sub("#", f"{self.name} {self.command}"[:_LONGEST_STEM].lower())

    @property
    def first_word(self) -> str:
        """`NNAgent` of `NNAgent7-lr-0.1`: what a user calls all jobs of one kind."""
        found = _FIRST_WORD.match(self.name)
        return found[0].lower() if found else ""


@dataclass(frozen=True, slots=True)
class Ran:
    """A job that has ended."""

    facts: Facts
    started_at: float
    ended_at: float
    state: JobState

    @property
    def duration_s(self) -> float:
        return max(0.0, self.ended_at - self.started_at)


def facts_of(job: Job) -> Facts:
    return Facts(
        job_id=job.id,
        user=job.user,
        name=job.name,
        command=" ".join(job.command),
        gpus=job.request.gpus,
        cpus=job.request.cpus or 0,
        nodes=job.request.nodes,
        limit_s=job.request.time_limit_s,
        partition=job.request.partition or "",
        submitted_at=job.submit_time,
    )


def facts_at_submission(target: Target, now: float) -> Facts:
    """Of a job that is about to be submitted, or was so `now`."""
    request = target.request
    return Facts(
        job_id="",
        user=target.user,
        name=target.name,
        command=" ".join(target.command),
        gpus=request.gpus,
        cpus=request.cpus or 0,
        nodes=request.nodes,
        limit_s=request.time_limit_s,
        partition=request.partition or "",
        submitted_at=now,
    )


def ran(run: PastRun) -> Ran | None:
    """None for a job that ended before it ran."""
    job = run.job
    if job.start_time is None or job.end_time is None:
        return None
    return Ran(facts_of(job), job.start_time, job.end_time, job.state)
