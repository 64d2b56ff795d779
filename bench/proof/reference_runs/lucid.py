"""As Lucid's authors simulate it.

The full logs of its clusters are not to be had. 600 jobs of Philly on nodes of 8 GPUs; the
n-th job is the model in line 7919 n (modulo 66) of its `single_data.csv`; estimates are the true
run time with a log error of 1, the same for QSSF and Lucid. Its profiler was given one node and
200 s, all jobs of up to 8 GPUs are measured. There profiling costs nothing: jobs that do not end
in it begin in the rest of the cluster when they are submitted. `lucid` is ours by these rules,
`lucid, as it comes` is what `schedmate simulate` runs. Its Tiresias stops jobs for earlier ones
of the same queue, which the authors of Tiresias do not, and so does ours on these jobs.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from bench.datasets import rows
from bench.proof.reference_runs.running import Average, NotHere, Row, philly, plain, run, table_of
from schedmate.policies.attained_service import Tiresias
from schedmate.policies.lucid import Lucid
from schedmate.policies.lucid_parts import Profiling
from schedmate.policies.shortest_first import Sjf
from schedmate.simulator.engine.cluster import Nodes
from schedmate.simulator.traces.columns import Floats

AS_IT_COMES = "lucid, as it comes"
_NODE, _PROFILED_S = 8, 200.0


class StoppedWithinQueue(Tiresias):
    """As Lucid's authors have it: a job stops later ones of its own queue."""

    def _running_key(self, job: int) -> float:
        return self._key_of(job)


def lucids(cluster: str, first: int, nodes: int) -> Average:
    jobs = philly(cluster, first)
    columns = table_of(jobs)
    noise = np.random.default_rng(28).normal(0.0, 1.0, len(jobs))
    estimates = np.maximum(1.0, np.round(columns.duration * np.exp(noise)))

    def average(name: str) -> float:
        if name in ("lucid", AS_IT_COMES):
            models = _models(len(jobs))
            found = _as_published if name == "lucid" else _as_it_comes
            return float(found(jobs, estimates, models, nodes).mean())
        policy, whole = plain(name.replace("qssf", "ssf")), Nodes([_NODE] * nodes)
        restart_s = 60.0
        if isinstance(policy, Tiresias):
            policy, restart_s = StoppedWithinQueue(threshold=float(name.split("@")[1])), 40.0
        expected = estimates if name == "qssf" else None
        return float(run(columns, policy, whole, expected=expected, restart_s=restart_s).mean())

    return average


def _as_published(
    jobs: Sequence[Row], estimates: Floats, models: Sequence[Model], nodes: int
) -> Floats:
    """A node for the profiler alone, least GPUs first; the others for those that do not end
    there."""
    small = [number for number, (_, _, gpus) in enumerate(jobs) if gpus <= _NODE]
    cut = table_of((at, min(seconds, _PROFILED_S), gpus) for at, seconds, gpus in jobs)
    measured = cut.take(np.array(small))
    ends = run(measured, Sjf(), Nodes([_NODE]), expected=measured.gpus.astype(float))
    taken = np.zeros(len(jobs))
    taken[small] = ends
    left = np.array([seconds > _PROFILED_S or gpus > _NODE for _, seconds, gpus in jobs])
    columns = table_of(jobs).take(left)
    policy = Lucid(
        profiling=Profiling(share=1e-9, most=1e-9),
        few_an_hour=-1,
        share_first=True,
        skip_profiling=lambda _: True,
    )
    physics = Pairs([models[number] for number in np.flatnonzero(left).tolist()])
    cluster = Nodes([_NODE] * (nodes - 1))
    taken[left] = run(columns, policy, cluster, expected=estimates[left], physics=physics)
    return taken


def _as_it_comes(
    jobs: Sequence[Row], estimates: Floats, models: Sequence[Model], nodes: int
) -> Floats:
    cluster = Nodes([_NODE] * nodes)
    return run(table_of(jobs), Lucid(), cluster, expected=estimates, physics=Pairs(models))


@dataclass(frozen=True, slots=True)
class Model:
    key: tuple[str, ...]
    score: int
    memory: float


def _lucid_file(name: str) -> Path:
    clones = os.environ.get("SCHEDMATE_ARTIFACTS")
    path = Path(clones or "artifacts") / "Lucid" / "simulation" / name
    if not path.exists():
        raise NotHere("SCHEDMATE_ARTIFACTS names no directory with a clone of Lucid's artifact")
    return path


_GPU_MB = 24_576.0
_KEY = ("model", "dataset", "batchsize", "amp")


def _models(jobs: int) -> list[Model]:
    measured = [
        Model(tuple(row[part] for part in _KEY), int(row["label"]), float(row["gmem"]) / _GPU_MB)
        for row in rows(_lucid_file("analyzer/single_data.csv"))
    ]
    return [measured[number * 7919 % len(measured)] for number in range(jobs)]


@cache
def _paces() -> dict[tuple[tuple[str, ...], tuple[str, ...]], float]:
    found = {}
    for row in rows(_lucid_file("data/colocate_info.csv")):
        one, other = (tuple(row[f"{part}{which}"] for part in _KEY) for which in (1, 2))
        found[other, one] = float(row["speed2"])
        found[one, other] = float(row["speed1"])
    return found


_UNDISTURBED = frozenset({"NeuMF", "ResNet50", "BERT", "Transformer"})
"""Models that Lucid's simulator lets share without any loss."""


class Pairs:
    """Paces of Lucid's measured pairs, and use of the GPUs that gives its own scores."""

    def __init__(self, models: Sequence[Model]) -> None:
        self._models = models

    def pace(
        self,
        job: int,
        gpus: int,  # noqa: ARG002 - Lucid does not stretch jobs
        companion: int | None,
        *,
        scattered: bool,  # noqa: ARG002 - nor scatters them
    ) -> float:
        if companion is None:
            return 1.0
        one, other = self._models[job].key, self._models[companion].key
        return 1.0 if _UNDISTURBED & {one[0], other[0]} else _paces()[one, other]

    def utilization(self, job: int) -> float:
        return (0.1, 0.4, 0.9)[self._models[job].score]

    def memory_share(self, job: int) -> float:
        return self._models[job].memory
