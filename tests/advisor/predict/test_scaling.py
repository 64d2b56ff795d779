"""How times change with what jobs state: believed within bounds, and bent by the runs at hand."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.predict.support import a_run, columns, record, site
from schedmate.advisor.predict.neighbours import distances
from schedmate.advisor.predict.runs import query_of
from schedmate.advisor.predict.scaling import scale, slopes_of_task
from schedmate.model import Request
from schedmate.model.sketch import sketch_of, sketch_of_run


def asked(**stated):
    gpus = stated.pop("gpus", 1)
    sketch = sketch_of(
        record(**stated), user="ann", name="train", request=Request(gpus=gpus), fingerprint=None
    )
    return query_of(sketch, 0.0)


def scaled_to(runs, query, ending="steps"):
    found = columns(runs)
    by_words, by_numbers = distances(query, found)
    logs = np.log(found.rows["duration"].astype(float))
    return scale(found, logs, query, (by_words[0], by_numbers[0]), ending)


def estimate(runs, *, ending="steps", **stated):
    return scaled_to(runs, asked(**stated), ending)


@pytest.mark.parametrize("exponent", [0.7, 0.95])
def test_how_jobs_scale_with_gpus_is_seen_in_the_runs_at_hand(exponent):
    """Of one kind, none of them on as many GPUs as the job."""
    runs = [run for run in site(exponent, kinds=1, of_each=40) if run.job.request.gpus != 16]
    one = [run for run in runs if run.job.request.gpus == 1]
    steps = [run.workload.max_steps.value for run in one]
    pace = np.median([run.duration_s / each for run, each in zip(one, steps, strict=True)])
    answer = estimate(runs, gpus=16, max_steps=2000, model="m0", dataset="d")
    assert math.exp(answer.log_s) == pytest.approx(pace * 2000 / 16**exponent, rel=0.12)


def test_a_length_never_seen_is_scaled_and_less_sure():
    runs = [a_run(n, 100, max_steps=1000, model="m") for n in range(3)]
    near = estimate(runs, max_steps=1000, model="m")
    far = estimate(runs, max_steps=64_000, model="m")
    assert math.exp(near.log_s) == pytest.approx(100, rel=0.01)
    assert math.exp(far.log_s) == pytest.approx(6400, rel=0.05)
    assert far.sd > near.sd


def test_the_nearest_runs_count_most():
    """They contradict each other: those of the same size are right."""
    runs = [
        a_run(n, 1000.0 if gpus == 8 else 9000.0, gpus=gpus, max_steps=1000, model="m")
        for n, gpus in enumerate((1, 2, 4, 8, 16))
    ]
    assert math.exp(estimate(runs, gpus=8, max_steps=1000, model="m").log_s) < 1500


def test_one_that_fits_to_nothing_around_it_loses_its_vote():
    runs = [a_run(n, 100 + n, max_steps=1000 + n, model="m") for n in range(8)]
    odd = a_run(50, 50_000, max_steps=1003, model="m")
    assert math.exp(estimate([*runs, odd], max_steps=1004, model="m").log_s) < 130


def test_of_own_runs_that_only_the_date_tells_apart_the_newest_count():
    """A code that became faster every week: what it took last is nearest."""
    runs = [
        a_run(10_000 * week, 1000 * 0.9**week, code=f"c{week}", max_steps=1000, model="m")
        for week in range(12)
    ]
    query = query_of(sketch_of_run(a_run(130_000, 1, code="new", max_steps=1000, model="m")), 8e6)
    assert math.exp(scaled_to(runs, query).log_s) < 1000 * 0.9**7


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(1e-2, 1e8), st.integers(0, 10**5), st.integers(1, 10**9), st.integers(0, 3)
        ),
        min_size=1,
        max_size=12,
    )
)
def test_any_history_gives_a_finite_answer(facts):
    runs = [
        a_run(n, seconds, gpus=gpus, max_steps=steps, model=f"m{kind}")
        for n, (seconds, gpus, steps, kind) in enumerate(facts)
    ]
    answer = estimate(runs, gpus=4, max_steps=77, model="m1")
    assert math.isfinite(answer.log_s)
    assert 0 < answer.sd < 100


@pytest.mark.parametrize(
    ("task", "chip", "share"),
    [("language_modeling", "h100", 0.36), ("image_classification", "h100", 0.50)],
)
def test_arithmetic_counts_for_products_of_matrices_and_memory_for_convolutions(task, chip, share):
    """An H100 has 3.2 times the FLOP/s of an A100, and 1.6 times its bandwidth."""
    kept = [a_run(n, 1000, gpu_type="a100 80gb", model="m", dataset="d", task=task) for n in (1, 2)]
    asked = a_run(3, 1, gpu_type=chip, model="m", dataset="d", task=task)
    answer = scaled_to(kept, query_of(sketch_of_run(asked), 120.0), "open")
    assert math.exp(answer.log_s) == pytest.approx(1000 * share, rel=0.03)


def test_of_several_tasks_none_decides():
    several = columns([a_run(1, 5, task="language_modeling"), a_run(2, 5, task="graph")])
    assert not slopes_of_task(several).any()
    assert slopes_of_task(several.take([0])).any()
