"""What SchedMate's parts give a policy: what each knows, does and costs in a simulation.

A policy of kind `beside` is an unmodified scheduler: the advisor moves waiting jobs as the
live orderings do, and nothing else reaches it. A policy of kind `asking` gets
answers (`Policy.answered`): predicted run times, where runs are headed, how jobs scale with GPUs.

Shorter plans for backfill (the 90th percentile of the prediction instead of the user's limit) were
tried and made EASY worse: they are wrong one time in ten, and the order has the gain already.

The handler changes what happens to jobs, whatever the policy: hung ones are stopped, and those
whose node failed come back at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from schedmate.model import Job, JobState, Prediction, Request, Spread
from schedmate.policies import (
    POLICIES,
    Answers,
    Candidate,
    JobColumns,
    Ordering,
    Policy,
    Tracked,
    ordering,
)
from schedmate.simulator.engine.engine import Recovery, Watcher
from schedmate.simulator.estimators.base import Estimates
from schedmate.simulator.experiments.execute import job_columns, log_sigma
from schedmate.simulator.experiments.knowledge import Knowledge
from schedmate.simulator.experiments.plan import Plan
from schedmate.simulator.experiments.recovery import Handler, Users, without_hanging
from schedmate.simulator.experiments.setting import Setting
from schedmate.simulator.synthetic import SyntheticWorkload
from schedmate.simulator.traces.columns import Columns, Floats

SURE = 1.0
"""Below this log_sigma a prediction counts as sure."""
EXPONENT_SIGMA = 0.05
"""How far a job's scaling exponent is from that of its neighbours. Assumed."""
TRACKED_SIGMA = 0.03
"""How far remaining times are off (standard deviation of the logarithm), measured on real logs from
a tenth of the run on (`bench/accuracy/remaining_time.py`)."""
_CHECKPOINT_S = 3600.0
"""Where a job's checkpoints are unknown."""


@dataclass(frozen=True, eq=False, slots=True)
class Prepared:
    """All that a run needs beyond its setting."""

    policy: Policy
    columns: Columns
    jobs: JobColumns
    eligible: Floats
    watcher: Watcher | None
    recovery: Recovery


def prepare(setting: Setting, plan: Plan, knowledge: Knowledge) -> Prepared:
    declared = POLICIES[plan.policy]
    advised = "advisor" in plan.parts
    estimates = knowledge.of("advisor" if advised else declared.source)
    tracker = _tracker(setting, plan)
    columns = _columns(setting, plan)
    policy = declared.answered(_answers(setting, plan, estimates, tracker))
    steered = advised and declared.kind == "beside"
    nice = nice_numbers(columns, estimates, ordering("ssf")) if steered else None
    cost = estimates.cost_s
    return Prepared(
        policy=policy,
        columns=columns,
        jobs=job_columns(columns, estimates, nice),
        eligible=columns.submit + cost if cost.any() else columns.submit,
        watcher=tracker if "progress" in policy.asks_for else None,
        recovery=_recovery(setting, plan),
    )


def _answers(
    setting: Setting, plan: Plan, estimates: Estimates, tracker: Tracker | None
) -> Answers:
    tracked = None if tracker is None else tracker.tracked
    part_slow_pairs = "tracker" in plan.parts
    if "advisor" not in plan.parts:
        return Answers(tracked=tracked, part_slow_pairs=part_slow_pairs)
    sure = log_sigma(estimates) < SURE
    return Answers(
        sure=sure,
        expected_s=estimates.p50,
        tracked=tracked,
        paces=None if setting.workload is None else _Paces(setting, setting.workload, sure),
        part_slow_pairs=part_slow_pairs,
    )


class _Paces:
    """What the neighbours of a job show of its pace on more or fewer GPUs."""

    def __init__(
        self, setting: Setting, workload: SyntheticWorkload, sure: NDArray[np.bool_]
    ) -> None:
        rng = np.random.default_rng([setting.seed, len(sure)])
        off = rng.normal(0.0, EXPONENT_SIGMA, len(sure))
        self._exponent = np.where(sure, workload.gpu_exponent + off, np.nan).tolist()
        self._gpus = setting.columns.gpus.tolist()

    def __call__(self, job: int, gpus: int) -> float:
        return float((gpus / self._gpus[job]) ** self._exponent[job])


class Tracker:
    """Knows where a run is headed once its log shows progress. That it will fail or be cancelled
    before it gets there is in no log yet."""

    def __init__(self, workload: SyntheticWorkload, *, seed: int) -> None:
        rng = np.random.default_rng([seed, len(workload.planned_s)])
        off = rng.lognormal(0.0, TRACKED_SIGMA, len(workload.planned_s))
        self.tracked = Tracked(workload.log_every_s, workload.planned_s * off)
        self._planned = self.tracked.whole_s.tolist()
        self._first_line = self.tracked.since_s.tolist()

    def remaining(self, job: int, done_s: float) -> float:
        if done_s < self._first_line[job]:
            return math.nan
        return float(max(self._planned[job] - done_s, 0.0))


def _columns(setting: Setting, plan: Plan) -> Columns:
    if "handler" not in plan.parts or setting.workload is None:
        return setting.columns
    return replace(
        setting.columns, duration=without_hanging(setting.columns.duration, setting.workload)
    )


def _tracker(setting: Setting, plan: Plan) -> Tracker | None:
    if "tracker" not in plan.parts or setting.workload is None:
        return None
    return Tracker(setting.workload, seed=setting.seed)


def _recovery(setting: Setting, plan: Plan) -> Recovery:
    if setting.workload is None:
        every = np.full(len(setting.columns), _CHECKPOINT_S)
    else:
        every = setting.workload.checkpoint_every_s
    if "handler" in plan.parts:
        return Handler(every, setting.columns.duration, seed=setting.seed)
    return Users(every, seed=setting.seed)


def nice_numbers(columns: Columns, estimates: Estimates, ordering: Ordering) -> Floats:
    """Seconds by which a live ordering sets each job back; 0 for one of unknown duration.

    A simulated queue takes any number; the daemon fits them to a scheduler's own weights.
    """
    submits, gpus = columns.submit.tolist(), columns.gpus.tolist()
    spreads = zip(
        estimates.p10.tolist(), estimates.p50.tolist(), estimates.p90.tolist(), strict=True
    )
    nice = np.zeros(len(columns))
    for job, (p10, p50, p90) in enumerate(spreads):
        if not math.isnan(p50):
            waiting = _waiting(columns.ids[job], submits[job], gpus[job])
            spread = Spread(p10, p50, p90)
            predicted = Prediction(basis="history", duration_s=spread, explanation="")
            nice[job] = round(ordering.cost(Candidate(waiting, predicted)) or 0.0)
    return nice


def _waiting(job_id: str, submitted: float, gpus: int) -> Job:
    return Job(
        id=job_id,
        name="",
        user="",
        state=JobState.PENDING,
        workdir="",
        request=Request(gpus=gpus),
        submit_time=submitted,
    )
