"""What is predicted of a setting's jobs, by source; each source is asked once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from schedmate.policies import FirstFit
from schedmate.simulator.engine.engine import Progress
from schedmate.simulator.estimators.base import Estimates, limits, mistaken, oracle, unknown
from schedmate.simulator.estimators.controls import constant, permuted
from schedmate.simulator.experiments.execute import execute, job_columns
from schedmate.simulator.experiments.setting import Setting
from schedmate.simulator.traces.columns import Floats

_NOT_PREDICTED = frozenset({"none", "oracle", "limit", "constant", "permuted"})
SEMANTIC = "semantic"
"""SchedMate's own predictions."""


class Knowledge:
    """An estimator learns, at a job's submission, from the jobs that had ended by then in the
    unaided run of the same setting: in order of submission, first fit."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._asked: dict[str, Estimates] = {}
        self.on_progress: Progress | None = None
        """Called while the advisor predicts: how many of how many jobs."""

    @cached_property
    def known_at(self) -> Floats:
        columns = self._setting.columns
        jobs = job_columns(columns, self.of("none"))
        return execute(self._setting, columns, jobs, FirstFit()).end

    def of(self, source: str | None) -> Estimates:
        name = source or "none"
        if name not in self._asked:
            self._asked[name] = self._ask(name)
        return self._asked[name]

    def _ask(self, name: str) -> Estimates:
        columns = self._setting.columns
        if self._setting.error is not None and name not in _NOT_PREDICTED:
            return mistaken(columns, self._setting.error, seed=self._setting.seed)
        simple: dict[str, Callable[[], Estimates]] = {
            "none": lambda: unknown(columns),
            "oracle": lambda: oracle(columns),
            "limit": lambda: limits(columns),
            "constant": lambda: constant(columns),
            "permuted": lambda: permuted(self.of(SEMANTIC), seed=self._setting.seed),
            "site_model": self._site_model,
            SEMANTIC: self._semantic,
        }
        if name in simple:
            return simple[name]()
        from schedmate.simulator.estimators import ESTIMATORS  # noqa: PLC0415 - most runs need none

        if self.on_progress is not None:
            self.on_progress(0, 0)
        return ESTIMATORS[name](columns, self.known_at)

    def _semantic(self) -> Estimates:
        from schedmate.simulator.estimators import advisor  # noqa: PLC0415 - loads the whole advisor

        setting = self._setting
        return advisor.estimate(
            setting.columns,
            self.known_at,
            setting.workload,
            recorded=setting.recorded,
            on_progress=self.on_progress,
        )

    def _site_model(self) -> Estimates:
        from schedmate.simulator.estimators import advisor  # noqa: PLC0415 - loads the whole advisor

        columns = self._setting.columns
        return advisor.estimate(columns, self.known_at, None, on_progress=self.on_progress)
