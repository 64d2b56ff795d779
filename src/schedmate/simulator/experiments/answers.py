"""What a scheduler that asks is answered: predictions, progress, how jobs scale.

Each answer has one source: predictions are `Estimates`, progress is the `Tracker`, and the shell
beside an unmodified scheduler sends the engine the very same.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from schedmate.policies import Answers
from schedmate.simulator.estimators.base import Estimates
from schedmate.simulator.estimators.controls import HISTORY
from schedmate.simulator.estimators.history import owners
from schedmate.simulator.experiments.execute import log_sigma
from schedmate.simulator.experiments.plan import Plan
from schedmate.simulator.experiments.setting import Setting
from schedmate.simulator.shell.tracking import Tracker
from schedmate.simulator.synthetic import SyntheticWorkload
from schedmate.simulator.traces.columns import Floats, Ints

SURE = 1.0
"""Below this log_sigma a prediction counts as sure."""
EXPONENT_SIGMA = 0.05
"""How far a job's scaling exponent is from that of its neighbours. Assumed."""


def answers(setting: Setting, plan: Plan, estimates: Estimates, tracker: Tracker | None) -> Answers:
    tracked = None if tracker is None else tracker.tracked
    part_slow_pairs = "tracker" in plan.parts
    if "advisor" not in plan.parts:
        return Answers(tracked=tracked, part_slow_pairs=part_slow_pairs)
    sure = log_sigma(estimates) < SURE
    return Answers(
        sure=sure,
        expected_s=estimates.p50,
        tracked=tracked,
        paces=None
        if setting.workload is None
        else _Paces(setting, _exponents(setting, setting.workload, estimates.source, sure)),
        part_slow_pairs=part_slow_pairs,
    )


class _Paces:
    """Predicted of a job on more or fewer GPUs than it asked for."""

    def __init__(self, setting: Setting, exponents: Floats) -> None:
        self._exponent = exponents.tolist()
        self._gpus = setting.columns.gpus.tolist()

    def __call__(self, job: int, gpus: int) -> float:
        exponent = self._exponent[job]
        # 1 to the power of `nan` is 1
        return math.nan if math.isnan(exponent) else (gpus / self._gpus[job]) ** exponent


def _exponents(
    setting: Setting, workload: SyntheticWorkload, source: str, sure: NDArray[np.bool_]
) -> Floats:
    """How jobs scale, as the source of the predictions knows it: SchedMate from neighbours of jobs
    it is sure of, a control without code from the owner's earlier jobs; `nan` where unknown."""
    true = workload.gpu_exponent
    rng = np.random.default_rng([setting.seed, len(sure)])
    shown = true + rng.normal(0.0, EXPONENT_SIGMA, len(sure))
    if source == "oracle":
        return true
    if source == "constant":
        return np.full(len(true), true.mean())
    if source == "permuted":
        return np.where(sure, shown[rng.permutation(len(sure))], np.nan)
    if source in HISTORY:
        return _of_earlier_jobs(owners(setting.columns), shown)
    return np.where(sure, shown, np.nan)


def _of_earlier_jobs(owner: Ints, shown: Floats) -> Floats:
    """The mean of the owner's earlier jobs; `nan` for the first."""
    order = np.argsort(owner, kind="stable")
    owned, values = owner[order], shown[order]
    first = np.searchsorted(owned, owned)
    before = np.concatenate([[0.0], np.cumsum(values)])
    count = np.arange(len(owned)) - first
    with np.errstate(invalid="ignore"):
        means = (before[:-1] - before[first]) / np.where(count > 0, count, np.nan)
    found = np.empty(len(owner))
    found[order] = means
    return found
