"""What each part of SchedMate does beside a policy."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from schedmate.core import Limits
from schedmate.policies import ordering
from schedmate.simulator import Setting, columns_of, compare, plan, synthetic
from schedmate.simulator.estimators.base import Estimates, oracle, unknown
from schedmate.simulator.experiments.assist import Tracker, nice_numbers
from schedmate.simulator.experiments.execute import SECONDS_PER_NICE, job_columns, log_sigma
from schedmate.simulator.experiments.recovery import (
    DIAGNOSED_S,
    STALL_SEEN_S,
    Handler,
    Users,
    without_hanging,
)
from schedmate.simulator.experiments.setting import ROUND_S, with_limits
from schedmate.simulator.synthetic import draw_workload
from schedmate.testing.builders import a_trace_job


def columns(jobs=300, seed=3, gpus=32):
    return columns_of(synthetic(jobs, gpus=gpus, seed=seed).jobs)


def test_the_mind_gives_the_same_nice_numbers_as_live():
    jobs = columns_of(
        [
            a_trace_job(job_id="a", submit_time=0, duration=100, gpus=4),
            a_trace_job(job_id="b", submit_time=1, duration=7, gpus=1),
            a_trace_job(job_id="c", submit_time=2, duration=7, gpus=1),
        ]
    )
    said = Estimates.exactly(np.array([100.0, 7.2, math.nan]), "test")
    assert nice_numbers(jobs, said, ordering("ssf")).tolist() == [400, 7, 0]
    assert nice_numbers(jobs, said, ordering("sjf")).tolist() == [100, 7, 0]
    assert nice_numbers(jobs, said, ordering("fifo")).tolist() == [0, 0, 0]


def test_a_nice_number_moves_a_job_back_in_line_and_leaves_its_limit_alone():
    jobs = replace(columns(3), limit=np.array([50.0, math.inf, math.inf]))
    said = Estimates(
        *(np.array([value, value, math.nan]) for value in (10.0, 20.0, 90.0)),
        cost_s=np.zeros(3),
        source="test",
    )
    seen = job_columns(jobs, said, np.array([2.0, 0.0, 0.0]))
    assert seen.queue_key[0] == jobs.submit[0] + 2 * SECONDS_PER_NICE
    assert seen.queue_key[1:] == jobs.submit[1:].tolist()
    assert seen.planned == [50.0, math.inf, math.inf]
    assert job_columns(jobs, said).queue_key == jobs.submit.tolist()
    assert log_sigma(said)[0] == pytest.approx(math.log(9) / 2.5632)
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


def test_who_hangs_is_stopped_when_the_silence_has_lasted():
    jobs = columns(2000)
    workload = draw_workload(jobs, seed=1)
    shorter = without_hanging(jobs.duration, workload)
    hung = workload.hang_s > STALL_SEEN_S
    assert hung.any()
    assert np.array_equal(shorter[~hung], jobs.duration[~hung])
    assert np.allclose((jobs.duration - shorter)[hung], workload.hang_s[hung] - STALL_SEEN_S)


def test_whose_node_failed_comes_back_by_hand_or_by_the_handler_from_the_checkpoint():
    every = np.array([600.0, 0.0])
    by_hand = Users(every, seed=0).lost(0, 3, 1500.0)
    assert by_hand[0] > 10 * DIAGNOSED_S
    assert by_hand[1] == 1200.0
    assert Handler(every, every, seed=0).lost(0, 3, 1500.0) == (DIAGNOSED_S, 1200.0)
    assert Handler(every, every, seed=0).lost(1, 3, 1500.0)[1] == 0.0


def test_some_sound_jobs_are_stopped_by_mistake_and_come_back_by_hand():
    durations = np.full(100_000, 10_000.0)
    durations[::2] = 60.0
    handler = Handler(durations, durations, seed=0)
    assert 100 < len(handler.mistakes) < 300
    assert all(job % 2 for job in handler.mistakes)
    assert all(STALL_SEEN_S <= after <= 10_000 for after in handler.mistakes.values())
    assert handler.lost(1, None, 500.0)[0] > 10 * DIAGNOSED_S
    assert not Users(durations, seed=0).mistakes


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_the_handler_keeps_to_the_budget_of_the_live_loop(retries):
    handler = Handler(np.zeros(1), np.zeros(1), seed=0, limits=Limits(retries=retries))
    users = Users(np.zeros(1), seed=0)

    waits = [handler.lost(0, node, 50.0)[0] for node in range(retries + 2)]

    assert all(wait < 10 * DIAGNOSED_S for wait in waits[:retries])
    assert waits[retries:] == [users.lost(0, None, 50.0)[0] for _ in range(2)]


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


def test_every_plan_runs_every_job_to_its_end(runs):
    for name, run in runs.items():
        assert plan(name).name == name
        assert not np.isnan(run.outcome.end).any()
        assert (run.outcome.start >= run.columns.submit).all()
        assert (run.outcome.end - run.outcome.start >= run.columns.duration * 0.999).all()


def test_the_bar_moves_while_predictions_are_made():
    jobs = columns(250, gpus=8)
    setting = Setting(name="test", columns=jobs, gpus=8, workload=draw_workload(jobs, seed=0))
    heard = []

    compare(setting, ["fifo+advisor"], on_progress=lambda *news: heard.append(news))

    assert heard[:2] == [("predictions", 100, 250), ("predictions", 200, 250)]
    assert heard[2][0] == "fifo+advisor"
