"""One cluster or many: each virtual cluster of a trace may be a pool of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from schedmate.model import BadInput
from schedmate.simulator.engine.outcome import PER_JOB, GpuChanges, SimulationOutcome
from schedmate.simulator.experiments.compare import compare
from schedmate.simulator.experiments.run import PolicyRun
from schedmate.simulator.experiments.setting import Setting, by_group
from schedmate.simulator.traces.columns import Ints, TraceColumns

OnProgress = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False, slots=True)
class PoolRuns:
    """The runs of all pools as if they were of one cluster of that many GPUs."""

    whole: Setting
    pools: int
    runs: list[PolicyRun]


def run_pools(
    columns: TraceColumns,
    policies: Sequence[str],
    setting_of: Callable[[str, TraceColumns], Setting],
    on_progress: OnProgress | None = None,
    *,
    controls: bool = False,
) -> PoolRuns:
    """Each group's jobs on the cluster that `setting_of` gives them."""
    kept: list[Ints] = []
    settings: list[Setting] = []
    per_pool: list[list[PolicyRun]] = []
    for name, jobs in by_group(columns):
        setting = setting_of(name, columns.take(jobs))
        kept.append(jobs[columns.gpus[jobs] <= setting.gpus])
        settings.append(setting)
        per_pool.append(compare(setting, policies, controls=controls, on_progress=on_progress))
    places = np.argsort(np.concatenate(kept), kind="stable")
    recorded = {
        job: run
        for each in settings
        if each.recorded is not None
        for job, run in zip(each.columns.ids, each.recorded, strict=True)
    }
    together = columns.take(np.concatenate(kept))
    whole = replace(
        settings[0],
        columns=together,
        recorded=tuple(recorded[each] for each in together.ids) if recorded else None,
        gpus=sum(setting.gpus for setting in settings),
        left_out=sum(setting.left_out for setting in settings),
    )
    runs = [_merged(runs, whole, places) for runs in zip(*per_pool, strict=True)]
    return PoolRuns(whole, len(settings), runs)


def divided(gpus: int, columns: TraceColumns) -> dict[str, int]:
    """So many GPUs among the groups: by the GPU time they ask for, and enough for the largest job
    of each."""
    groups = by_group(columns)
    least = {name: int(columns.gpus[jobs].max()) for name, jobs in groups}
    if sum(least.values()) > gpus:
        raise BadInput(
            f"the largest jobs of {len(groups)} groups need {sum(least.values())} GPUs, and there "
            f"are {gpus}: take more, or leave --by-group out"
        )
    work = columns.duration * columns.gpus
    asked = {name: float(work[jobs].sum()) for name, jobs in groups}
    sizes = dict(least)
    for _ in range(gpus - sum(least.values())):
        neediest = max(sizes, key=lambda name: asked[name] / sizes[name])
        sizes[neediest] += 1
    return sizes


def _merged(runs: Sequence[PolicyRun], whole: Setting, places: Ints) -> PolicyRun:
    gathered = {
        name: np.concatenate([getattr(run.outcome, name) for run in runs])[places]
        for name in PER_JOB
    }
    changes = GpuChanges.together([run.outcome.changes for run in runs])
    return replace(
        runs[0],
        columns=whole.columns,
        gpus=whole.gpus,
        outcome=SimulationOutcome(**gathered, changes=changes),
        wall_seconds=sum(run.wall_seconds for run in runs),
        controls={
            name: _merged([run.controls[name] for run in runs], whole, places)
            for name in runs[0].controls
        },
    )
