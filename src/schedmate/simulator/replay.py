"""Jobs that really ran, once more under a policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from schedmate.policies import Fifo, Policy
from schedmate.simulator.columns import columns_of
from schedmate.simulator.estimates import Estimates
from schedmate.simulator.execute import execute
from schedmate.simulator.seen import seen_of
from schedmate.simulator.setting import Setting
from schedmate.simulator.traces.base import TraceJob


def average_completion_s(
    jobs: Sequence[TraceJob],
    *,
    gpus: int,
    policy: Policy | None = None,
    expected: Mapping[str, float | None] | None = None,
) -> float:
    """From submission to the end, on average, first come, first served unless a policy is given;
    `expected` seconds by job id, None where nobody says."""
    columns = columns_of(jobs)
    said = expected or {}
    seconds = np.array([said.get(job) for job in columns.ids], dtype=np.float64)
    seen = seen_of(columns, Estimates.exactly(seconds, "prediction"))
    setting = Setting(name="replay", columns=columns, gpus=gpus)
    outcome = execute(setting, columns, seen, policy or Fifo())
    return float(np.mean(outcome.end - columns.submit))
