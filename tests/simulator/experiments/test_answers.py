"""How jobs scale, as each source of predictions knows it."""

from __future__ import annotations

import numpy as np
import pytest

from schedmate.simulator import Setting
from schedmate.simulator.estimators.base import Estimates
from schedmate.simulator.experiments.answers import EXPONENT_SIGMA, answers
from schedmate.simulator.experiments.plan import plan
from schedmate.simulator.synthetic import draw_workload
from schedmate.simulator.traces.arrays import synthetic_columns

JOBS = 300


@pytest.fixture(scope="module")
def setting() -> Setting:
    bare = synthetic_columns(JOBS, seed=3, gpus=32)
    workload = draw_workload(bare, seed=3)
    columns = workload.visible_columns(bare)
    return Setting(name="drawn", columns=columns, gpus=32, workload=workload, seed=3)


def exponents(setting: Setting, source: str) -> np.ndarray:
    """Of every job, by its pace on twice the GPUs."""
    duration = setting.columns.duration
    known = answers(setting, plan("sia+advisor"), Estimates.exactly(duration, source), None)
    assert known.paces is not None
    gpus = setting.columns.gpus.tolist()
    return np.log2([known.paces(job, 2 * gpus[job]) for job in range(JOBS)])


def true(setting: Setting) -> np.ndarray:
    assert setting.workload is not None
    return setting.workload.gpu_exponent


def test_records_show_what_neighbours_showed_and_the_oracle_what_is(setting):
    off = exponents(setting, "semantic") - true(setting)

    assert 0 < np.abs(off).mean() < 2 * EXPONENT_SIGMA
    assert exponents(setting, "oracle") == pytest.approx(true(setting))


def test_a_job_that_nothing_is_known_of_has_no_pace_at_all(setting):
    known = answers(
        setting,
        plan("sia+advisor"),
        Estimates.exactly(setting.columns.duration, "history"),
        None,
    )
    assert known.paces is not None
    assert np.isnan(known.paces(0, setting.columns.gpus.tolist()[0]))


def test_a_control_knows_no_more_of_scaling_than_of_run_times(setting):
    constant, permuted = (exponents(setting, each) for each in ("constant", "permuted"))

    assert constant == pytest.approx(np.full(JOBS, true(setting).mean()))
    assert sorted(permuted) == pytest.approx(sorted(exponents(setting, "semantic")))
    assert abs(np.corrcoef(permuted, true(setting))[0, 1]) < 0.3


def test_history_goes_by_the_owners_earlier_jobs(setting):
    found = exponents(setting, "history")
    users = setting.columns.user.codes
    first = np.unique(users, return_index=True)[1]
    jobs = np.flatnonzero(users == users[-1])

    assert np.isnan(found[first]).all()
    assert np.isnan(found).sum() == len(first)
    mean = true(setting)[jobs[:-1]].mean()
    assert found[jobs[-1]] == pytest.approx(mean, abs=2 * EXPONENT_SIGMA)
