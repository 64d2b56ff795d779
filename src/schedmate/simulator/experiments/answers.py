"""What a scheduler that asks is answered: predictions, progress, how jobs scale.

Each answer has one source: predictions are `Estimates`, progress is the `Tracker`, and the shell
beside an unmodified scheduler sends the engine the very same.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedmate.policies import Answers
from schedmate.simulator.estimators.base import Estimates
from schedmate.simulator.experiments.execute import log_sigma
from schedmate.simulator.experiments.plan import Plan
from schedmate.simulator.experiments.setting import Setting
from schedmate.simulator.shell.tracking import Tracker
from schedmate.simulator.synthetic import SyntheticWorkload

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
