"""The places in line that the mate's mind gives: the same mind that sets nice numbers live."""

from __future__ import annotations

import math

import numpy as np

from schedmate.core import Act, DecisionEngine, JobAdvised, JobForgotten, JobSeen
from schedmate.model import Advice, Job, JobState, Prediction, Request, Spread, Workload
from schedmate.policies import Ordering
from schedmate.simulator.columns import Columns, Floats
from schedmate.simulator.estimates import Estimates

_NOTHING_READ = Workload()


def nice_numbers(columns: Columns, estimates: Estimates, ordering: Ordering) -> Floats:
    """What the mind asks the scheduler to set; 0 where it asks for nothing."""
    mind = DecisionEngine(ordering)
    submits, gpus = columns.submit.tolist(), columns.gpus.tolist()
    spreads = zip(
        estimates.p10.tolist(), estimates.p50.tolist(), estimates.p90.tolist(), strict=True
    )
    nice = np.zeros(len(columns))
    for job, (p10, p50, p90) in enumerate(spreads):
        if not math.isnan(p50):
            seen = _waiting(columns.ids[job], submits[job], gpus[job])
            nice[job] = _nice(mind, seen, Spread(p10, p50, p90))
    return nice


def _waiting(job_id: str, submitted: float, gpus: int) -> Job:
    return Job(
        id=job_id,
        name="",
        user="",
        state=JobState.PENDING,
        workdir="",
        request=Request(gpus=gpus),
        submit_time=submitted,
    )


def _nice(mind: DecisionEngine, job: Job, spread: Spread) -> float:
    mind.handle(JobSeen(job.submit_time, job))
    said = Prediction(basis="history", duration_s=spread, explanation="")
    advice = Advice(workload=_NOTHING_READ, prediction=said)
    wanted = mind.handle(JobAdvised(job.submit_time, job.id, advice))
    mind.handle(JobForgotten(job.submit_time, job.id))
    values = [each.action.value for each in wanted if isinstance(each, Act)]
    return float(values[0]) if values and values[0] is not None else 0.0
