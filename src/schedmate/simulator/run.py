"""One trace under one policy."""

from __future__ import annotations

import math
from time import perf_counter
from typing import TYPE_CHECKING

from schedmate.core import Mind
from schedmate.model import BadInput
from schedmate.simulator.mind_cluster import Cluster
from schedmate.simulator.mind_engine import Engine
from schedmate.simulator.result import Result
from schedmate.simulator.waiting import WaitingLine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from schedmate.model import Prediction
    from schedmate.policies import Ordering
    from schedmate.simulator.traces import TraceJob


def simulate(
    jobs: Sequence[TraceJob],
    *,
    gpus: int,
    ordering: Ordering,
    advise: Callable[[TraceJob], Prediction | None] | None = None,
    advice_cost_s: float = 0.0,
    backfill: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> Result:
    """Run every job once on `gpus` GPUs, in the order the mind gives them.

    `advise` says what is predicted of a job, None where nothing is; its answer counts only
    `advice_cost_s` simulated seconds after the submission. With `backfill`, whoever fits may
    overtake a job that does not. `on_progress` hears how many of how many jobs have ended.
    """
    _check(jobs, gpus, advice_cost_s)
    began = perf_counter()
    engine = Engine(
        jobs,
        cluster=Cluster(gpus),
        line=WaitingLine(first_fit=backfill),
        mind=Mind(ordering),
        advise=advise,
        advice_cost_s=advice_cost_s,
        on_progress=on_progress,
    )
    ended = engine.run()
    return Result(policy=ordering.name, gpus=gpus, jobs=ended, wall_seconds=perf_counter() - began)


def _check(jobs: Sequence[TraceJob], gpus: int, advice_cost_s: float) -> None:
    if not jobs:
        raise BadInput("there are no jobs to simulate")
    if len({job.job_id for job in jobs}) != len(jobs):
        raise BadInput("two jobs of the trace have the same id")
    if not (math.isfinite(advice_cost_s) and advice_cost_s >= 0):
        raise BadInput(f"advice cannot take {advice_cost_s} seconds")
    largest = max(jobs, key=lambda job: job.gpus)
    if largest.gpus > gpus:
        raise BadInput(
            f"job {largest.job_id} asks for {largest.gpus} GPUs and the cluster has {gpus}"
        )
