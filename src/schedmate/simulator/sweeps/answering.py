"""From a question to its answer; the same in this process, in another and on another machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from schedmate.model import BadInput
from schedmate.policies import POLICIES, Policy
from schedmate.simulator.engine.faults import draw_faults
from schedmate.simulator.engine.outcome import Comparison
from schedmate.simulator.experiments.compare import compare, comparison
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
from schedmate.simulator.sweeps.question import SYNTHETIC, Question
from schedmate.simulator.synthetic import draw_workload
from schedmate.simulator.traces import Trace, read_trace
from schedmate.simulator.traces.arrays import synthetic_columns
from schedmate.simulator.traces.columns import Columns, columns_of
from schedmate.simulator.traces.synthetic import DEFAULT_PROFILE

OnProgress = Callable[[str, int, int], None]
SYNTHETIC_GPUS = 64
_NAMED_ROWS = 3


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Rows of a file that could not be used."""

    bad: int = 0
    rows: int = 0
    first: tuple[str, ...] = ()
    """What is wrong with the first few."""


@dataclass(frozen=True, slots=True)
class Answer:
    question: Question
    compared: Comparison
    semi_synthetic: bool
    left_out: LeftOut
    digest: Digest | None = None
    """Only where a report was asked for."""


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """A trace as a simulation needs it."""

    name: str
    columns: Columns
    gpus: int | None
    notes: tuple[str, ...]
    left_out: LeftOut


def answer(
    question: Question, *, reported: bool = False, on_progress: OnProgress | None = None
) -> Answer:
    loaded = load(question)
    if question.by_group:
        return _answer_by_group(question, loaded, on_progress, reported=reported)
    setting = _setting(question, loaded.name, loaded.columns, loaded)
    runs = compare(setting, question.policies, on_progress=on_progress)
    compared = replace(comparison(setting, runs), setting=dict(question.swept))
    digested = digest(compared, setting.columns, runs) if reported else None
    return Answer(question, compared, setting.workload is not None, loaded.left_out, digested)


def _answer_by_group(
    question: Question, loaded: Loaded, on_progress: OnProgress | None, *, reported: bool
) -> Answer:
    sizes = divided(question.gpus, loaded.columns) if question.gpus else {}

    def setting_of(name: str, columns: Columns) -> Setting:
        size = sizes.get(name)
        return _setting(replace(question, gpus=size), f"{loaded.name}: {name}", columns, loaded)

    pools = run_pools(loaded.columns, question.policies, setting_of, on_progress)
    whole = replace(pools.whole, name=loaded.name)
    compared = comparison(whole, pools.runs)
    parted = f"{whole.gpus} GPUs in {pools.pools} pools, one for each group of the trace"
    compared = replace(
        compared,
        assumptions=(parted, *compared.assumptions[1:]),
        setting=dict(question.swept),
    )
    digested = digest(compared, whole.columns, pools.runs) if reported else None
    return Answer(question, compared, whole.workload is not None, loaded.left_out, digested)


def _setting(question: Question, name: str, columns: Columns, loaded: Loaded) -> Setting:
    gpus = _size(question, columns, loaded)
    largest = max((kind.gpus for kind in question.kinds), default=gpus)
    kept, left_out = fitting(name, columns, largest)
    nodes = _node_sizes(question, gpus)
    limited = with_limits(kept, seed=question.seed) if _plans_by_limits(question) else kept
    setting = Setting(
        name=name,
        columns=limited,
        gpus=gpus,
        node_sizes=nodes,
        spread=question.spread,
        kinds=question.kinds,
        per_node=question.gpus_per_node,
        restart_s=question.restart_s,
        seed=question.seed,
        error=question.error,
        left_out=left_out,
        notes=(*_notes(question, loaded), *([LIMITS_DRAWN] if limited is not kept else [])),
    )
    return _with_workload(_with_faults(setting, question), question)


def _node_sizes(question: Question, gpus: int) -> tuple[int, ...]:
    if question.gpus_per_node is None:
        return ()
    parts = [kind.gpus for kind in question.kinds] or [gpus]
    return tuple(size for part in parts for size in nodes_of(part, question.gpus_per_node))


def _plans_by_limits(question: Question) -> bool:
    return any(policy.needs_limits for policy in _policies(question))


def _policies(question: Question) -> list[type[Policy]]:
    return [POLICIES[plan(name).policy] for name in question.policies]


def _size(question: Question, columns: Columns, loaded: Loaded) -> int:
    if question.gpus is not None:
        return question.gpus
    sized = question.load is not None and question.source != SYNTHETIC
    if loaded.gpus is not None and not (sized or question.by_group):
        return loaded.gpus
    return gpus_for_load(columns, question.load or DEFAULT_LOAD)


def _with_faults(setting: Setting, question: Question) -> Setting:
    if not question.faults:
        return setting
    if not setting.node_sizes:
        raise BadInput("faults are of nodes: say --gpus-per-node, for example 8")
    first, last = float(setting.columns.submit[0]), float(setting.columns.submit[-1])
    drawn = draw_faults(len(setting.node_sizes), first, last, seed=question.seed)
    return replace(setting, faults=drawn)


def _needs_workload(question: Question) -> bool:
    if question.workload is not None:
        return question.workload
    shared_or_stretched = any("throughput" in policy.asks_for for policy in _policies(question))
    return _aided(question) or shared_or_stretched


def _aided(question: Question) -> bool:
    return any(plan(name).parts for name in question.policies)


def _with_workload(setting: Setting, question: Question) -> Setting:
    if not _needs_workload(question):
        if question.assumed:
            raise BadInput(
                f"{', '.join(question.assumed)} is about projects that jobs are given: say "
                "--workload, or put +schedmate beside a policy"
            )
        return setting
    workload = draw_workload(setting.columns, seed=question.seed, **question.assumed)
    return replace(setting, workload=workload, columns=workload.visible_columns(setting.columns))


def _notes(question: Question, loaded: Loaded) -> tuple[str, ...]:
    notes = list(loaded.notes)
    if question.error is not None:
        notes.append(
            f"predictions are the true run times with an error of {question.error:g} (standard "
            "deviation of the logarithm), at no cost"
        )
    if _needs_workload(question) and not _aided(question):
        notes.append(
            "semi-synthetic: each job was given a training project of ours, which says how it "
            "fares on fewer GPUs or beside another job"
        )
    return tuple(notes)


def load(question: Question) -> Loaded:
    """Read or draw the trace; a file is read once in a process."""
    if question.source != SYNTHETIC:
        return _read(question.source)
    size = question.gpus or SYNTHETIC_GPUS
    columns = synthetic_columns(
        question.jobs,
        gpus=size,
        load=question.load or DEFAULT_LOAD,
        seed=question.seed,
        like=question.like or DEFAULT_PROFILE,
    )
    kind = f"{SYNTHETIC} {question.like}" if question.like else SYNTHETIC
    name = f"{kind} (seed {question.seed})"
    return Loaded(name=name, columns=columns, gpus=size, notes=(), left_out=LeftOut())


@lru_cache(maxsize=1)
def _read(source: str) -> Loaded:
    return _loaded(read_trace(Path(source)))


def _loaded(trace: Trace) -> Loaded:
    notes = [f"{count} rows left out: {reason}" for reason, count in trace.left_out.items()]
    if trace.bad_rows:
        notes.insert(0, f"{len(trace.bad_rows)} bad rows of the trace are left out")
    return Loaded(
        name=trace.name,
        columns=columns_of(trace.jobs),
        gpus=trace.gpus,
        notes=tuple(notes),
        left_out=LeftOut(
            bad=len(trace.bad_rows),
            rows=len(trace.bad_rows) + len(trace.jobs),
            first=tuple(str(row) for row in trace.bad_rows[:_NAMED_ROWS]),
        ),
    )
