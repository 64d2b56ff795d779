"""One trace under several policies, with all that was assumed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from schedmate.model import BadInput
from schedmate.policies import ordering
from schedmate.simulator.oracle import ADVISERS
from schedmate.simulator.result import Comparison
from schedmate.simulator.run import simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from schedmate.simulator.traces import Trace, TraceJob

_DEFAULT_LOAD = 0.9


def compare(
    trace: Trace,
    *,
    policies: Sequence[str],
    gpus: int | None = None,
    backfill: bool = False,
    on_progress: Callable[[str, int, int], None] | None = None,
) -> Comparison:
    """Run every policy on the jobs that the cluster can hold; by default a cluster that they
    keep busy for nine tenths of the time they arrive in.
    """
    orderings = {name: ordering(name) for name in policies}
    size = gpus or _gpus_for_load(trace.jobs, _DEFAULT_LOAD)
    jobs = [job for job in trace.jobs if job.gpus <= size]
    if not jobs:
        raise BadInput(f"every job of {trace.name} asks for more than the cluster's {size} GPUs")
    results = {
        name: simulate(
            jobs,
            gpus=size,
            ordering=kind,
            advise=ADVISERS.get(name),
            backfill=backfill,
            on_progress=_named(on_progress, name),
        )
        for name, kind in orderings.items()
    }
    return Comparison(
        trace=trace.name,
        jobs=len(jobs),
        gpus=size,
        assumptions=tuple(_assumptions(trace, jobs, size, policies=policies, backfill=backfill)),
        policies={name: result.summary for name, result in results.items()},
    )


def _named(
    on_progress: Callable[[str, int, int], None] | None, name: str
) -> Callable[[int, int], None] | None:
    if on_progress is None:
        return None
    return lambda done, total: on_progress(name, done, total)


def _assumptions(
    trace: Trace, jobs: Sequence[TraceJob], gpus: int, *, policies: Sequence[str], backfill: bool
) -> list[str]:
    told = [
        f"one pool of {gpus} GPUs of one kind; a job holds all it asked for from start to end",
        "jobs start by first fit in queue order"
        if backfill
        else "jobs start strictly in queue order: nobody overtakes the head of the line",
        "a job runs for as long as in the trace and ends as it did there: no preemption, no retry",
        f"the jobs ask for {_load(jobs, gpus)} the cluster gives while they arrive",
    ]
    oracles = [name for name in policies if name in ADVISERS]
    if oracles:
        told.append(f"{', '.join(oracles)}: knows every duration beforehand (oracle)")
    if trace.bad_rows:
        told.append(f"{len(trace.bad_rows)} bad rows of the trace are left out")
    if too_big := len(trace.jobs) - len(jobs):
        told.append(f"{too_big} jobs that ask for more than {gpus} GPUs are left out")
    return told


def _load(jobs: Sequence[TraceJob], gpus: int) -> str:
    span = _span_s(jobs)
    if not span:
        return "more than"
    return f"{_gpu_seconds(jobs) / (gpus * span):.2f} times what"


def _gpus_for_load(jobs: Sequence[TraceJob], load: float) -> int:
    largest = max(job.gpus for job in jobs)
    span = _span_s(jobs)
    return max(largest, math.ceil(_gpu_seconds(jobs) / (load * span))) if span else largest


def _gpu_seconds(jobs: Sequence[TraceJob]) -> float:
    return math.fsum(job.gpus * job.duration for job in jobs)


def _span_s(jobs: Sequence[TraceJob]) -> float:
    """How long jobs kept coming."""
    times = [job.submit_time for job in jobs]
    return max(times) - min(times)
