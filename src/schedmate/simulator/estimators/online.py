"""Predictors within a run: they learn from it as it goes, as a daemon does.

A job is predicted when it is submitted, by what had started and ended until then in this very run,
and before it in the setting's past.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np

from schedmate.advisor.predict.jobs import EndedJob, Facts, replay
from schedmate.model import JobState, Prediction
from schedmate.simulator.estimators.advisor import SitePredictor, facts_of, names_of, runs_of
from schedmate.simulator.estimators.controls import LastTwo
from schedmate.simulator.estimators.history import RollingMeans, keys, owners
from schedmate.simulator.estimators.predictor import prediction_of
from schedmate.simulator.synthetic.workload import SyntheticWorkload
from schedmate.simulator.traces.columns import Floats, TraceColumns


class AdvisorInRun:
    """SchedMate's own, with what it has learnt from the jobs before `first`."""

    def __init__(self, predictor: SitePredictor, facts: Sequence[Facts], first: int) -> None:
        self._predictor = predictor
        self._facts = facts
        self._first = first

    def cost_s(self, job: int) -> float:  # noqa: ARG002 - as long for each
        return self._predictor.cost_s

    def submitted(self, job: int) -> Prediction:
        number = self._first + job
        spread = self._predictor.submitted(number, self._facts[job])
        basis = self._predictor.basis(number)
        return Prediction(basis=basis, duration_s=spread, explanation="advisor")

    def started(self, job: int, at: float) -> None:
        self._predictor.started(self._facts[job].job_id, at)

    def ended(self, job: int, started_at: float, ended_at: float, state: JobState) -> None:
        run = EndedJob(self._facts[job], started_at, ended_at, state)
        self._predictor.ended(self._first + job, run)


class LearntAdvisor:
    """An advisor that knows a past, from which each run begins anew."""

    def __init__(
        self,
        predictor: SitePredictor,
        columns: TraceColumns,
        known_at: Floats,
        workload: SyntheticWorkload | None,
    ) -> None:
        """`columns` are the jobs of the past and behind them those of the runs; `known_at` is when
        each of the past had ended."""
        self._names = names_of(columns, workload)
        self._predictor = predictor
        self._first = len(known_at)
        past = columns.take(np.arange(len(columns)) < self._first)
        for event in replay(runs_of(past, known_at, self._names[: self._first])):
            predictor.happened(event)

    def begin(self, columns: TraceColumns) -> AdvisorInRun:
        """`columns` are the jobs of one run."""
        facts = facts_of(columns, self._names[self._first :], first=self._first)
        return AdvisorInRun(self._predictor.copied(), facts, self._first)


class LearntHistory:
    """A mean of earlier run times (`history`, `last_two`) that knows a past."""

    def __init__(self, means: RollingMeans | LastTwo, columns: TraceColumns, past: Floats) -> None:
        self._means = means
        self._first = len(past)
        for job in np.argsort(past, kind="stable").tolist():
            means.learn(job, float(columns.duration[job]))

    def begin(self, columns: TraceColumns) -> _HistoryInRun:  # noqa: ARG002 - its past is enough
        return _HistoryInRun(copy.deepcopy(self._means), self._first)


class _HistoryInRun:
    def __init__(self, means: RollingMeans | LastTwo, first: int) -> None:
        self._means = means
        self._first = first

    def cost_s(self, job: int) -> float:  # noqa: ARG002
        return 0.0

    def submitted(self, job: int) -> Prediction:
        middle = self._means.recall(self._first + job)
        return prediction_of(middle, middle, middle, basis="history", source="history")

    def started(self, job: int, at: float) -> None: ...

    def ended(
        self,
        job: int,
        started_at: float,
        ended_at: float,
        state: JobState,  # noqa: ARG002
    ) -> None:
        self._means.learn(self._first + job, ended_at - started_at)


def learnt_history(name: str, columns: TraceColumns, past: Floats) -> LearntHistory:
    means = LastTwo(owners(columns)) if name == "last_two" else RollingMeans(keys(columns))
    return LearntHistory(means, columns, past)
