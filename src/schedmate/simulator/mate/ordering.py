"""The places in line that the live orderings give, without the bound that a site's weights set.

A simulated queue takes any number, so a job stands as far back as it costs, in whole seconds.
"""

from __future__ import annotations

import math

import numpy as np

from schedmate.model import Job, JobState, Prediction, Request, Spread
from schedmate.policies import Candidate, Ordering
from schedmate.simulator.columns import Columns, Floats
from schedmate.simulator.estimates import Estimates


def nice_numbers(columns: Columns, estimates: Estimates, ordering: Ordering) -> Floats:
    """Seconds by which each job stands back; 0 for one of unknown duration."""
    submits, gpus = columns.submit.tolist(), columns.gpus.tolist()
    spreads = zip(
        estimates.p10.tolist(), estimates.p50.tolist(), estimates.p90.tolist(), strict=True
    )
    nice = np.zeros(len(columns))
    for job, (p10, p50, p90) in enumerate(spreads):
        if not math.isnan(p50):
            seen = _waiting(columns.ids[job], submits[job], gpus[job])
            said = Prediction(basis="history", duration_s=Spread(p10, p50, p90), explanation="")
            nice[job] = round(ordering.cost(Candidate(seen, said)) or 0.0)
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
