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
        learns="while jobs wait",
    )


def spread(prediction):
    return None if prediction is None else prediction.duration_s


@pytest.mark.parametrize("name", LEARNING)
def test_the_first_job_is_predicted_as_beforehand(here, name):
    knowledge = Knowledge(here)
    within = knowledge.in_run(name, here).submitted(0)
    beforehand = knowledge.in_run(name, replace(here, learns="beforehand")).submitted(0)
    assert within.duration_s.p50 == pytest.approx(beforehand.duration_s.p50, rel=1e-6)


@pytest.mark.parametrize("name", LEARNING)
def test_what_ends_meanwhile_is_learnt_from_while_a_job_waits(here, name):
    knowledge = Knowledge(here)
    predictor = knowledge.in_run(name, here)
    owners = [(here.columns.user[job], here.columns.name[job]) for job in range(100)]
    asked = next(job for job in range(100) if owners[job] in owners[job + 1 :])
    first = spread(predictor.submitted(asked))
    begun = float(here.columns.submit[-1])
    for job in range(asked + 1, 100):
        predictor.submitted(job)
        predictor.started(job, begun)
        predictor.ended(job, begun, begun + 9e5, JobState.COMPLETED)
    again = spread(predictor.again(asked, begun + 1e6))

    assert again.p50 > first.p50
    assert spread(knowledge.in_run(name, here).submitted(asked)) == first, "each run begins anew"


@pytest.mark.parametrize("name", LEARNING)
def test_one_that_predicts_once_is_not_asked_again(here, name):
    predictor = Knowledge(here).in_run(name, replace(here, learns="within the run"))
    predictor.submitted(0)
    assert predictor.again(0, 1e9) is None


@pytest.mark.parametrize("name", ["constant", "permuted", "oracle", "qssf"])
def test_what_does_not_learn_answers_as_ever(here, name):
    knowledge = Knowledge(here)
    predictor = knowledge.in_run(name, here)
    assert predictor.submitted(3).duration_s.p50 == pytest.approx(knowledge.of(name).p50[3])
    assert predictor.again(3, 1e9) is None


def test_a_run_can_be_repeated(here):
    knowledge = Knowledge(here)
    ends = [run(here, plan("easy+advisor"), knowledge).outcome.end for _ in range(2)]
    np.testing.assert_array_equal(*ends)


def test_predicting_again_sets_waiting_jobs_back(here):
    knowledge = Knowledge(here)
    ran = {
        learns: run(replace(here, learns=learns), plan("easy+advisor"), knowledge)
        for learns in ("within the run", "while jobs wait")
    }
    numbers = {learns: each.actions["set_nice"] for learns, each in ran.items()}
    assert numbers["while jobs wait"] > numbers["within the run"]
