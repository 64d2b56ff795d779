"""What is predicted of a setting's jobs, by source; each source is asked once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from schedmate.model import PastRun
from schedmate.policies import FirstFit
from schedmate.simulator.engine.engine import Progress
from schedmate.simulator.estimators.base import Estimates, limits, mistaken, oracle, unknown
from schedmate.simulator.estimators.controls import constant, permuted
from schedmate.simulator.estimators.predictor import Fixed, Predictor
from schedmate.simulator.experiments.execute import execute, job_columns
from schedmate.simulator.experiments.setting import Setting
from schedmate.simulator.synthetic import SyntheticWorkload
from schedmate.simulator.traces.columns import Floats, TraceColumns

if TYPE_CHECKING:
    from schedmate.simulator.estimators.online import LearntAdvisor, LearntHistory

_NOT_PREDICTED = frozenset({"none", "oracle", "limit", "constant", "permuted"})
SEMANTIC = "semantic"
"""SchedMate's own predictions."""
_LEARNING = ("last_two", "history", "site_model", SEMANTIC)
"""Predictors that learn within a run."""


class Knowledge:
    """An estimator learns, at a job's submission, from the jobs that had ended by then in the
    unaided run of the same setting (in order of submission, first fit), and from the setting's
    past."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._asked: dict[str, Estimates] = {}
        self._learnt: dict[str, LearntAdvisor | LearntHistory] = {}
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

    def in_run(self, name: str, run: Setting) -> Predictor:
        """For one run of the setting, which may have it learn from the run's own ends."""
        if not run.learns_within or run.error is not None or name not in _LEARNING:
            return Fixed(self.of(name))
        if name not in self._learnt:
            self._learnt[name] = self._learn(name)
        return self._learnt[name].begin(run.columns)

    def _learn(self, name: str) -> LearntAdvisor | LearntHistory:
        """All that the setting's past teaches."""
        setting, past = self._setting, self._setting.past
        columns = setting.columns if past is None else past.columns
        known_at = np.zeros(0) if past is None else past.known_at
        from schedmate.simulator.estimators import advisor, online  # noqa: PLC0415 - as below

        if name not in (SEMANTIC, "site_model"):
            return online.learnt_history(name, columns, known_at)
        workload = setting.workload if past is None else past.workload
        code = (workload, setting.recorded) if name == SEMANTIC else (None, None)
        return online.LearntAdvisor(
            advisor.predictor_of(columns, *code), columns, known_at, workload
        )

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
        return self._of_the_setting(ESTIMATORS[name](*self._remembered))

    @property
    def _remembered(self) -> tuple[TraceColumns, Floats]:
        """The jobs of the past and of the setting, and when each has ended."""
        past = self._setting.past
        if past is None:
            return self._setting.columns, self.known_at
        return past.columns, np.concatenate([past.known_at, self.known_at])

    def _of_the_setting(self, remembered: Estimates) -> Estimates:
        return remembered.last(len(self._setting.columns))

    def _semantic(self) -> Estimates:
        setting = self._setting
        workload = setting.workload if setting.past is None else setting.past.workload
        return self._advised(workload, setting.recorded)

    def _site_model(self) -> Estimates:
        return self._advised(None, None)

    def _advised(
        self, workload: SyntheticWorkload | None, recorded: Sequence[PastRun] | None
    ) -> Estimates:
        from schedmate.simulator.estimators import advisor  # noqa: PLC0415 - loads the whole advisor

        columns, known_at = self._remembered
        return self._of_the_setting(
            advisor.estimate(
                columns, known_at, workload, recorded=recorded, on_progress=self.on_progress
            )
        )
