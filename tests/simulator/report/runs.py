"""Runs to report on: a plain list scheduler, and a trace drawn by chance."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from schedmate.simulator.engine.outcome import PolicyComparison, SimulationOutcome, summary_of
from schedmate.simulator.report import Digest, digest
from schedmate.simulator.traces.columns import Coded, TraceColumns


@dataclass(frozen=True)
class Ran:
    policy: str
    outcome: SimulationOutcome


def some_columns(
    jobs: int, *, seed: int = 0, users: tuple[str, ...] = ("ada", "bob", "eve")
) -> TraceColumns:
    rng = np.random.default_rng(seed)
    groups = ("vision", "speech")
    return TraceColumns(
        ids=[str(job) for job in range(jobs)],
        submit=np.sort(rng.uniform(0, 400.0 * jobs, jobs)),
        duration=np.exp(rng.normal(7.0, 1.7, jobs)),
        gpus=2 ** rng.integers(0, 4, jobs),
        status=np.zeros(jobs, dtype=np.int64),
        limit=np.full(jobs, np.inf),
        nodes=np.ones(jobs, dtype=np.int64),
        user=Coded(rng.integers(0, len(users), jobs), users),
        group=Coded(rng.integers(0, len(groups), jobs), groups),
        name=Coded(np.zeros(jobs, dtype=np.int64), ("train",)),
        gpu_type=Coded(np.zeros(jobs, dtype=np.int64), ("",)),
    )


def listed(columns: TraceColumns, key: np.ndarray, *, gpus: int) -> SimulationOutcome:
    """First fit in the order of `key` among those that have come."""
    start = np.full(len(columns), np.nan)
    running: list[tuple[float, int]] = []
    waiting: list[int] = []
    free, now, coming = gpus, 0.0, 0
    while coming < len(columns) or waiting:
        ends = running[0][0] if running else np.inf
        now = min(ends, columns.submit[coming] if coming < len(columns) else np.inf)
        while running and running[0][0] <= now:
            free += heapq.heappop(running)[1]
        while coming < len(columns) and columns.submit[coming] <= now:
            waiting.append(coming)
            coming += 1
        for job in sorted(waiting, key=lambda job: (key[job], job)):
            if columns.gpus[job] <= free:
                start[job], free = now, free - int(columns.gpus[job])
                heapq.heappush(running, (now + columns.duration[job], int(columns.gpus[job])))
                waiting.remove(job)
    return SimulationOutcome.unbroken(columns, start, start + columns.duration)


def runs_of(columns: TraceColumns, *, gpus: int = 16) -> list[Ran]:
    return [
        Ran("fifo", listed(columns, columns.submit, gpus=gpus)),
        Ran("fifo+advisor", listed(columns, columns.duration**0.5, gpus=gpus)),
        Ran("fifo+schedmate", listed(columns, columns.duration, gpus=gpus)),
    ]


def compared_of(
    columns: TraceColumns, runs: list[Ran], *, gpus: int = 16, trace: str = "t"
) -> PolicyComparison:
    return PolicyComparison(
        trace=trace,
        jobs=len(columns),
        gpus=gpus,
        assumptions=("one pool", "nobody is preempted"),
        policies={run.policy: summary_of(columns, run.outcome, gpus=gpus) for run in runs},
        load=columns.load(gpus) if columns.span_s else None,
    )


def digest_of(columns: TraceColumns, *, trace: str = "t") -> Digest:
    runs = runs_of(columns)
    return digest(compared_of(columns, runs, trace=trace), columns, runs)
