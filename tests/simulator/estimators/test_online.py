"""Predictors that learn within a run: from what has ended in it, and from nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from schedmate.model import JobState
from schedmate.simulator import columns_of, plan
from schedmate.simulator.experiments.knowledge import Knowledge
from schedmate.simulator.experiments.run import run
from schedmate.simulator.experiments.setting import Past, Setting
from schedmate.simulator.synthetic import draw_workload
from schedmate.simulator.traces.synthetic import synthetic

LEARNING = ("last_two", "history", "site_model", "semantic")
KNOWN = 60


@pytest.fixture(scope="module")
def here():
    """A setting whose first jobs are its past."""
    columns = columns_of(synthetic(160, gpus=16, load=1.5, seed=3).jobs)
    behind = np.arange(len(columns)) >= KNOWN
    ended = columns.submit[:KNOWN] + columns.duration[:KNOWN]
    later = columns.submit + np.where(behind, float(ended.max()), 0.0)
    columns = replace(columns, submit=later)
    workload = draw_workload(columns, seed=3)
    return Setting(
        name="made up",
        columns=columns.take(behind),
        gpus=16,
        workload=workload.take(behind),
        past=Past(columns, ended, workload),
        learns_within=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNING)
def test_the_first_job_is_predicted_as_beforehand(here, name):
    knowledge = Knowledge(here)
    within = knowledge.in_run(name, here).submitted(0)
    beforehand = knowledge.in_run(name, replace(here, learns_within=False)).submitted(0)
    assert within.duration_s.p50 == pytest.approx(beforehand.duration_s.p50, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNING)
def test_what_has_ended_in_the_run_is_learnt_from(here, name):
    knowledge = Knowledge(here)
    predictor = knowledge.in_run(name, here)
    owners = [(here.columns.user[job], here.columns.name[job]) for job in range(100)]
    asked = next(job for job in range(99, 0, -1) if owners[job] in owners[:job])
    unlearnt = predictor.submitted(asked).duration_s
    predictor = knowledge.in_run(name, here)
    begun = float(here.columns.submit[0])
    for job in range(asked):
        predictor.submitted(job)
        predictor.started(job, begun)
        predictor.ended(job, begun, begun + 9e5, JobState.COMPLETED)

    assert predictor.submitted(asked).duration_s.p50 > unlearnt.p50
    again = knowledge.in_run(name, here).submitted(asked).duration_s
    assert again == unlearnt, "each run begins anew"


@pytest.mark.parametrize("name", ["constant", "permuted", "oracle", "qssf"])
def test_what_does_not_learn_answers_as_ever(here, name):
    knowledge = Knowledge(here)
    predictor = knowledge.in_run(name, here)
    assert predictor.submitted(3).duration_s.p50 == pytest.approx(knowledge.of(name).p50[3])


@pytest.mark.slow
def test_a_run_can_be_repeated(here):
    knowledge = Knowledge(here)
    ends = [run(here, plan("easy+advisor"), knowledge).outcome.end for _ in range(2)]
    np.testing.assert_array_equal(*ends)
