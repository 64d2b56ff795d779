"""A baseline that is worse than no policy at all makes any gain over it worthless."""

from __future__ import annotations

import pytest

from schedmate.policies import POLICIES
from schedmate.simulator.sweeps import SimulationTask, run_task

JOBS = 800
TOLERATED = 1.05


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_no_policy_is_worse_than_fifo_as_it_comes(seed):
    task = SimulationTask(source="synthetic", policies=tuple(POLICIES), jobs=JOBS, seed=seed)
    found = {name: one.avg_jct_s for name, one in run_task(task).compared.policies.items()}

    assert found.keys() == POLICIES.keys()
    bound = TOLERATED * found["fifo"]
    assert {name: jct for name, jct in found.items() if jct > bound} == {}
