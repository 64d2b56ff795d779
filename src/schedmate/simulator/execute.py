"""One run of one policy, on the compiled path where that gives the same and pays."""

from __future__ import annotations

from typing import Literal

from schedmate.policies import Policy, Seen
from schedmate.simulator.cluster import Cluster, Kinds, Nodes, Pool
from schedmate.simulator.columns import Columns, Floats
from schedmate.simulator.engine import Engine, Progress, Recovery, Watcher
from schedmate.simulator.outcome import Outcome
from schedmate.simulator.overlay import Meant
from schedmate.simulator.physics import Physics, Plain
from schedmate.simulator.setting import Setting, nodes_of

Way = Literal["auto", "general", "compiled"]

WORTH_COMPILING = 30_000
"""Jobs from which on a kernel pays for being loaded."""


def execute(
    setting: Setting,
    columns: Columns,
    seen: Seen,
    policy: Policy,
    *,
    eligible: Floats | None = None,
    watcher: Watcher | None = None,
    recovery: Recovery | None = None,
    way: Way = "auto",
    on_progress: Progress | None = None,
) -> Outcome:
    mistaken = recovery is not None and recovery.mistakes
    plain = not (setting.node_sizes or setting.kinds or setting.faults or watcher or mistaken)
    if plain and way != "general" and _compiled(policy, columns, way):
        from schedmate.simulator.kernels import run_fast  # noqa: PLC0415 - numba is slow to load

        return run_fast(policy, columns, seen, setting.gpus, eligible, setting.restart_s)
    return Engine(
        columns,
        seen,
        policy,
        cluster_of(setting),
        physics=physics_of(setting),
        speeds=[kind.speed for kind in setting.kinds] or [1.0],
        eligible=eligible,
        restart_s=setting.restart_s,
        faults=setting.faults,
        recovery=recovery,
        watcher=watcher,
        on_progress=on_progress,
    ).run()


def cluster_of(setting: Setting) -> Cluster:
    if setting.kinds:
        return Kinds([_of_kind(kind.gpus, setting) for kind in setting.kinds])
    if setting.node_sizes:
        return Nodes(setting.node_sizes, spread=setting.spread)
    return Pool(setting.gpus)


def _of_kind(gpus: int, setting: Setting) -> tuple[Cluster, int]:
    if setting.per_node is None:
        return Pool(gpus), 1
    sizes = nodes_of(gpus, setting.per_node)
    return Nodes(sizes, spread=setting.spread), len(sizes)


def physics_of(setting: Setting) -> Physics:
    gpus = setting.columns.gpus.tolist()
    return Plain(gpus) if setting.meaning is None else Meant(setting.meaning, gpus)


def _compiled(policy: Policy, columns: Columns, way: Way) -> bool:
    if getattr(policy, "fast", None) is None:
        return False
    if way == "auto" and len(columns) < WORTH_COMPILING:
        return False
    from schedmate.simulator.kernels import available  # noqa: PLC0415 - numba is slow to load

    return available()
