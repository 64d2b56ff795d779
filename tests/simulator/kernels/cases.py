"""Small traces that hold every awkwardness at once: ties, jobs of no length, wrong and missing
expectations, plans that are outlived or without end, queue keys of others, late eligibility."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from schedmate.policies import JobColumns, Policy
from schedmate.policies.attained_service import Tiresias
from schedmate.policies.backfill import Conservative, Easy
from schedmate.policies.fifo import Fifo, FirstFit
from schedmate.policies.shortest_first import Sjf, Srsf, Srtf, Ssf
from schedmate.simulator.engine.cluster import GpuPool, Plain
from schedmate.simulator.engine.engine import SimulationEngine
from schedmate.simulator.engine.outcome import SimulationOutcome
from schedmate.simulator.traces.columns import Coded, Floats, TraceColumns

THRESHOLD = 24
"""GPU-seconds: a whole number of seconds on 1, 2, 3, 4, 6 or 8 GPUs."""

COMPILED: dict[str, Callable[[], Policy]] = {
    "fifo": Fifo,
    "first-fit": FirstFit,
    "easy": Easy,
    "sjf": Sjf,
    "ssf": Ssf,
    "sjf first fit": lambda: Sjf(discipline="first_fit"),
    "ssf first fit": lambda: Ssf(discipline="first_fit"),
    "srtf": Srtf,
    "srsf": Srsf,
}
CHECKED: dict[str, Callable[[], Policy]] = {
    **COMPILED,
    "conservative": Conservative,
    "tiresias": lambda: Tiresias(threshold=THRESHOLD),
}
"""Against the slow reference: those with a kernel, and others."""


@dataclass(frozen=True, eq=False)
class Case:
    columns: TraceColumns
    seen: JobColumns
    gpus: int
    eligible: Floats | None = None
    restart_s: float = 0.0


def columns(submit: Floats, duration: Floats, gpus) -> TraceColumns:
    zeros = np.zeros(len(submit), dtype=np.int64)
    nobody = Coded(zeros, ("",))
    return TraceColumns(
        ids=[str(number) for number in range(len(submit))],
        submit=np.asarray(submit, dtype=np.float64),
        duration=np.asarray(duration, dtype=np.float64),
        gpus=np.asarray(gpus, dtype=np.int64),
        status=zeros,
        limit=np.full(len(submit), np.inf),
        nodes=zeros + 1,
        user=nobody,
        group=nobody,
        name=nobody,
        gpu_type=nobody,
    )


def seen(
    table: TraceColumns, *, expected=None, planned=None, queue_key=None, log_sigma=None
) -> JobColumns:
    said = [table.duration if values is None else values for values in (expected, planned)]
    zeros = [0] * len(table)
    return JobColumns(
        submit=table.submit.tolist(),
        gpus=table.gpus.tolist(),
        user=zeros,
        group=zeros,
        name=zeros,
        limit=table.limit.tolist(),
        expected=said[0].tolist(),
        planned=said[1].tolist(),
        queue_key=(table.submit if queue_key is None else queue_key).tolist(),
        nice=[0] * len(table),
        log_sigma=[0.0] * len(table) if log_sigma is None else log_sigma.tolist(),
    )


def awkward(seed: int) -> Case:
    draw = np.random.default_rng(seed)
    count, gpus = int(draw.integers(1, 40)), int(draw.integers(1, 17))
    scale = float(draw.choice([3, 30, 300]))
    rounded = np.floor if draw.random() < 0.7 else np.asarray

    def some(share: float, values: Floats, others: Floats) -> Floats:
        return np.where(draw.random(count) < share, values, others)

    submit = np.sort(rounded(draw.uniform(0, scale * draw.choice([0.1, 1, 3]) * count / 4, count)))
    duration = some(0.05, np.zeros(count), rounded(draw.exponential(scale, count)))
    asked = np.minimum(draw.choice([1, 1, 2, 3, 4, 8, 16], count), gpus)
    expected = some(0.5, duration, duration * draw.choice([1, 0.5, 2], count))
    planned = some(0.1, np.full(count, np.inf), duration * draw.choice([1, 1, 2, 0.5], count))
    late = submit + np.floor(draw.exponential(scale / 3, count))
    table = columns(submit, duration, asked)
    told = seen(
        table,
        expected=some(draw.choice([0, 0.3]), np.full(count, np.nan), expected),
        planned=planned,
        queue_key=some(draw.choice([0, 0.4]), late, submit),
        log_sigma=some(0.5, np.full(count, np.nan), 2 * draw.random(count)),
    )
    eligible = late if draw.random() < 0.3 else None
    return Case(table, told, gpus, eligible, float(draw.choice([0, 1, 7, 60])))


def on_engine(policy: Policy, case: Case) -> SimulationOutcome:
    return SimulationEngine(
        case.columns,
        case.seen,
        policy,
        GpuPool(case.gpus),
        physics=Plain(case.seen.gpus),
        eligible=case.eligible,
        restart_s=case.restart_s,
    ).run()
