"""As Gavel's authors simulate it.

The first 400 jobs of two virtual clusters of its traces (seed 0) whose throughput it
measured; `gavel` is max-min fairness, on several kinds of GPU with their throughputs.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from functools import cache

from bench.datasets import data_dir, rows
from bench.proof.reference_runs.running import (
    Average,
    NotHere,
    Row,
    on_pool,
    plain,
    run,
    table_of,
)
from schedmate.simulator.engine.cluster import GpuPool, Kinds
from schedmate.simulator.engine.engine import SimulationEngine
from schedmate.simulator.engine.running import Seat

_GAVEL_JOBS = 400
_GAVEL_KINDS = ("v100", "p100", "k80")


class ByKind(SimulationEngine):
    """Jobs are as fast on a kind of GPU as was measured of each."""

    measured: Sequence[Sequence[float]] = ()

    def speed(self, job: int, kind: int) -> float:
        return self.measured[job][kind]

    def _pace_of(self, job: int, seat: Seat) -> float:
        return self.measured[job][self._cluster.kind_of(seat.place)]


def gavels(cluster: str, gpus: Sequence[int]) -> Average:
    jobs: list[Row] = []
    speeds: list[list[float]] = []
    for row in _gavel_rows(cluster):
        alone = [_alone(row, kind) for kind in _GAVEL_KINDS]
        if alone[0] and len(jobs) < _GAVEL_JOBS:
            at, steps = float(row["arrival_time_s"]), float(row["total_steps"])
            jobs.append((at, steps / alone[0], int(row["scale_factor"])))
            speeds.append([pace / alone[0] for pace in alone])
    columns = table_of(jobs)
    if len(gpus) == 1:
        return on_pool(jobs, gpus[0])
    engine = type("Measured", (ByKind,), {"measured": speeds})

    def average(name: str) -> float:
        kinds = Kinds([(GpuPool(count), 1) for count in gpus])
        return float(run(columns, plain(name), kinds, engine=engine).mean())

    return average


def _gavel_rows(cluster: str) -> list[dict[str, str]]:
    path = data_dir() / "traces" / "gavel_philly_seed0_commands.csv.gz"
    if not path.exists():
        raise NotHere("SCHEDMATE_DATA has no traces/gavel_philly_seed0_commands.csv.gz")
    return [row for row in rows(path) if row["vc"] == cluster]


@cache
def _throughputs() -> dict[str, dict[str, dict[str, float]]]:
    path = data_dir() / "profiles" / "gavel_simulation_throughputs.json.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        found: dict[str, dict[str, dict[str, float]]] = json.load(file)
    return found


def _alone(row: dict[str, str], kind: str) -> float:
    name = f"('{row['job_type']}', {row['scale_factor']})"
    return _throughputs()[kind].get(name, {"null": 0.0})["null"]
