"""From a task to its result; the same in this process, in another and on another machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from schedmate.design.words import plural
from schedmate.model import BadInput, JobId, PastRun
from schedmate.policies import POLICIES, Policy, SiteParameters
from schedmate.simulator.engine.cluster import PLAIN_PACE
from schedmate.simulator.engine.faults import draw_faults
from schedmate.simulator.engine.outcome import PolicyComparison
from schedmate.simulator.estimators.controls import controls_of
from schedmate.simulator.experiments.compare import as_it_was, compare, comparison
from schedmate.simulator.experiments.plan import plan
from schedmate.simulator.experiments.setting import (
    DEFAULT_LOAD,
    LIMITS_DRAWN,
    Setting,
    fitting,
    gpus_for_load,
    nodes_of,
    with_limits,
)
from schedmate.simulator.report import Digest, digest
from schedmate.simulator.sweeps.pools import divided, run_pools
from schedmate.simulator.sweeps.tasks import SYNTHETIC, SimulationTask
from schedmate.simulator.synthetic import draw_workload
from schedmate.simulator.traces import Trace, read_trace
from schedmate.simulator.traces.arrays import synthetic_columns
from schedmate.simulator.traces.columns import TraceColumns, columns_of
from schedmate.simulator.traces.finished import SIZE_AS_IT_WAS
from schedmate.simulator.traces.synthetic import DEFAULT_PROFILE

OnProgress = Callable[[str, int, int], None]
SYNTHETIC_GPUS = 64
_PREDICTED_S, _RUN_S = 0.006, 0.001
"""What one job takes to be predicted from its code, and in one run, on one core."""
_MANY_JOBS = 1_000_000
_WORTH_A_LOOK_S = 1800.0
_NAMED_ROWS = 3


@dataclass(frozen=True, slots=True)
class UnusedRows:
    """Rows of a file that are not simulated."""

    bad: int = 0
    """Of these there is something wrong with the row itself."""
    rows: int = 0
    """In the whole file."""
    first: tuple[str, ...] = ()
    """What is wrong with the first few."""
    sound: Mapping[str, int] = field(default_factory=dict)
    """How many are no job for a GPU cluster, by the reason."""

    @property
    def unused(self) -> int:
        return self.bad + sum(self.sound.values())


@dataclass(frozen=True, slots=True)
class SimulationResult:
    task: SimulationTask
    compared: PolicyComparison
    left_out: UnusedRows
    digest: Digest | None = None
    """Only where a report was asked for."""


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """A trace as a simulation needs it."""

    name: str
    columns: TraceColumns
    gpus: int | None
    notes: tuple[str, ...]
    left_out: UnusedRows
    runs: Mapping[JobId, PastRun] = field(default_factory=dict)
    """By id, where a store has them."""


def expected_s(
    tasks: Sequence[SimulationTask],
    *,
    workers: int | None = None,
    on_progress: OnProgress | None = None,
) -> float:
    """About how long all of them take at least, by what jobs take on one core under a policy that
    decides at once; 0 where even a large trace would take minutes. Of several files the first is
    read, and the others count by their size."""
    each = [_seconds_a_job(task) for task in tasks]
    if sum(each) * _MANY_JOBS < _WORTH_A_LOOK_S:
        return 0.0
    files = [task for task in tasks if task.source != SYNTHETIC]
    jobs_a_byte = 0.0
    if files:
        jobs_a_byte = len(_loading(files[0], on_progress).columns) / _bytes_of(files[0])
    jobs = [
        task.jobs if task.source == SYNTHETIC else jobs_a_byte * _bytes_of(task) for task in tasks
    ]
    hands = min(workers or os.cpu_count() or 1, len(tasks))
    return sum(cost * count for cost, count in zip(each, jobs, strict=True)) / hands


def _bytes_of(task: SimulationTask) -> int:
    """At least 1; also where there is no such file, which is refused when its turn comes."""
    path = Path(task.source)
    return max(1, path.stat().st_size) if path.is_file() else 1


def _seconds_a_job(task: SimulationTask) -> float:
    aided = [plan(name) for name in task.policies if plan(name).parts]
    predicted = any("advisor" in each.parts for each in aided) and task.error is None
    controls = len(controls_of(task.levers)) if task.controls else 0
    runs = len(task.policies) + len(aided) * controls
    return runs * _RUN_S + predicted * _PREDICTED_S * (1.5 if task.controls else 1.0)


def _loading(task: SimulationTask, on_progress: OnProgress | None) -> Loaded:
    if on_progress is not None and task.source != SYNTHETIC:
        on_progress("trace", 0, 0)
    loaded = load(task)
    if on_progress is not None and task.source != SYNTHETIC:
        on_progress("trace", len(loaded.columns), len(loaded.columns))
    return loaded


def run_task(
    task: SimulationTask, *, reported: bool = False, on_progress: OnProgress | None = None
) -> SimulationResult:
    loaded = _loading(task, on_progress)
    if task.by_group:
        return _by_group_result(task, loaded, on_progress, reported=reported)
    setting = _setting(task, loaded.name, loaded.columns, loaded)
    runs = compare(setting, task.policies, controls=task.controls, on_progress=on_progress)
    if setting.gpus == loaded.gpus and not (setting.left_out or task.swept):
        runs = [*runs, *as_it_was(setting)]
    compared = replace(comparison(setting, runs), setting=dict(task.swept))
    digested = digest(compared, setting.columns, runs) if reported else None
    return SimulationResult(task, compared, loaded.left_out, digested)


def _by_group_result(
    task: SimulationTask, loaded: Loaded, on_progress: OnProgress | None, *, reported: bool
) -> SimulationResult:
    sizes = divided(task.gpus, loaded.columns) if task.gpus else {}

    def setting_of(name: str, columns: TraceColumns) -> Setting:
        size = sizes.get(name)
        return _setting(replace(task, gpus=size), f"{loaded.name}: {name}", columns, loaded)

    pools = run_pools(
        loaded.columns, task.policies, setting_of, on_progress, controls=task.controls
    )
    whole = replace(pools.whole, name=loaded.name)
    compared = comparison(whole, pools.runs)
    parted = (
        f"{plural(whole.gpus, 'GPU')} in {plural(pools.pools, 'pool')}, one for each group of the "
        "trace"
    )
    compared = replace(
        compared,
        assumptions=(parted, *compared.assumptions[1:]),
        setting=dict(task.swept),
    )
    digested = digest(compared, whole.columns, pools.runs) if reported else None
    return SimulationResult(task, compared, loaded.left_out, digested)


def _setting(task: SimulationTask, name: str, columns: TraceColumns, loaded: Loaded) -> Setting:
    gpus = _size(task, columns, loaded)
    largest = max((kind.gpus for kind in task.kinds), default=gpus)
    kept, left_out = fitting(name, columns, largest)
    nodes = _node_sizes(task, gpus)
    limited = with_limits(kept, seed=task.seed) if _plans_by_limits(task) else kept
    setting = Setting(
        name=name,
        columns=limited,
        gpus=gpus,
        node_sizes=nodes,
        spread=task.spread,
        kinds=task.kinds,
        per_node=task.gpus_per_node,
        restart_s=task.restart_s,
        seed=task.seed,
        error=task.error,
        levers=task.levers,
        site=SiteParameters(slurm=task.slurm),
        left_out=left_out,
        notes=(*_notes(task, loaded), *([LIMITS_DRAWN] if limited is not kept else [])),
    )
    setting = _with_faults(setting, task)
    if loaded.runs and task.workload is None:
        if task.assumed:
            raise BadInput(
                f"{', '.join(task.assumed)} is of synthetic code, and {loaded.name} has the jobs' "
                "own: leave it out, or say --workload"
            )
        return replace(setting, recorded=tuple(loaded.runs[job] for job in setting.columns.ids))
    return _with_workload(setting, task)


def _node_sizes(task: SimulationTask, gpus: int) -> tuple[int, ...]:
    if task.gpus_per_node is None:
        return ()
    parts = [kind.gpus for kind in task.kinds] or [gpus]
    return tuple(size for part in parts for size in nodes_of(part, task.gpus_per_node))


def _plans_by_limits(task: SimulationTask) -> bool:
    return any(policy.needs_limits for policy in _policies(task))


def _policies(task: SimulationTask) -> list[type[Policy]]:
    return [POLICIES[plan(name).policy] for name in task.policies]


def _size(task: SimulationTask, columns: TraceColumns, loaded: Loaded) -> int:
    if task.gpus is not None:
        return task.gpus
    if loaded.gpus is not None and not _sized(task):
        return loaded.gpus
    return gpus_for_load(columns, task.load or DEFAULT_LOAD)


def _sized(task: SimulationTask) -> bool:
    """Whether the cluster is another one than that of the trace."""
    by_load = task.load is not None and task.source != SYNTHETIC
    return task.gpus is not None or by_load or task.by_group


def _with_faults(setting: Setting, task: SimulationTask) -> Setting:
    if not task.faults:
        return setting
    if not setting.node_sizes:
        raise BadInput("faults are of nodes: say --gpus-per-node, for example 8")
    first, last = float(setting.columns.submit[0]), float(setting.columns.submit[-1])
    drawn = draw_faults(len(setting.node_sizes), first, last, seed=task.seed)
    return replace(setting, faults=drawn)


def _needs_workload(task: SimulationTask) -> bool:
    if task.workload is not None:
        return task.workload
    return task.source == SYNTHETIC and (_aided(task) or _shared_or_stretched(task))


def _shared_or_stretched(task: SimulationTask) -> bool:
    return any("throughput" in policy.asks_for for policy in _policies(task))


def _aided(task: SimulationTask) -> bool:
    return any(plan(name).parts for name in task.policies)


def _with_workload(setting: Setting, task: SimulationTask) -> Setting:
    if not _needs_workload(task):
        if task.assumed:
            raise BadInput(
                f"{', '.join(task.assumed)} is of synthetic code, which no job is given here: say "
                "--workload, or leave it out"
            )
        return setting
    workload = draw_workload(setting.columns, seed=task.seed, **task.assumed)
    return replace(setting, workload=workload, columns=workload.visible_columns(setting.columns))


def _notes(task: SimulationTask, loaded: Loaded) -> tuple[str, ...]:
    notes = [note for note in loaded.notes if note != SIZE_AS_IT_WAS or not _sized(task)]
    if task.error is not None:
        notes.append(
            f"predictions are the true run times with an error of {task.error:g} (standard "
            "deviation of the logarithm), at no cost"
        )
    if _needs_workload(task) and not _aided(task):
        notes.append(
            "semi-synthetic: each job was given a training project of ours, which says how it "
            "fares on fewer GPUs or beside another job"
        )
    elif _shared_or_stretched(task) and not _needs_workload(task):
        notes.append(PLAIN_PACE)
    return tuple(notes)


def load(task: SimulationTask) -> Loaded:
    """Read or draw the trace; a file is read once in a process."""
    if task.source != SYNTHETIC:
        return _read(task.source)
    size = task.gpus or SYNTHETIC_GPUS
    columns = synthetic_columns(
        task.jobs,
        gpus=size,
        load=task.load or DEFAULT_LOAD,
        seed=task.seed,
        like=task.like or DEFAULT_PROFILE,
    )
    kind = f"{SYNTHETIC} {task.like}" if task.like else SYNTHETIC
    name = f"{kind} (seed {task.seed})"
    return Loaded(name=name, columns=columns, gpus=size, notes=(), left_out=UnusedRows())


@lru_cache(maxsize=1)
def _read(source: str) -> Loaded:
    return _loaded(read_trace(Path(source)))


def _loaded(trace: Trace) -> Loaded:
    left_out = [
        f"{plural(count, 'row')} left out: {reason}" for reason, count in trace.left_out.items()
    ]
    notes = [*trace.notes, *left_out]
    if trace.bad_rows:
        notes.insert(0, f"{plural(len(trace.bad_rows), 'bad row')} of the trace left out")
    return Loaded(
        name=trace.name,
        columns=columns_of(trace.jobs),
        gpus=trace.gpus,
        notes=tuple(notes),
        left_out=UnusedRows(
            bad=len(trace.bad_rows),
            rows=len(trace.bad_rows) + len(trace.jobs) + sum(trace.left_out.values()),
            first=tuple(str(row) for row in trace.bad_rows[:_NAMED_ROWS]),
            sound=trace.left_out,
        ),
        runs=trace.runs,
    )
