"""The Gittins index of what is foretold, and what a log adds to it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.policies import JobColumns, PredictedGittins
from schedmate.policies.predicted_gittins import Tracked, ranks_of


def seen(expected, log_sigma, gpus):
    blank = [0.0] * len(gpus)
    numbers = [0] * len(gpus)
    return JobColumns(
        submit=blank,
        gpus=gpus,
        user=numbers,
        group=numbers,
        name=numbers,
        limit=blank,
        expected=expected,
        planned=blank,
        queue_key=blank,
        nice=blank,
        log_sigma=log_sigma,
    )


def key_at(stages, job, served):
    return stages.keys[job, np.searchsorted(stages.bounds[job], served, side="right")]


def test_a_sure_job_rises_as_it_nears_its_end_and_sinks_when_it_outlives_it():
    ranks = ranks_of(0.1)
    at = dict(zip([0.0, *ranks.ages], ranks.ranks, strict=True))
    young = min(at)
    near = max(age for age in at if age < 1)
    old = max(at)
    assert at[near] < 0.6 * at[young]
    assert at[old] > at[near]


def test_a_doubtful_job_sinks_from_the_start_as_in_least_attained_service():
    ranks = ranks_of(2.5).ranks
    assert ranks[-1] > 10 * ranks[0]
    assert (np.diff(ranks[5:]) > 0).all()


@given(log_sigma=st.floats(0, 10), other=st.floats(0, 10))
def test_ranks_are_those_of_the_nearest_tenth(log_sigma, other):
    ranks = ranks_of(log_sigma)
    assert (np.diff(ranks.ages) > 0).all()
    assert (ranks.ranks > 0).all()
    if round(log_sigma, 1) == round(other, 1):
        assert ranks_of(round(other, 1)) is ranks_of(round(log_sigma, 1))


def test_the_rank_is_the_least_service_for_an_end():
    """Of exponential times it is the mean at any age; the log-normal of log_sigma 1.2 is close to
    one in the middle. Checked against plain sums over drawn times."""
    rng = np.random.default_rng(0)
    close = rng.lognormal(0, 1.0, 400_000)
    far = rng.lognormal(0, 2.0, 400_000)
    drawn = np.where(rng.random(400_000) < 1 / 7, far, close)
    ranks = ranks_of(1.0)
    for age, rank in ((0.0, ranks.ranks[0]), (ranks.ages[5], ranks.ranks[6])):
        left = drawn[drawn > age] - age
        stops = np.quantile(left, np.linspace(0.02, 0.98, 49))
        best = min(np.minimum(left, stop).mean() / (left <= stop).mean() for stop in stops)
        assert rank == pytest.approx(best, rel=0.03)


def test_who_needs_less_goes_first_and_who_is_unknown_stands_between():
    jobs = seen([60.0, 36_000.0, math.nan, 60.0], [0.3, 0.3, math.nan, 0.3], [1, 1, 1, 8])
    keys = PredictedGittins().stages(jobs).keys[:, 0]
    assert keys[0] < keys[3] < keys[1]
    assert keys[0] < keys[2] < keys[1]
    assert keys[3] == pytest.approx(8 * keys[0])


def test_a_log_that_says_the_end_is_near_brings_a_job_forward():
    jobs = seen([36_000.0], [2.0], [2])
    plain = PredictedGittins().stages(jobs)
    tracked = PredictedGittins(Tracked(np.array([100.0]), np.array([1000.0]))).stages(jobs)
    assert key_at(tracked, 0, 99.0) == key_at(plain, 0, 99.0)
    assert key_at(tracked, 0, 100.0) <= 2 * 900.0
    assert key_at(tracked, 0, 5000.0) <= 2 * 0.02 * 1000.0


def test_a_log_that_says_the_end_is_far_changes_nothing():
    jobs = seen([1000.0], [1.0], [2])
    plain = PredictedGittins().stages(jobs)
    tracked = PredictedGittins(Tracked(np.array([100.0]), np.array([1e9]))).stages(jobs)
    for served in (0.0, 50.0, 100.0, 500.0, 5000.0, 1e6):
        assert key_at(tracked, 0, served) == key_at(plain, 0, served)
