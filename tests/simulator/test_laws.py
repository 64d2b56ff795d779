"""What holds for every trace."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedmate.policies import ORDERINGS, Candidate, ordering
from schedmate.simulator import oracle, simulate
from schedmate.testing.builders import a_job, a_trace_job
from simulator import reference

CLUSTER = 4
rows = st.tuples(st.integers(0, 12), st.integers(1, 8), st.integers(1, CLUSTER))
traces = st.lists(rows, min_size=1, max_size=14).map(
    lambda drawn: [
        a_trace_job(job_id=str(number), submit_time=submit, duration=duration, gpus=gpus)
        for number, (submit, duration, gpus) in enumerate(drawn)
    ]
)
ways = pytest.mark.parametrize("backfill", [False, True], ids=["strict", "first-fit"])
policies = pytest.mark.parametrize("policy", ORDERINGS)


def run(jobs, policy, *, backfill=False):
    return simulate(jobs, gpus=CLUSTER, ordering=ordering(policy), advise=oracle, backfill=backfill)


def in_use(result, moment) -> int:
    return sum(job.gpus for job in result.jobs if job.start_time <= moment < job.end_time)


def moments(result) -> set[float]:
    return {time for job in result.jobs for time in (job.submit_time, job.start_time, job.end_time)}


@ways
@policies
@given(jobs=traces)
def test_it_agrees_with_a_simulator_that_looks_at_every_second(policy, backfill, jobs):
    nice = {job.job_id: ordering(policy).nice(Candidate(a_job(), oracle(job))) for job in jobs}

    slowly = reference.starts(jobs, gpus=CLUSTER, nice=nice, backfill=backfill)

    result = run(jobs, policy, backfill=backfill)
    assert {job.job_id: job.start_time for job in result.jobs} == slowly


@ways
@policies
@given(jobs=traces)
def test_every_job_runs_once_for_its_whole_time_and_no_gpu_is_used_twice(policy, backfill, jobs):
    result = run(jobs, policy, backfill=backfill)

    durations = {job.job_id: job.duration for job in jobs}
    assert sorted(job.job_id for job in result.jobs) == sorted(durations)
    for job in result.jobs:
        assert job.start_time >= job.submit_time
        assert job.end_time - job.start_time == durations[job.job_id]
    assert all(in_use(result, moment) <= CLUSTER for moment in moments(result))


@policies
@given(jobs=traces)
def test_first_fit_leaves_no_gpus_idle_that_somebody_waits_for(policy, jobs):
    result = run(jobs, policy, backfill=True)

    for moment in moments(result):
        free = CLUSTER - in_use(result, moment)
        waiting = [job for job in result.jobs if job.submit_time <= moment < job.start_time]
        assert all(job.gpus > free for job in waiting)


@given(jobs=traces)
def test_strict_fifo_starts_in_the_order_of_submission(jobs):
    begun = [job.start_time for job in run(jobs, "fifo").jobs]

    assert begun == sorted(begun)


@given(durations=st.lists(st.integers(1, 20), min_size=1, max_size=5))
@settings(max_examples=30)
def test_no_order_on_one_gpu_beats_shortest_first(durations):
    jobs = [
        a_trace_job(job_id=str(number), duration=duration)
        for number, duration in enumerate(durations)
    ]

    result = simulate(jobs, gpus=1, ordering=ordering("sjf"), advise=oracle)

    best = min(average_completion(order) for order in permutations(durations))
    assert result.summary.avg_jct_s == pytest.approx(best)


def average_completion(durations) -> float:
    ends = [sum(durations[: place + 1]) for place in range(len(durations))]
    return sum(ends) / len(ends)


@ways
@policies
@given(jobs=traces)
@settings(max_examples=20)
def test_the_same_trace_gives_the_same_result(policy, backfill, jobs):
    assert run(jobs, policy, backfill=backfill) == run(jobs, policy, backfill=backfill)
