"""EASY with shortest-job backfill order and with predictions: exactly, and beside a slow one."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.runs import starts
from schedmate.policies.backfill import Easy
from schedmate.policies.predicted_backfill import (
    CORRECTIONS_S,
    EasyLastTwo,
    EasyLearnt,
    EasyShortest,
)

few = settings(max_examples=60, deadline=None)
GPUS = 4


def test_of_two_that_may_overtake_the_shorter_goes_first():
    """At 2 and 3 one GPU is free until 20; the second of the two is done sooner."""
    jobs = [(0, 20, 3), (1, 5, 4), (2, 17, 1), (2, 4, 1)]

    assert starts(Easy(), jobs) == [0, 20, 2, 25]
    assert starts(EasyShortest(), jobs) == [0, 20, 25, 2]


def test_the_head_keeps_its_reservation_in_shortest_order_too():
    jobs = [(0, 10, 3), (1, 5, 4), (2, 9, 1), (3, 7, 1)]

    assert starts(EasyShortest(), jobs) == [0, 10, 15, 3]


def test_the_shortest_beside_the_reservation_goes_first():
    jobs = [(0, 10, 3), (1, 5, 3), (2, 99, 1), (2, 50, 1)]

    assert starts(EasyShortest(), jobs) == [0, 10, 15, 2]


def test_a_prediction_lets_a_job_pass_that_its_limit_would_hold_back():
    jobs = [(0, 10, 3), (1, 5, 4), (2, 8, 1)]
    limits = [1000.0] * 3

    assert starts(Easy(), jobs, planned=limits) == [0, 10, 15]
    assert starts(EasyLastTwo(), jobs, planned=limits) == [0, 10, 2]


def test_a_first_job_is_planned_with_its_limit():
    jobs = [(0, 10, 3), (1, 5, 4), (2, 8, 1)]

    began = starts(EasyLastTwo(), jobs, planned=[10.0, 5.0, 9.0], expected=[10, 5, math.nan])

    assert began == [0, 10, 15]


def test_a_prediction_is_never_above_the_limit():
    jobs = [(0, 10, 3), (1, 5, 4), (2, 8, 1)]

    began = starts(EasyLastTwo(), jobs, planned=[10.0, 5.0, 8.0], expected=[10, 5, 900])

    assert began == [0, 10, 2]


def test_a_run_that_outlives_its_prediction_gets_a_minute_then_five():
    """Predicted 5 s, it runs 200 s: planned to end at 65 from 5 on, at 365 from 65 on. So at 6 a
    job of 50 s may pass the head, at 70 one of 290 s may, and one of 300 s may not."""
    jobs = [(0, 200, 3), (1, 5, 4), (6, 50, 1), (70, 300, 1), (71, 290, 1)]
    limits = [10_000.0] * 5

    began = starts(EasyLastTwo(), jobs, planned=limits, expected=[5, 5, 50, 300, 290])

    assert began[2] == 6
    assert began[4] == 71
    assert began[3] > 200


def test_learnt_run_times_differ_in_their_source_only():
    jobs = [(0, 200, 3), (1, 5, 4), (6, 50, 1), (70, 300, 1), (71, 290, 1)]

    assert starts(EasyLearnt(), jobs) == starts(EasyLastTwo(), jobs)
    assert (EasyLastTwo.source, EasyLearnt.source) == ("last_two", "qssf")


def slowly(jobs, *, limits, expected):
    """EASY++ once more: second by second, everything scanned and nothing remembered but starts."""
    began, times, plan = {}, {}, {}
    for job, seconds in enumerate(expected):
        plan[job] = limits[job] if math.isnan(seconds) else min(limits[job], max(1.0, seconds))
    now = 0
    while len(began) < len(jobs):
        running = [job for job in began if began[job] + jobs[job][1] > now]
        for job in running:
            if now - began[job] == plan[job] < limits[job]:
                more = CORRECTIONS_S[min(times.get(job, 0), len(CORRECTIONS_S) - 1)]
                times[job] = times.get(job, 0) + 1
                plan[job] = min(limits[job], plan[job] + more)
        waiting = [job for job in range(len(jobs)) if job not in began and jobs[job][0] <= now]
        free = GPUS - sum(jobs[job][2] for job in running)
        while waiting and jobs[waiting[0]][2] <= free:
            head = waiting.pop(0)
            began[head] = now
            running.append(head)
            free -= jobs[head][2]
        if waiting:
            overtake(jobs, now, (waiting, running, free), began, plan)
        now += 1
    return [began[job] for job in range(len(jobs))]


def overtake(jobs, now, state, began, plan):
    waiting, running, free = state
    wanted = jobs[waiting[0]][2]
    ends = sorted((max(now, began[job] + plan[job]), jobs[job][2]) for job in running)
    times = [now, *(end for end, _ in ends)]
    by = next(
        time for time in times if free + sum(gpus for end, gpus in ends if end <= time) >= wanted
    )
    beside = free + sum(gpus for end, gpus in ends if end <= by) - wanted
    while True:
        able = [
            (plan[job], job)
            for job in waiting[1:]
            if job not in began
            and jobs[job][2] <= free
            and jobs[job][2] != wanted
            and (now + plan[job] <= by or jobs[job][2] <= beside)
        ]
        if not able:
            return
        _, job = min(able)
        began[job] = now
        free -= jobs[job][2]
        if now + plan[job] > by:
            beside -= jobs[job][2]


@st.composite
def predicted(draw):
    row = st.tuples(st.integers(0, 200), st.integers(1, 400), st.integers(1, GPUS))
    jobs = sorted(draw(st.lists(row, min_size=1, max_size=8)))
    limits = [float(seconds + draw(st.integers(0, 300))) for _, seconds, _ in jobs]
    guess = st.just(math.nan) | st.integers(0, 500).map(float)
    return jobs, limits, [draw(guess) for _ in jobs]


@few
@given(given_jobs=predicted())
def test_it_decides_as_a_slow_one_does(given_jobs):
    jobs, limits, expected = given_jobs

    fast = starts(EasyLastTwo(), jobs, planned=limits, expected=expected)

    assert fast == slowly(jobs, limits=limits, expected=expected)


@few
@given(given_jobs=predicted())
def test_shortest_first_decides_as_a_slow_one_does(given_jobs):
    jobs, limits, _ = given_jobs
    unknown = [math.nan] * len(jobs)

    fast = starts(EasyShortest(), jobs, planned=limits)

    assert fast == slowly(jobs, limits=limits, expected=unknown)


@pytest.mark.parametrize("policy", [EasyShortest, EasyLastTwo, EasyLearnt])
def test_no_kernel_stands_in_for_them(policy):
    assert policy.kernel is None
