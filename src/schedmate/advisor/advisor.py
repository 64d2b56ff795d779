"""The Scheduling Advisor: what a job is, how long it will take, what is wrong with it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from schedmate.advisor.checks import Before, Checked, remarks
from schedmate.advisor.launch.resolve import resolve
from schedmate.advisor.launch.target import Target
from schedmate.advisor.predict.without_runs import (
    UNLIKE_ANY,
    is_untaught,
    not_below,
    predict_alone,
)
from schedmate.advisor.understand.fingerprint import fingerprint
from schedmate.advisor.understand.recalled import recalled_or_read
from schedmate.model import (
    Advice,
    Asker,
    Cost,
    Fingerprint,
    History,
    ModelError,
    Prediction,
    ReadingCache,
    Workload,
)

if TYPE_CHECKING:
    from schedmate.advisor.launch.run import Launch
    from schedmate.advisor.understand.read_job import Completer

_RUNS_BEFORE = 20


@dataclass(frozen=True, slots=True)
class Advised:
    """The fingerprint is what the run is remembered under when it has ended; the problem what
    kept a model that was to be asked from answering."""

    advice: Advice
    fingerprint: Fingerprint | None
    problem: ModelError | None = None
    found_nothing: bool = False
    """Whether it is not known what the job starts, nor how long it takes."""


class Advisor:
    """Reads, never runs. Without an `asker` everything still works; by its tier a model chooses
    among what reading found, or reads for itself."""

    def __init__(self, history: History, cache: ReadingCache, asker: Asker | None = None) -> None:
        self._history = history
        self._cache = cache
        self._asker = asker

    def advise(self, target: Target) -> Advised:
        started = time.perf_counter()
        launch = resolve(target)
        target = _with_gpu_type(target, launch)
        completer = self._completer(target)
        understood, problems, _ = recalled_or_read(target, launch, self._cache, completer)
        prints = fingerprint(launch, understood, target.request)
        prediction = self._predict(target, prints, understood.workload)
        checked = Checked(
            target=target,
            launch=launch,
            understood=understood,
            problems=problems,
            prediction=prediction,
            fingerprint=prints,
            before=self._before(prints),
            now=time.time() if target.submitted_at is None else target.submitted_at,
        )
        advice = Advice(
            workload=understood.workload,
            prediction=prediction,
            advice=(*remarks(checked), *understood.remarks),
            summary=understood.summary,
            cost=_cost(time.perf_counter() - started, completer),
        )
        return Advised(
            advice,
            prints,
            None if completer is None else completer.problem,
            launch.starts_nothing_known and prediction.duration_s is None,
        )

    def advise_unread(self, target: Target) -> Advised:
        """By the request and its user's past alone: no file of the job is opened."""
        nothing = Workload()
        runs = self._history.recent_runs(user=target.user)
        past = [run.duration_s for run in runs if run.duration_s > 0]
        prediction = UNLIKE_ANY
        if past:
            prediction = not_below(self._predict(target, None, nothing), past, target)
        return Advised(Advice(workload=nothing, prediction=prediction), None)

    def _predict(
        self, target: Target, prints: Fingerprint | None, workload: Workload
    ) -> Prediction:
        if is_untaught(self._history):
            return predict_alone(target, prints, workload)
        from schedmate.advisor.predict.prediction import predict

        return predict(self._history, target, prints, workload, now=time.time())

    def _completer(self, target: Target) -> Completer | None:
        if self._asker is None:
            return None
        if self._asker.tier == "read":
            from schedmate.advisor.record_agent import RecordAgent

            return RecordAgent(self._asker, self._cache, target.command, target.subject)
        from schedmate.advisor.agent import Agent, ModelPointer

        return Agent(ModelPointer(self._asker, target.subject))

    def _before(self, prints: Fingerprint | None) -> tuple[Before, ...]:
        runs = () if prints is None else self._history.runs_of_code(prints.code)[:_RUNS_BEFORE]
        return tuple(
            Before(run, self._history.failure_reason(run) if run.job.state.failed else None)
            for run in runs
        )


def _with_gpu_type(target: Target, launch: Launch) -> Target:
    """Where nothing but the script states it."""
    if target.request.gpu_type is not None or launch.asked.gpu_type is None:
        return target
    return replace(target, request=replace(target.request, gpu_type=launch.asked.gpu_type))


def _cost(seconds: float, completer: Completer | None) -> Cost:
    asked = Cost() if completer is None else completer.cost
    return replace(asked, seconds=round(seconds, 4))
