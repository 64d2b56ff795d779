"""Each group of a trace in a pool of its own."""

from __future__ import annotations

import numpy as np
import pytest

from schedmate.model import BadInput
from schedmate.simulator import Setting, compare
from schedmate.simulator.experiments.setting import by_group
from schedmate.simulator.sweeps.pools import divided, run_pools
from simulator.report.runs import some_columns


def test_pools_are_as_if_each_ran_alone():
    columns = some_columns(200)

    pools = run_pools(
        columns,
        ["fifo", "sjf"],
        lambda name, jobs: Setting(name=name, columns=jobs, gpus=8),
    )

    assert (pools.pools, pools.whole.gpus, len(pools.whole.columns)) == (2, 16, 200)
    for name, jobs in by_group(columns):
        alone = compare(Setting(name=name, columns=columns.take(jobs), gpus=8), ["fifo", "sjf"])
        for whole, part in zip(pools.runs, alone, strict=True):
            assert whole.policy == part.policy
            assert np.array_equal(whole.outcome.start[jobs], part.outcome.start)
            assert np.array_equal(whole.outcome.end[jobs], part.outcome.end)


def test_jobs_too_large_for_their_pool_are_left_out_and_the_others_keep_their_place():
    columns = some_columns(200)

    pools = run_pools(
        columns,
        ["fifo"],
        lambda name, jobs: Setting(
            name=name,
            columns=jobs.take(jobs.gpus <= 4),
            gpus=4,
            left_out=int((jobs.gpus > 4).sum()),
        ),
    )

    kept = columns.gpus <= 4
    assert pools.whole.left_out == int((~kept).sum())
    assert np.array_equal(pools.whole.columns.submit, columns.submit[kept])
    assert (pools.runs[0].outcome.start >= columns.submit[kept]).all()


def test_gpus_are_divided_by_what_is_asked_for_and_none_is_lost():
    columns = some_columns(300)

    sizes = divided(100, columns)

    asked = {
        name: (columns.duration * columns.gpus)[jobs].sum() for name, jobs in by_group(columns)
    }
    assert sum(sizes.values()) == 100
    for name, size in sizes.items():
        assert size == pytest.approx(100 * asked[name] / sum(asked.values()), abs=2)
    assert divided(16, columns) == dict.fromkeys(sizes, 8)


def test_too_few_gpus_for_all_groups_are_refused():
    with pytest.raises(BadInput, match="need 16 GPUs, and there are 15"):
        divided(15, some_columns(300))
