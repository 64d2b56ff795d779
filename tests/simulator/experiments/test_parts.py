"""What each part of SchedMate does beside a policy."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from schedmate.simulator import Setting, columns_of, compare, plan, synthetic
from schedmate.simulator.estimators.base import Estimates, oracle, unknown
from schedmate.simulator.experiments.execute import job_columns, log_sigma
from schedmate.simulator.experiments.recovery import Owners
from schedmate.simulator.experiments.setting import ROUND_S, with_limits
from schedmate.simulator.shell.tracking import Tracker
from schedmate.simulator.synthetic import draw_workload


def columns(jobs=300, seed=3, gpus=32):
    return columns_of(synthetic(jobs, gpus=gpus, seed=seed).jobs)


def test_a_policy_sees_limits_and_the_spread_of_predictions():
    jobs = replace(columns(3), limit=np.array([50.0, math.inf, math.inf]))
    predicted = Estimates(
        *(np.array([value, value, math.nan]) for value in (10.0, 20.0, 90.0)),
        cost_s=np.zeros(3),
        source="test",
    )
    seen = job_columns(jobs, predicted)
    assert seen.queue_key == [0, 1, 2]
    assert seen.nice == [0, 0, 0]
    assert seen.planned == [50.0, math.inf, math.inf]
    assert log_sigma(predicted)[0] == pytest.approx(math.log(9) / 2.5632)
    assert math.isnan(log_sigma(unknown(jobs))[0])
    assert log_sigma(oracle(jobs)).tolist() == [0, 0, 0]


def test_the_tracker_knows_where_a_run_is_headed_once_its_log_has_said_so():
    jobs = columns()
    workload = draw_workload(jobs, seed=1)
    tracker = Tracker(workload, seed=1)
    job = int(np.argmax(workload.planned_s))
    first = float(workload.log_every_s[job])
    assert math.isnan(tracker.remaining(job, first / 2))
    told = tracker.remaining(job, first) + first
    assert told == pytest.approx(workload.planned_s[job], rel=0.15)
    assert tracker.remaining(job, 10 * workload.planned_s[job]) == 0


def test_an_interrupted_job_goes_on_from_its_checkpoint_once_its_owner_has_noticed():
    jobs = columns(400)
    workload = draw_workload(jobs, seed=1)
    workload = replace(workload, checkpoint_every_s=np.where(np.arange(400) % 2, 600.0, 0.0))
    owners = Owners(jobs, workload, seed=0)
    sound = np.flatnonzero((workload.silent_s == 0) & (jobs.duration > 1500))
    saves, loses = (int(next(job for job in sound if job % 2 == odd)) for odd in (1, 0))

    assert owners.restarts_with(saves, 1500.0) == (jobs.duration[saves], 1200.0)
    assert owners.restarts_with(loses, 1500.0) == (jobs.duration[loses], 0.0)
    assert 1800 < np.median([owners.by_hand_s(job) for job in range(400)]) < 4 * 3600


def test_some_hangs_come_again_and_a_job_without_one_is_done_where_it_hung():
    jobs = columns(3000)
    workload = draw_workload(jobs, seed=1)
    owners = Owners(jobs, workload, seed=0)
    hung = np.flatnonzero(workload.silent_s > 0)
    works = {
        int(job): owners.restarts_with(int(job), float(jobs.duration[job]) - 1.0)[0] for job in hung
    }
    again = [job for job, work in works.items() if work == jobs.duration[job]]

    assert 0.2 < len(again) / len(hung) < 0.8
    for job in set(works) - set(again):
        assert works[job] == pytest.approx(jobs.duration[job] - workload.silent_s[job])


def test_limits_are_kept_round_and_given_only_to_those_who_have_none():
    jobs = columns(5000)
    jobs = replace(jobs, limit=np.where(np.arange(5000) % 2, np.inf, 123456.0))
    limited = with_limits(jobs, seed=0)
    assert (limited.limit[::2] == 123456.0).all()
    drawn = limited.limit[1::2]
    assert (drawn >= jobs.duration[1::2]).all()
    assert set(drawn.tolist()) <= {*ROUND_S.tolist(), *jobs.duration.tolist()}
    assert 2 < np.median(drawn / np.maximum(jobs.duration[1::2], 600)) < 20
    assert with_limits(limited, seed=1) is limited


POLICIES = ["fifo", "first-fit", "easy", "conservative", "las", "ssf"]


@pytest.fixture(scope="module")
def runs():
    jobs = with_limits(columns(250, gpus=8), seed=0)
    setting = Setting(name="test", columns=jobs, gpus=8, workload=draw_workload(jobs, seed=0))
    names = [name + parts for name in POLICIES for parts in ("", "+advisor", "+schedmate")]
    return {run.policy: run for run in compare(setting, [*names, "easy+tracker", "easy+handler"])}


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
def test_predictions_shorten_the_wait_of_a_contended_cluster(runs, name):
    fifo = runs["fifo"].summary.avg_jct_s
    assert runs[f"{name}+advisor"].summary.avg_jct_s < fifo
    assert runs[f"{name}+schedmate"].summary.avg_jct_s < fifo


@pytest.mark.slow
def test_every_plan_runs_every_job_to_its_end(runs):
    for name, run in runs.items():
        assert plan(name).name == name
        assert not np.isnan(run.outcome.end).any()
        assert (run.outcome.start >= run.columns.submit).all()
        hung = run.outcome.interrupted
        ran = run.outcome.end - run.outcome.start
        assert (ran >= run.columns.duration * 0.999)[~hung].all()


@pytest.mark.slow
def test_the_bar_moves_while_predictions_are_made():
    jobs = columns(250, gpus=8)
    setting = Setting(name="test", columns=jobs, gpus=8, workload=draw_workload(jobs, seed=0))
    heard = []

    compare(setting, ["fifo+advisor"], on_progress=lambda *news: heard.append(news))

    assert heard[:2] == [("predictions", 100, 250), ("predictions", 200, 250)]
    assert heard[2][0] == "fifo+advisor"
