"""How late a job is by those that its scheduler alone puts behind it, and that it is bounded."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedmate.core import (
    Act,
    DecisionEngine,
    DecisionLimits,
    FairnessLimits,
    JobAdvised,
    JobForgotten,
    JobSeen,
)
from schedmate.core.overtaking import Overtaking, plain_key
from schedmate.model import JobState, Request
from schedmate.policies import Fifo, ordering
from schedmate.simulator import columns_of
from schedmate.simulator.engine.cluster import GpuPool, Plain
from schedmate.simulator.engine.engine import SimulationEngine
from schedmate.simulator.estimators.base import oracle
from schedmate.simulator.estimators.predictor import Fixed
from schedmate.simulator.experiments.execute import job_columns
from schedmate.simulator.shell.shell import SimulatedDaemon
from schedmate.testing.builders import a_job, a_trace_job, an_advice

HOUR = 3600.0
LOOK_S = 10.0


def waiting(job_id, submitted, *, partition="main", **parts):
    request = Request(gpus=parts.pop("gpus", 1), partition=partition)
    return a_job(id=job_id, submit_time=submitted, request=request, most_nice=1000, **parts)


def running(job, at):
    return replace(job, state=JobState.RUNNING, start_time=at)


def overtaken(*starts, ends=()):
    """Of one that waits since 100 s, in seconds, after those have started on 4 GPUs."""
    found = Overtaking()
    found.starts(running(waiting("full", 0.0, gpus=4), 0.0), 50.0, 0.0)
    found.ends("full", 50.0)
    me = waiting("me", 100.0)
    found.waits(me, 0, 100.0)
    for job, at, expected_s in starts:
        found.waits(job, 0, max(100.0, job.submit_time))
        found.starts(running(job, at), expected_s, at)
    for job_id, at in ends:
        found.ends(job_id, at)
    return found.late_s("me")


def test_what_goes_first_from_behind_counts_by_its_gpu_time():
    assert overtaken((waiting("a", 101.0, gpus=2), 200.0, 1000.0)) == 500.0


@pytest.mark.parametrize(
    "other",
    [waiting("a", 99.0), waiting("a", 101.0, partition="debug")],
    ids=["was before it", "elsewhere"],
)
def test_what_does_not_overtake_counts_nothing(other):
    assert overtaken((other, 200.0, 1000.0)) == 0.0


def test_a_run_counts_in_the_end_as_long_as_it_took():
    job = waiting("a", 101.0, gpus=4)
    assert overtaken((job, 200.0, 1000.0), ends=[("a", 300.0)]) == 100.0
    assert overtaken((job, 200.0, 1000.0), ends=[("a", 9200.0)]) == 9000.0


def test_what_is_unknown_counts_as_an_hour_until_it_ends():
    assert overtaken((waiting("a", 101.0, gpus=4), 200.0, None)) == HOUR


def test_a_job_that_is_met_late_may_have_been_overtaken_all_the_time():
    found = Overtaking()
    found.waits(waiting("me", 100.0), 0, 100.0 + HOUR)
    assert found.late_s("me") == HOUR


def test_a_job_that_is_queued_again_stays_as_late_as_it_was():
    found, me, other = Overtaking(), waiting("me", 0.0), waiting("a", 1.0)
    for job in (me, other):
        found.waits(job, 0, 1.0)
    found.starts(running(other, 2.0), 500.0, 2.0)
    late_s = found.late_s("me")
    found.starts(running(me, 3.0), 60.0, 3.0)
    assert found.late_s("me") == 0.0
    found.waits(replace(me, restarts=1, submit_time=90.0), 0, 100.0)
    assert found.late_s("me") == late_s > 0


@pytest.mark.parametrize("nice", [0, -700, 300])
def test_our_number_does_not_move_a_job_in_its_schedulers_own_order(nice):
    job = waiting("1", 0.0, priority=5000 - nice, nice=nice, nice_an_hour=6.0)
    older = waiting("2", 0.0, priority=5012 - nice, nice=nice, nice_an_hour=6.0)
    assert plain_key(job, 0, HOUR) == plain_key(older, 0, 3 * HOUR), "two hours of ageing later"
    assert plain_key(job, 7, HOUR) == plain_key(job, 0, HOUR) + 7, "its owner's own does"


def test_a_job_that_is_late_by_the_bound_gets_the_first_place():
    engine = DecisionEngine(
        ordering("ssf"), DecisionLimits(fairness=FairnessLimits(late_hours=2.0))
    )
    me, other = waiting("1", 0.0), waiting("2", 1.0, user="grace")
    for job in (me, other):
        engine.handle(JobSeen(2.0, job))
        engine.handle(JobAdvised(3.0, job.id, an_advice(HOUR)))

    found = engine.handle(JobSeen(4.0, running(other, 4.0)))
    assert not [one for one in found if isinstance(one, Act)]
    found = engine.handle(JobSeen(9000.0, replace(other, state=JobState.COMPLETED, end_time=9e3)))

    [first] = [one.action for one in found if isinstance(one, Act)]
    assert (first.job_id, first.value, first.reason.code) == ("1", -1000, "overtaken_enough")
    assert "2.5 hours late by jobs that its scheduler alone puts behind it" in first.why
    engine.handle(JobForgotten(9001.0, "1"))


lengths = st.floats(1.0, 40_000.0)
jobs = st.lists(st.tuples(st.floats(0.0, 3000.0), lengths), min_size=2, max_size=25)


@settings(max_examples=80, deadline=None)
@given(jobs, st.floats(0.1, 3.0))
def test_no_job_is_late_by_more_than_the_bound_and_one_run(drawn, hours):
    """One GPU, first come first served, run times as predicted."""
    arrivals = np.cumsum([gap for gap, _ in drawn])
    columns = columns_of(
        [
            a_trace_job(job_id=str(n), submit_time=float(at), duration=run, gpus=1)
            for n, (at, (_, run)) in enumerate(zip(arrivals, drawn, strict=True))
        ]
    )

    def starts(beside):
        return np.asarray(
            SimulationEngine(
                columns,
                job_columns(columns, oracle(columns)),
                Fifo(),
                GpuPool(1),
                physics=Plain([1] * len(drawn)),
                beside=beside,
            )
            .run()
            .start
        )

    limits = DecisionLimits(fairness=FairnessLimits(late_hours=hours))
    engine = DecisionEngine(ordering("sjf"), limits)
    daemon = SimulatedDaemon(engine, columns, predictor=Fixed(oracle(columns)), look_s=LOOK_S)
    late = starts(daemon) - starts(None)
    longest = max(run for _, run in drawn)
    assert late.max() <= hours * HOUR + longest + 3 * LOOK_S


def test_ten_thousand_waiting_jobs_cost_little():
    found = Overtaking()
    for number in range(10_000):
        found.waits(waiting(str(number), float(number)), 0, float(number))
    began = time.process_time()
    for number in range(9_000, 9_500):
        job = waiting(str(number), float(number))
        found.starts(running(job, 2e4), 60.0, 2e4)
        found.beyond(job, 12 * HOUR)
    assert time.process_time() - began < 0.5
