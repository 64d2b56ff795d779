"""What the advisor says in a simulation: from the past alone, and better with workload."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from schedmate.advisor.predict.cohort_model import CohortModel
from schedmate.advisor.predict.jobs import EndedJob, Facts
from schedmate.simulator.estimators import advisor
from schedmate.simulator.synthetic import draw_workload
from schedmate.simulator.traces.columns import STATES, columns_of
from schedmate.simulator.traces.synthetic import synthetic

JOBS = 160


@pytest.fixture(scope="module")
def columns():
    return columns_of(synthetic(JOBS, gpus=64, load=0.5, seed=5).jobs)


@pytest.fixture(scope="module")
def workload(columns):
    return draw_workload(columns, seed=5)


@pytest.fixture(scope="module")
def known_at(columns):
    return columns.submit + columns.duration


@pytest.fixture(scope="module")
def said(columns, known_at, workload):
    return advisor.estimate(columns, known_at, workload)


@pytest.mark.slow
def test_something_is_said_of_every_job_in_order(said):
    assert (said.p10 <= said.p50).all()
    assert (said.p50 <= said.p90).all()
    assert (said.p90 > 0).all()
    assert said.source == "advisor"


@pytest.mark.slow
def test_what_has_not_ended_yet_tells_nothing(columns, known_at, workload, said):
    asked = 100
    open_ = known_at >= columns.submit[asked]
    extra = np.where(open_, 3 * columns.duration + 1000.0, 0.0)
    other = replace(columns, duration=columns.duration + extra)

    changed = advisor.estimate(other, known_at + extra, workload)

    before = np.arange(JOBS) <= asked
    assert open_[before].any()
    np.testing.assert_allclose(changed.p50[before], said.p50[before], rtol=1e-6)
    np.testing.assert_allclose(changed.p90[before], said.p90[before], rtol=1e-6)


@pytest.mark.slow
def test_what_ends_as_a_job_is_submitted_was_not_known_to_it(columns, known_at, workload):
    first = replace(columns, duration=columns.duration.copy())
    asked = 120
    some = int(np.flatnonzero(known_at[:asked] < columns.submit[asked])[-1])
    late = known_at.copy()
    late[some] = columns.submit[asked]
    first.duration[some] += late[some] - known_at[some]
    later = late.copy()
    later[some] += 500.0
    second = replace(first, duration=first.duration.copy())
    second.duration[some] += 500.0

    one, other = (
        advisor.estimate(each, known, workload) for each, known in ((first, late), (second, later))
    )

    np.testing.assert_allclose(one.p50[: asked + 1], other.p50[: asked + 1], rtol=1e-6)


def without_a_past(columns):
    """Durations in relation to nothing, and no limits: no history can tell them."""
    shuffled = np.random.default_rng(0).permutation(columns.duration)
    return replace(columns, duration=shuffled, limit=np.full(len(columns), np.inf))


@pytest.mark.slow
def test_what_jobs_are_tells_more_than_who_asked_where_the_code_explains_it(columns, known_at):
    columns = without_a_past(columns)
    workload = draw_workload(columns, seed=5, explained=0.9)
    with_code = advisor.estimate(columns, known_at, workload)
    without = advisor.estimate(workload.visible_columns(columns), known_at)

    one, other = (
        np.abs(np.log(np.maximum(each.p50, 1.0) / np.maximum(columns.duration, 1.0)))[JOBS // 4 :]
        for each in (with_code, without)
    )

    assert one.mean() < 0.95 * other.mean()


def test_a_bare_trace_without_limits_is_predicted_by_the_sites_model(columns, known_at):
    columns = replace(columns, limit=np.full(JOBS, np.inf))
    said = advisor.estimate(columns, known_at)

    runs = [
        EndedJob(
            Facts(
                job_id=str(at),
                user=columns.user[at],
                name=columns.name[at],
                partition=columns.group[at],
                gpus=int(columns.gpus[at]),
                nodes=int(columns.nodes[at]),
                submitted_at=float(columns.submit[at]),
            ),
            float(columns.submit[at]),
            float(np.nextafter(known_at[at], np.inf)),
            STATES[columns.status[at]],
        )
        for at in range(JOBS)
    ]
    theirs = {run.facts.job_id: spread.p50 for run, spread in CohortModel().replayed(runs)}
    expected = np.array([theirs[str(at)] for at in range(JOBS)])
    near = np.abs(np.log1p(said.p50) - np.log1p(expected))
    assert np.median(near) < 0.1
    assert near.max() < 1.0
    assert not said.cost_s.any()


def test_reading_and_asking_take_time(columns, known_at, workload):
    some = np.arange(20)
    few = columns.take(some)

    said = advisor.estimate(few, known_at[:20], draw_workload(few, seed=1), llm_s=2.0)

    assert (said.cost_s == 2.0 + advisor.READ_S).all()


def test_of_no_jobs_nothing_is_said():
    none = columns_of([])

    assert len(advisor.estimate(none, np.array([]), draw_workload(none, seed=1)).p50) == 0
