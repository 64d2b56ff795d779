"""One setting under one plan: a policy, with or without SchedMate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from schedmate.policies import Fifo, Policy
from schedmate.simulator.engine.engine import Progress
from schedmate.simulator.engine.outcome import SimulationOutcome, Summary, summary_of
from schedmate.simulator.estimators.base import Estimates
from schedmate.simulator.experiments.assist import prepare
from schedmate.simulator.experiments.execute import Backend, execute, job_columns
from schedmate.simulator.experiments.knowledge import SEMANTIC, Knowledge
from schedmate.simulator.experiments.plan import Plan
from schedmate.simulator.experiments.setting import Setting
from schedmate.simulator.traces.base import TraceJob
from schedmate.simulator.traces.columns import TraceColumns, columns_of


@dataclass(frozen=True, eq=False, slots=True)
class PolicyRun:
    policy: str
    columns: TraceColumns
    gpus: int
    outcome: SimulationOutcome
    wall_seconds: float
    """Of the run itself and of all that was learnt and predicted for it."""
    actions: Mapping[str, int] = field(default_factory=dict)
    """What SchedMate did beside the scheduler: how many actions of each kind."""
    controls: Mapping[str, PolicyRun] = field(default_factory=dict)
    """The same plan with another predictor in the place of SchedMate's, by its name."""

    @property
    def summary(self) -> Summary:
        return summary_of(
            self.columns, self.outcome, gpus=self.gpus, wall_seconds=self.wall_seconds
        )


def run(
    setting: Setting,
    plan: Plan,
    knowledge: Knowledge,
    *,
    predictor: str = SEMANTIC,
    backend: Backend = "auto",
    on_progress: Progress | None = None,
) -> PolicyRun:
    began = perf_counter()
    prepared = prepare(setting, plan, knowledge, predictor=predictor)
    outcome = execute(
        setting,
        setting.columns,
        prepared.jobs,
        prepared.policy,
        eligible=prepared.eligible,
        watcher=prepared.watcher,
        recovery=prepared.recovery,
        beside=prepared.shell,
        backend=backend,
        on_progress=on_progress,
    )
    spent = perf_counter() - began
    actions = {} if prepared.shell is None else dict(prepared.shell.actions)
    return PolicyRun(plan.name, setting.columns, setting.gpus, outcome, spent, actions)


def average_completion_s(
    jobs: Sequence[TraceJob],
    *,
    gpus: int,
    policy: Policy | None = None,
    expected: Mapping[str, float | None] | None = None,
) -> float:
    """Jobs that really ran, once more under a policy: from submission to the end, on average, in
    order of submission unless a policy is given; `expected` seconds by job id, None if unknown."""
    columns = columns_of(jobs)
    known = expected or {}
    seconds = np.array([known.get(job) for job in columns.ids], dtype=np.float64)
    seen = job_columns(columns, Estimates.exactly(seconds, "prediction"))
    setting = Setting(name="replay", columns=columns, gpus=gpus)
    outcome = execute(setting, columns, seen, policy or Fifo())
    return float(np.mean(outcome.end - columns.submit))
