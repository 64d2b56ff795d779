"""A trace out of thin air, so that everything works without a download.

Durations are log-normal, arrivals Poisson at the wanted load, GPU counts powers of two: the
shape of the published traces, calibrated to none of them.
"""

from __future__ import annotations

from itertools import accumulate
from random import Random

from schedmate.model import JobState
from schedmate.simulator.traces.base import Trace, TraceJob

_MEDIAN_S = 1800.0
_SIGMA = 1.7
_USERS = 40
_GPU_WEIGHTS = {1: 60, 2: 12, 4: 12, 8: 12, 16: 3, 32: 1}
_STATUS_WEIGHTS = {JobState.COMPLETED: 70, JobState.FAILED: 15, JobState.CANCELLED: 15}


def synthetic(jobs: int, *, gpus: int, load: float = 0.9, seed: int = 0) -> Trace:
    """Draw `jobs` jobs that keep `gpus` GPUs busy for the share `load` of the time, on average."""
    dice = Random(seed)  # noqa: S311 - a repeatable draw is the point
    sizes = {size: weight for size, weight in _GPU_WEIGHTS.items() if size <= gpus}
    counts = dice.choices(list(sizes), list(sizes.values()), k=jobs)
    durations = [float(max(1, round(_MEDIAN_S * dice.lognormvariate(0, _SIGMA)))) for _ in counts]
    work = sum(count * duration for count, duration in zip(counts, durations, strict=True))
    arrivals_per_s = load * gpus * jobs / work
    arrivals = accumulate(dice.expovariate(arrivals_per_s) for _ in counts)
    statuses = dice.choices(list(_STATUS_WEIGHTS), list(_STATUS_WEIGHTS.values()), k=jobs)
    drawn = tuple(
        TraceJob(
            job_id=str(number),
            user=f"user{dice.randrange(_USERS)}",
            submit_time=round(arrival, 3),
            duration=duration,
            gpus=count,
            status=status,
        )
        for number, (arrival, duration, count, status) in enumerate(
            zip(arrivals, durations, counts, statuses, strict=True), start=1
        )
    )
    return Trace(name=f"synthetic (seed {seed})", jobs=drawn)
