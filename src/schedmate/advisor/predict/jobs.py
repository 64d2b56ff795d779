"""A job as light as a million of them must be: what it asked for, how it went; and their replay."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from schedmate.advisor.launch.target import Target
from schedmate.model import Fingerprint, Job, JobState, PastRun, Request, Workload
from schedmate.model.sketch import Sketch, sketch_of

_NUMBER = re.compile(r"\d+")
_FIRST_WORD = re.compile(r"[^\W\d_]{1,40}")
_LONGEST_STEM = 200


@lru_cache(maxsize=4096)
def _stem(name: str, command: str) -> str:
    return _NUMBER.sub("#", f"{name} {command}"[:_LONGEST_STEM].lower()).strip()


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
        return _stem(self.name, self.command)

    @property
    def first_word(self) -> str:
        """`NNAgent` of `NNAgent7-lr-0.1`: what a user calls all jobs of one kind."""
        found = _FIRST_WORD.match(self.name)
        return found[0].lower() if found else ""


@dataclass(frozen=True, slots=True)
class EndedJob:
    """A job that has ended."""

    facts: Facts
    started_at: float
    ended_at: float
    state: JobState

    @property
    def duration_s(self) -> float:
        return max(0.0, self.ended_at - self.started_at)


def facts_of(job: Job) -> Facts:
    return facts_at_submission(job, job.submit_time, job.id)


def facts_at_submission(job: Job | Target, now: float, job_id: str = "") -> Facts:
    """Of a job that is about to be submitted, or was so `now`."""
    request = job.request
    return Facts(
        job_id=job_id,
        user=job.user,
        name=job.name,
        command=" ".join(job.command),
        gpus=request.gpus,
        cpus=request.cpus or 0,
        nodes=request.nodes,
        limit_s=request.time_limit_s,
        partition=request.partition or "",
        submitted_at=now,
    )


def ended_job(run: PastRun) -> EndedJob | None:
    """None for a job that ended before it ran."""
    job = run.job
    if job.start_time is None or job.end_time is None:
        return None
    return EndedJob(facts_of(job), job.start_time, job.end_time, job.state)


EventKind = Literal["submit", "start", "end"]


@dataclass(frozen=True, slots=True)
class Event:
    at: float
    kind: EventKind
    run: EndedJob


def replay(runs: Iterable[EndedJob]) -> Iterator[Event]:
    """What ended as another was submitted had ended before; a job's own events keep order."""
    events: list[tuple[float, int, int, EventKind]] = []
    known = list(runs)
    for number, run in enumerate(known):
        came = run.facts.submitted_at
        started, ended = max(run.started_at, came), max(run.ended_at, came)
        events.append((came, 2, number, "submit"))
        events.append((started, 1 if started > came else 3, number, "start"))
        events.append((ended, 0 if ended > started else 4, number, "end"))
    for at, _, number, kind in sorted(events):
        yield Event(at, kind, known[number])


def unused_gpus_in_words(sketch: Sketch, workload: Workload, request: Request) -> str:
    """A clause for a job whose code would not use all GPUs that it requests, else nothing."""
    requested = workload.gpus.value if workload.gpus else request.gpus
    if not requested or math.isclose(math.log(requested), sketch.number("gpus")):
        return ""
    return f"; for the one GPU that its code would use, not {requested}"


def sketch_of_target(target: Target, fingerprint: Fingerprint | None, workload: Workload) -> Sketch:
    return sketch_of(
        workload,
        user=target.user,
        name=target.name,
        request=target.request,
        fingerprint=fingerprint,
    )
