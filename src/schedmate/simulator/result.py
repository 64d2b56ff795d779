"""What came out of a simulation, job by job and in sum."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from schedmate.model import JobId, JobState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.simulator.columns import Columns, Floats
    from schedmate.simulator.outcome import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class JobResult:
    job_id: JobId
    gpus: int
    submit_time: float
    start_time: float
    end_time: float
    status: JobState

    @property
    def queue_s(self) -> float:
        return self.start_time - self.submit_time

    @property
    def jct_s(self) -> float:
        """Job completion time: from submission to the end, waiting included."""
        return self.end_time - self.submit_time


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    avg_jct_s: float
    p50_jct_s: float
    p99_jct_s: float
    avg_queue_s: float
    makespan_s: float
    gpu_utilization: float
    preemptions: int
    wall_seconds: float = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Jobs in order of submission. Two results are equal whatever time they took to compute."""

    policy: str
    gpus: int
    jobs: tuple[JobResult, ...]
    wall_seconds: float = field(compare=False)

    @property
    def summary(self) -> Summary:
        jcts = sorted(job.jct_s for job in self.jobs)
        begin = min(job.submit_time for job in self.jobs)
        makespan = max(job.end_time for job in self.jobs) - begin
        busy = math.fsum(job.gpus * (job.end_time - job.start_time) for job in self.jobs)
        return Summary(
            avg_jct_s=math.fsum(jcts) / len(jcts),
            p50_jct_s=_quantile(jcts, 0.5),
            p99_jct_s=_quantile(jcts, 0.99),
            avg_queue_s=math.fsum(job.queue_s for job in self.jobs) / len(jcts),
            makespan_s=makespan,
            gpu_utilization=busy / (self.gpus * makespan) if makespan else 0.0,
            preemptions=0,
            wall_seconds=self.wall_seconds,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The same trace under several policies: the JSON of `schedmate simulate`."""

    schema: Literal["schedmate.simulation/1"] = "schedmate.simulation/1"
    trace: str
    jobs: int
    gpus: int
    assumptions: tuple[str, ...]
    policies: dict[str, Summary]
    load: float | None = None
    """Work asked for over what the GPUs can do while jobs come; None where all come at once."""
    setting: dict[str, float] = field(default_factory=dict)
    """What a sweep set, by its name."""


def waited_s(columns: Columns, outcome: Outcome) -> Floats:
    """Seconds each job held no GPU: before its first start and, where it was interrupted, after."""
    to_the_start = outcome.start - columns.submit
    in_all = outcome.end - columns.submit - outcome.gpu_seconds / columns.gpus
    waited: Floats = np.where(
        outcome.preemptions > 0, np.maximum(to_the_start, in_all), to_the_start
    )
    return waited


def summary_of(
    columns: Columns, outcome: Outcome, *, gpus: int, wall_seconds: float = 0.0
) -> Summary:
    """The figures of one run of at least one job."""
    jct = outcome.end - columns.submit
    makespan = float(outcome.end.max() - columns.submit[0])
    p50, p99 = np.quantile(jct, (0.5, 0.99)).tolist()
    return Summary(
        avg_jct_s=float(jct.mean()),
        p50_jct_s=p50,
        p99_jct_s=p99,
        avg_queue_s=float(waited_s(columns, outcome).mean()),
        makespan_s=makespan,
        gpu_utilization=float(outcome.gpu_seconds.sum()) / (gpus * makespan) if makespan else 0.0,
        preemptions=int(outcome.preemptions.sum()),
        wall_seconds=wall_seconds,
    )


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Linear between the two nearest values."""
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)
