"""One setting under one plan: a policy, with or without SchedMate beside it."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

from schedmate.simulator.columns import Columns
from schedmate.simulator.engine import Progress
from schedmate.simulator.execute import Way, execute
from schedmate.simulator.knowledge import Knowledge
from schedmate.simulator.mate.beside import make_ready
from schedmate.simulator.outcome import Outcome
from schedmate.simulator.plan import Plan
from schedmate.simulator.result import Summary, summary_of
from schedmate.simulator.setting import Setting


@dataclass(frozen=True, eq=False, slots=True)
class PolicyRun:
    policy: str
    columns: Columns
    gpus: int
    outcome: Outcome
    wall_seconds: float
    """Of the run itself and of all that was learnt and foretold for it."""

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
    way: Way = "auto",
    on_progress: Progress | None = None,
) -> PolicyRun:
    began = perf_counter()
    ready = make_ready(setting, plan, knowledge)
    outcome = execute(
        setting,
        ready.columns,
        ready.seen,
        ready.policy,
        eligible=ready.eligible,
        watcher=ready.watcher,
        recovery=ready.recovery,
        way=way,
        on_progress=on_progress,
    )
    spent = perf_counter() - began
    return PolicyRun(plan.name, ready.columns, setting.gpus, outcome, spent)
