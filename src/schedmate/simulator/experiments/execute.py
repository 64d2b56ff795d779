"""One run of one policy, on a compiled kernel where that gives the same and pays."""

from __future__ import annotations

from typing import Literal

import numpy as np

from schedmate.model.advice import Z90
from schedmate.policies import JobColumns, Policy
from schedmate.simulator.engine.cluster import Cluster, GpuPool, Kinds, Nodes, Physics, Plain
from schedmate.simulator.engine.engine import Progress, SimulationEngine
from schedmate.simulator.engine.outcome import SimulationOutcome
from schedmate.simulator.engine.running import Watcher
from schedmate.simulator.engine.steering import Beside, Recovery
from schedmate.simulator.estimators.base import Estimates
from schedmate.simulator.experiments.setting import Setting, nodes_of
from schedmate.simulator.synthetic import WorkloadPhysics
from schedmate.simulator.synthetic.interference import SharedPaces
from schedmate.simulator.traces.columns import Floats, TraceColumns

Backend = Literal["auto", "engine", "kernel"]

WORTH_COMPILING = 30_000
"""Jobs from which on a kernel pays for being loaded."""


def job_columns(columns: TraceColumns, estimates: Estimates) -> JobColumns:
    """What a policy sees of a trace."""
    return JobColumns(
        submit=columns.submit.tolist(),
        gpus=columns.gpus.tolist(),
        user=columns.user.codes.tolist(),
        group=columns.group.codes.tolist(),
        name=columns.name.codes.tolist(),
        limit=columns.limit.tolist(),
        expected=estimates.p50.tolist(),
        planned=columns.limit.tolist(),
        queue_key=[float(place) for place in range(len(columns))],
        nice=[0] * len(columns),
        log_sigma=log_sigma(estimates).tolist(),
    )


def log_sigma(estimates: Estimates) -> Floats:
    """The standard deviation of the logarithm that p10 and p90 imply."""
    low, high = np.maximum(estimates.p10, 1.0), np.maximum(estimates.p90, 1.0)
    return np.asarray(np.log(high / low) / (2 * Z90))


def execute(
    setting: Setting,
    columns: TraceColumns,
    jobs: JobColumns,
    policy: Policy,
    *,
    eligible: Floats | None = None,
    watcher: Watcher | None = None,
    recovery: Recovery | None = None,
    beside: Beside | None = None,
    backend: Backend = "auto",
    on_progress: Progress | None = None,
) -> SimulationOutcome:
    plain = not (setting.node_sizes or setting.kinds or setting.faults or watcher or beside)
    if plain and backend != "engine" and _has_kernel(policy, columns, backend):
        from schedmate.simulator.kernels import run_kernel  # noqa: PLC0415 - numba is slow to load

        if on_progress is not None:
            on_progress(0, 0)  # a kernel reports nothing before its end
        found = run_kernel(policy, columns, jobs, setting.gpus, eligible, setting.restart_s)
        if on_progress is not None:
            on_progress(len(columns), len(columns))
        return found
    return SimulationEngine(
        columns,
        jobs,
        policy,
        cluster_of(setting),
        physics=physics_of(setting),
        speeds=[kind.speed for kind in setting.kinds] or [1.0],
        eligible=eligible,
        restart_s=setting.restart_s,
        faults=setting.faults,
        recovery=recovery,
        watcher=watcher,
        beside=beside,
        nice_range=setting.nice_range,
        on_progress=on_progress,
    ).run()


def cluster_of(setting: Setting) -> Cluster:
    if setting.kinds:
        return Kinds([_of_kind(kind.gpus, setting) for kind in setting.kinds])
    if setting.node_sizes:
        return Nodes(setting.node_sizes, spread=setting.spread)
    return GpuPool(setting.gpus)


def _of_kind(gpus: int, setting: Setting) -> tuple[Cluster, int]:
    if setting.per_node is None:
        return GpuPool(gpus), 1
    sizes = nodes_of(gpus, setting.per_node)
    return Nodes(sizes, spread=setting.spread), len(sizes)


def physics_of(setting: Setting) -> Physics:
    gpus = setting.columns.gpus.tolist()
    plain = Plain(gpus) if setting.workload is None else WorkloadPhysics(setting.workload, gpus)
    shared = setting.job_levers if setting.levers.shareable else None
    return plain if shared is None else SharedPaces(plain, shared)


def _has_kernel(policy: Policy, columns: TraceColumns, backend: Backend) -> bool:
    if policy.kernel is None:
        return False
    if backend == "auto" and len(columns) < WORTH_COMPILING:
        return False
    from schedmate.simulator.kernels import available  # noqa: PLC0415 - numba is slow to load

    return available()
