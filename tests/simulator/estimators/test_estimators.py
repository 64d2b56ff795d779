"""What every estimator must do, and what is particular about two of them."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedmate.model import BadInput
from schedmate.simulator.estimators import ESTIMATORS, boosted
from schedmate.simulator.estimators.base import Estimates
from schedmate.simulator.estimators.history import (
    Known,
    edit_distance,
    keys,
    name_groups,
    rolling_mean,
    similar,
)
from schedmate.simulator.traces.arrays import synthetic_columns
from schedmate.simulator.traces.columns import Coded, TraceColumns, columns_of
from schedmate.testing.builders import a_trace_job

JOBS = 700
each = pytest.mark.parametrize("name", ESTIMATORS)


@pytest.fixture(scope="module")
def columns() -> TraceColumns:
    return synthetic_columns(JOBS, gpus=64, seed=5, like="helios")


def known_at(columns: TraceColumns) -> np.ndarray:
    return columns.submit + columns.duration


@pytest.fixture(scope="module")
def said(columns) -> dict[str, Estimates]:
    pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    return {name: estimate(columns, known_at(columns)) for name, estimate in ESTIMATORS.items()}


@pytest.mark.slow
@each
def test_nothing_is_learnt_before_it_is_known(name, columns, said):
    """Other run times of all that is not known when job 500 comes change nothing up to it."""
    job = 500
    unknown = known_at(columns) >= columns.submit[job]
    rng = np.random.default_rng(1)
    others = np.where(unknown, columns.duration * rng.uniform(2, 50, JOBS), columns.duration)

    again = ESTIMATORS[name](replace(columns, duration=others), known_at(columns))

    assert unknown.sum() > JOBS - job
    for level in ("p10", "p50", "p90"):
        before, after = getattr(said[name], level), getattr(again, level)
        assert np.array_equal(before[: job + 1], after[: job + 1], equal_nan=True), level
    assert not np.array_equal(said[name].p50, again.p50, equal_nan=True)


@pytest.mark.slow
@each
def test_it_says_the_same_again_and_does_not_look_at_how_jobs_end(name, columns, said):
    ended_otherwise = replace(columns, status=np.roll(columns.status, 1))

    again = ESTIMATORS[name](ended_otherwise, known_at(columns))

    assert np.array_equal(said[name].p50, again.p50, equal_nan=True)


@pytest.mark.slow
@each
def test_estimates_are_in_order_and_of_some_use(name, columns, said):
    found = said[name]
    told = np.isfinite(found.p10)
    late = np.flatnonzero(told)[-400:]
    truth = columns.duration[late]

    assert np.all(found.p10[told] <= found.p50[told])
    assert np.all(found.p50[told] <= found.p90[told])
    assert told.mean() > 0.5
    assert np.corrcoef(np.log1p(found.p50[late]), np.log(truth))[0, 1] > 0.3
    assert 0.6 < np.mean((found.p10[late] <= truth) & (truth <= found.p90[late])) < 0.95
    assert not found.cost_s.any()
    assert found.source == name


@each
@pytest.mark.parametrize("jobs", [0, 1, 50])
def test_few_jobs_do_no_harm(name, jobs):
    pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    few = columns_of(
        [a_trace_job(job_id=str(each), submit_time=float(each) * 100) for each in range(jobs)]
    )

    assert len(ESTIMATORS[name](few, known_at(few)).p50) == jobs


@pytest.mark.parametrize("name", ["qssf", "ebm"])
def test_without_the_library_it_says_what_to_install(name, columns, monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)

    with pytest.raises(BadInput, match=r"pip install '\S+\[sim\]'"):
        ESTIMATORS[name](columns, known_at(columns))


def test_qssf_is_a_tenth_of_history_and_the_rest_of_the_trees(columns, monkeypatch):
    monkeypatch.setattr(boosted, "rolling_mean", lambda *_: np.full(JOBS, 1000.0))
    trees = np.full(JOBS, 10.0)
    trees[0] = np.nan
    monkeypatch.setattr(boosted, "rolling", lambda *_, **__: trees)

    said = boosted.qssf(columns, known_at(columns)).p50

    assert (said[0], said[1]) == (1000.0, pytest.approx(0.1 * 1000 + 0.9 * 10))


def history_of(*rows: tuple[str, str, int, float]) -> list[float]:
    """Jobs of user, name, GPUs and duration, a day apart."""
    jobs = [
        a_trace_job(
            job_id=str(day),
            submit_time=day * 86_400.0,
            user=user,
            name=name,
            gpus=gpus,
            duration=duration,
        )
        for day, (user, name, gpus, duration) in enumerate(rows)
    ]
    columns = columns_of(jobs)
    return rolling_mean(columns, Known.of(columns, known_at(columns)), keys(columns)).tolist()


def test_history_asks_the_most_telling_jobs_first():
    said = history_of(
        ("ada", "bert_large_v1", 1, 100),
        ("ada", "segmentation", 4, 500),
        ("ada", "bert_large_v2", 4, 7),
        ("ada", "something", 4, 7),
        ("bob", "else", 1, 7),
        ("ada", "odd", 32, 7),
    )

    assert np.isnan(said[0])
    assert said[2] == 100
    assert said[3] == pytest.approx((7 + 0.8 * 500) / 1.8)
    assert said[4] == 100
    assert said[5] == pytest.approx(
        (7 + 0.8 * 7 + 0.64 * 500 + 0.512 * 100) / (1 + 0.8 + 0.64 + 0.512)
    )


def test_a_group_stands_for_users_without_names():
    jobs = [
        a_trace_job(
            job_id=str(n), user="", group=group, submit_time=n * 1e5, duration=1.0 + n, gpus=1
        )
        for n, group in enumerate("xyxy")
    ]
    columns = columns_of(jobs)

    said = rolling_mean(columns, Known.of(columns, known_at(columns)), keys(columns))

    assert said[2:].tolist() == [1, 2]


def test_a_job_that_ends_at_the_moment_of_a_submission_is_not_known_yet():
    columns = columns_of(
        [a_trace_job(job_id="1", duration=60), a_trace_job(job_id="2", submit_time=60)]
    )

    assert Known.of(columns, known_at(columns)).at_submission.tolist() == [0, 0]
    assert Known.of(columns, known_at(columns) - 0.001).at_submission.tolist() == [0, 1]


def slow_distance(one: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, start=1):
        last, row[0] = row[0], at
        for place, with_letter in enumerate(other, start=1):
            cost = last + (letter != with_letter)
            last = row[place]
            row[place] = min(cost, row[place] + 1, row[place - 1] + 1)
    return row[-1]


@settings(max_examples=200, deadline=None)
@given(st.text("ab-1", max_size=12), st.text("ab-1", max_size=12))
def test_the_distance_is_levenshteins(one, other):
    assert edit_distance(one, other) == slow_distance(one, other)


def test_names_are_similar_within_one_user():
    owner = np.array([0, 0, 1, 0, 0])
    name = Coded.of(["train_v1", "train_v2", "train_v1", "eval", "train_v1"])

    assert name_groups(owner, name).tolist() == [0, 0, 1, 2, 0]
    assert similar("resnet50_lr0.1", "resnet50_lr0.3")
    assert not similar("resnet50", "bert")
