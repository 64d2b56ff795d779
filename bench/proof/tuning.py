"""Baselines tuned in their own favour: the best of a grid on the very jobs that are compared."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from schedmate.simulator import Setting, plan
from schedmate.simulator.experiments.knowledge import Knowledge
from schedmate.simulator.experiments.run import PolicyRun, run

GRIDS: dict[str, tuple[str, ...]] = {
    "tiresias": tuple(
        f"tiresias@{threshold}" for threshold in (300, 3250, 18_000, 72_000, 288_000, 1_152_000)
    ),
    "las": tuple(f"las@{first}:{growth}" for first in (10, 60, 600, 3600) for growth in (2, 4, 8)),
    "gittins": tuple(f"gittins@{threshold}" for threshold in (300, 3250, 18_000, 72_000, 288_000)),
}
"""GPU-seconds from the authors' 3,250 to days; the defaults are among them."""


def average_s(of: PolicyRun) -> float:
    """From submission to the end."""
    return float(np.mean(of.outcome.end - of.columns.submit))


def best_of_grid(setting: Setting, policy: str, knowledge: Knowledge) -> PolicyRun:
    """The policy with the parameters that are best on these jobs, known only afterwards; a policy
    without a grid as it is."""
    tried = (run(setting, plan(name), knowledge) for name in GRIDS.get(policy, (policy,)))
    return min(tried, key=average_s)


def best_on_first_half(setting: Setting, policy: str) -> str:
    """The name with the parameters that are best on the first half of the jobs, as a site that
    tunes on its past would have them."""
    half = setting.columns.take(np.arange(len(setting.columns) // 2))
    before = replace(setting, columns=half, workload=None, past=None)
    return best_of_grid(before, policy, Knowledge(before)).policy
