"""Runs of our policies on the jobs of others, and those jobs that several simulators were given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path

import numpy as np

from bench.datasets import data_dir, rows
from schedmate.policies import POLICIES, Policy
from schedmate.simulator import TraceColumns, TraceJob, columns_of
from schedmate.simulator.engine.cluster import Cluster, GpuPool, Physics, Plain
from schedmate.simulator.engine.engine import SimulationEngine
from schedmate.simulator.estimators.base import Estimates
from schedmate.simulator.experiments.execute import job_columns
from schedmate.simulator.traces.columns import Floats

KEPT = Path(__file__).parent
Row = tuple[float, float, int]
"""Submitted, seconds, GPUs."""
Average = Callable[[str], float]
"""The average completion time in seconds, by the name of a policy."""
_JOBS = 600


class NotHere(Exception):
    """Data that a trace needs is not on this machine."""


def run(
    columns: TraceColumns,
    policy: Policy,
    cluster: Cluster,
    *,
    expected: Floats | None = None,
    physics: Physics | None = None,
    engine: type[SimulationEngine] = SimulationEngine,
    restart_s: float = 0.0,
) -> Floats:
    """Seconds from the submission of each job to its end."""
    known = Estimates.exactly(columns.duration if expected is None else expected, "oracle")
    made = engine(
        columns,
        job_columns(columns, known),
        policy,
        cluster,
        physics=physics or Plain(columns.gpus.tolist()),
        speeds=[1.0] * len(cluster.kinds),
        restart_s=restart_s,
    )
    return np.asarray(made.run().end - columns.submit)


def table_of(jobs: Iterable[Row]) -> TraceColumns:
    return columns_of(
        [
            TraceJob(job_id=f"{number:06}", user="", submit_time=at, duration=seconds, gpus=gpus)
            for number, (at, seconds, gpus) in enumerate(jobs)
        ]
    )


def plain(name: str) -> Policy:
    policy, _, threshold = name.partition("@")
    return POLICIES[policy].tuned([float(threshold)] if threshold else [])


def on_pool(jobs: Sequence[Row], gpus: int) -> Average:
    columns = table_of(jobs)
    return lambda name: float(run(columns, plain(name), GpuPool(gpus)).mean())


@cache
def _philly() -> dict[str, list[Row]]:
    path = data_dir() / "traces" / "philly_2017_jobs.csv.gz"
    if not path.exists():
        raise NotHere("SCHEDMATE_DATA has no traces/philly_2017_jobs.csv.gz")
    found: dict[str, list[Row]] = {}
    for row in rows(path):
        at = datetime.fromisoformat(row["timestamp"]).timestamp()
        job = (at, float(int(float(row["duration"]))), int(row["num_gpus"]))
        found.setdefault(row["cluster"], []).append(job)
    return {name: sorted(jobs, key=lambda job: job[0]) for name, jobs in found.items()}


def philly(cluster: str, first: int) -> list[Row]:
    jobs = _philly()[cluster][first : first + _JOBS]
    return [(at - jobs[0][0], seconds, gpus) for at, seconds, gpus in jobs]
