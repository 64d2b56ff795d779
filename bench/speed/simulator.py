"""How many jobs a second the kernels and the general engine get through, on one core.

    python -m bench.speed.simulator                                    # a million jobs
    python -m bench.speed.simulator --jobs 50000 --engine-jobs 2000    # fewer

Drawn jobs go through each kernel, the first of them through the general engine as well. Seconds
are those of the processor, and each figure stands beside its ratio to the same work in a plain loop
with heapq, taken in the same run. Philly's jobs are added where the data sets are at hand
(bench/README.md).
"""

from __future__ import annotations

import heapq
import resource
from collections.abc import Callable
from time import process_time

import numpy as np

from bench.command import command_line, machine
from bench.datasets import data_dir
from schedmate.policies import POLICIES, JobColumns, Policy
from schedmate.policies.shortest_first import Sjf
from schedmate.simulator.engine.cluster import GpuPool, Plain
from schedmate.simulator.engine.engine import SimulationEngine
from schedmate.simulator.kernels import run_kernel
from schedmate.simulator.traces import read_trace
from schedmate.simulator.traces.columns import Coded, TraceColumns, columns_of

SYNTHETIC_GPUS = 512
PHILLY_GPUS = 416
"""A load of 0.9; the 2,490 GPUs it ran on were a load of 0.15 for one common pool."""
LOAD = 0.9
KERNELS: dict[str, Callable[[], Policy]] = {
    **{name: make for name, make in POLICIES.items() if make().kernel and make.kind != "oracle"},
    "sjf first fit": lambda: Sjf(discipline="first_fit"),
}
GENERAL = ("fifo", "first-fit", "sjf", "easy", "srtf", "tiresias")


def columns(submit: np.ndarray, duration: np.ndarray, gpus: np.ndarray) -> TraceColumns:
    zeros = np.zeros(len(submit), dtype=np.int64)
    unnamed = Coded(zeros, ("",))
    order = np.argsort(submit, kind="stable")
    return TraceColumns(
        ids=[""] * len(submit),
        submit=submit[order].astype(np.float64),
        duration=duration[order].astype(np.float64),
        gpus=gpus[order].astype(np.int64),
        status=zeros,
        limit=np.full(len(submit), np.inf),
        nodes=zeros + 1,
        user=unnamed,
        group=unnamed,
        name=unnamed,
        gpu_type=unnamed,
    )


def drawn(jobs: int) -> TraceColumns:
    """Run times over five orders of magnitude, as traces have them."""
    draw = np.random.default_rng(0)
    gpus = draw.choice([1, 2, 4, 8, 16, 32], jobs, p=[0.6, 0.1, 0.1, 0.15, 0.03, 0.02])
    duration = np.maximum(1.0, np.round(np.exp(draw.normal(6.5, 2.0, jobs))))
    span = float(np.sum(gpus * duration)) / (SYNTHETIC_GPUS * LOAD)
    return columns(np.round(draw.uniform(0, span, jobs)), duration, gpus)


def philly() -> TraceColumns | None:
    path = data_dir() / "traces" / "philly_2017_jobs.csv.gz"
    if not path.exists():
        return None
    table = columns_of(read_trace(path).jobs)
    return table.take(table.gpus <= PHILLY_GPUS)


def seen(table: TraceColumns) -> JobColumns:
    zeros = [0] * len(table)
    duration = table.duration.tolist()
    return JobColumns(
        submit=table.submit.tolist(),
        gpus=table.gpus.tolist(),
        user=zeros,
        group=zeros,
        name=zeros,
        limit=table.limit.tolist(),
        expected=duration,
        planned=(2 * table.duration).tolist(),
        queue_key=[float(place) for place in range(len(table))],
        nice=[0] * len(table),
        log_sigma=[0.0] * len(table),
    )


def plain_loop(table: TraceColumns, gpus: int) -> float:
    """Jobs a second of FIFO in the plainest Python there is."""
    rows = list(
        zip(table.submit.tolist(), table.duration.tolist(), table.gpus.tolist(), strict=True)
    )
    began = process_time()
    ends: list[tuple[float, int]] = []
    now, free = 0.0, gpus
    for submit, duration, asked in rows:
        now = max(now, submit)
        while ends and (ends[0][0] <= now or free < asked):
            end, freed = heapq.heappop(ends)
            now = max(now, end)
            free += freed
        free -= asked
        heapq.heappush(ends, (now + duration, asked))
    return len(rows) / (process_time() - began)


def report(run: str, name: str, rate: float, plain: float, stops: int = 0) -> None:
    print(f"{run:18} {name:16} {rate:>12,.0f} {rate / plain:>8.2f} {stops:>10,}")


def measure(trace: str, table: TraceColumns, gpus: int, engine_jobs: int) -> None:
    plain = plain_loop(table, gpus)
    report(f"{trace}, loop", "fifo, heapq", plain, plain)
    known = seen(table)
    few = table.take(np.arange(min(100, len(table))))
    for name, make in KERNELS.items():
        run_kernel(
            make(), few, seen(few), gpus
        )  # compiled or loaded, which is not what is measured
        began = process_time()
        outcome = run_kernel(make(), table, known, gpus)
        rate = len(table) / (process_time() - began)
        report(f"{trace}, kernel", name, rate, plain, int(outcome.preemptions.sum()))
    cut = table.take(np.arange(min(engine_jobs, len(table))))
    known = seen(cut)
    for name in GENERAL:
        began = process_time()
        outcome = SimulationEngine(
            cut, known, POLICIES[name](), GpuPool(gpus), physics=Plain(known.gpus)
        ).run()
        rate = len(cut) / (process_time() - began)
        report(f"{trace}, engine", name, rate, plain, int(outcome.preemptions.sum()))


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--jobs", type=int, default=1_000_000, help="through each kernel")
    parser.add_argument("--engine-jobs", type=int, default=100_000, help="through the engine")
    options = parser.parse_args()
    print(f"{machine()}, one core used")
    print(f"{'trace and path':18} {'policy':16} {'jobs/s':>12} {'to loop':>8} {'stops':>10}")
    measure("drawn", drawn(options.jobs), SYNTHETIC_GPUS, options.engine_jobs)
    print(f"most memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")
    table = philly()
    if table is None:
        print("philly_2017_jobs: not here, see SCHEDMATE_DATA")
    else:
        measure("philly", table, PHILLY_GPUS, options.engine_jobs)


if __name__ == "__main__":
    main()
