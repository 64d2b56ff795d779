"""As Sia's authors simulate it.

Its Philly workload on nodes of 4 T4s, batch sizes as submitted. How long each job takes on
so many GPUs, `sia_seconds.csv`, is what its simulator takes for the job alone. Starts and restarts
cost what they do there, and jobs may have any number of GPUs. Pollux, whose genetic search takes
seconds a round, was run on 11 jobs; Gavel in that simulator maximises throughput and is not ours.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from bench.datasets import data_dir, members, rows
from bench.proof.reference_runs.running import KEPT, Average, NotHere, run, table_of
from schedmate.policies.sia import Pollux, Sia
from schedmate.simulator.engine.cluster import GpuPool, Plain
from schedmate.simulator.engine.engine import SimulationEngine

_SIA_RESTART_S = {
    "cifar10": 50.0,
    "deepspeech2": 25.0,
    "bert": 120.0,
    "yolov3": 80.0,
    "imagenet": 250.0,
}
_ANY_NUMBER = (1e-6, 64.0)
_SIA_NODE = 4


class Rescaled(SimulationEngine):
    """Every start costs, also the first."""

    costs_s: Sequence[float] = ()

    def _sit(self, job: int, pace: float) -> None:
        self._restart_s, self._ran[job] = self.costs_s[job], True
        super()._sit(job, pace)


class Measured(Plain):
    """By how long a job takes alone on so many GPUs, or on the next fewer."""

    def __init__(self, asked: Sequence[int], seconds: Sequence[dict[int, float]]) -> None:
        super().__init__(asked)
        self._seconds = seconds

    def seconds(self, job: int, gpus: int) -> float:
        known = self._seconds[job]
        return known[max((count for count in known if count <= gpus), default=min(known))]

    def pace(
        self,
        job: int,
        gpus: int,
        companion: int | None,  # noqa: ARG002 - no jobs share here
        *,
        scattered: bool,  # noqa: ARG002 - one pool
    ) -> float:
        return self.seconds(job, self._gpus[job]) / self.seconds(job, gpus)


def sias(gpus: int, jobs: int | None = None) -> Average:
    times: dict[tuple[str, str], dict[int, float]] = {}
    for row in rows(KEPT / "sia_seconds.csv"):
        counts = times.setdefault((row["application"], row["batch"]), {})
        counts[int(row["gpus"])] = float(row["seconds"])
    read = _sia_rows()[:jobs]
    asked = [int(row["num_replicas"]) for row in read]
    physics = Measured(asked, [times[row["application"], row["batch_size"]] for row in read])
    columns = table_of(
        (float(row["time"]), physics.seconds(number, asked[number]), asked[number])
        for number, row in enumerate(read)
    )
    costs = [_SIA_RESTART_S[row["application"]] for row in read]
    engine = type("Charged", (Rescaled,), {"costs_s": costs})

    def average(name: str) -> float:
        made = {"sia": Sia, "pollux": Pollux}[name](span=_ANY_NUMBER, node_gpus=_SIA_NODE)
        return float(run(columns, made, GpuPool(gpus), physics=physics, engine=engine).mean())

    return average


def _sia_rows() -> list[dict[str, str]]:
    path = data_dir() / "profiles" / "sia_profiles_workloads.tar.gz"
    if not path.exists():
        raise NotHere("SCHEDMATE_DATA has no profiles/sia_profiles_workloads.tar.gz")
    for name, contents in members(path):
        if name.endswith("workloads/philly/workload-1.csv"):
            return list(csv.DictReader(io.StringIO(contents.decode())))
    raise NotHere("sia_profiles_workloads.tar.gz has no Philly workload")
