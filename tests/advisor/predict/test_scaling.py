"""Exponents are learnt from pairs of past jobs, and used for the next one."""

import math
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.predict.support import a_run, columns, record, site
from schedmate.advisor.predict.kriging import Kriging
from schedmate.advisor.predict.learning import (
    learn_again,
    learn_from_pairs,
    learn_scaling,
    learnt_scaling,
)
from schedmate.advisor.predict.lengths import startup_s, without_startup
from schedmate.advisor.predict.runs import PLACE, grouped, query_of
from schedmate.advisor.predict.scaling import PRIOR, slopes_of_task
from schedmate.model import Request
from schedmate.model.sketch import sketch_of, sketch_of_run
from schedmate.testing.history import MemoryHistory


def slope(scaling, quantity, ending="steps"):
    return scaling.slopes[ending][PLACE[quantity]]


def asked(**stated):
    gpus = stated.pop("gpus", 1)
    sketch = sketch_of(
        record(**stated), user="ann", name="train", request=Request(gpus=gpus), fingerprint=None
    )
    return query_of(sketch, 0.0)


def estimate(runs, *, scaling=PRIOR, ending="steps", **stated):
    found = columns(runs)
    configurations = grouped(found, found.rows["duration"].astype(float))
    return Kriging(configurations, scaling, ending).at(asked(**stated))


@pytest.mark.parametrize("exponent", [0.5, 0.95])
def test_how_jobs_scale_with_gpus_is_learnt(exponent):
    learnt = learn_scaling(columns(site(exponent)))
    assert slope(learnt, "gpus").mean == pytest.approx(-exponent, abs=0.04)
    assert slope(learnt, "gpus").sd < slope(PRIOR, "gpus").sd
    assert slope(learnt, "steps").mean == pytest.approx(1.0, abs=0.04)


def test_single_odd_runs_do_not_move_what_is_learnt():
    runs = site(0.9)
    odd = [a_run(900 + n, 1e6, gpus=16, max_steps=1000, model="m0", dataset="d") for n in range(3)]
    assert slope(learn_scaling(columns([*runs, *odd])), "gpus").mean == pytest.approx(-0.9, abs=0.1)


def test_a_quiet_site_is_less_noisy_than_a_loud_one():
    quiet, loud = (learn_scaling(columns(site(0.8, noise=each))) for each in (0.01, 0.3))
    assert quiet.noise + quiet.repeat < (loud.noise + loud.repeat) / 5


def test_what_another_ending_taught_to_be_nothing_does_not_spoil_the_next():
    found = columns(site(0.8))
    nothing = replace(PRIOR, rough=(0.0,) * len(PRIOR.rough), unlike=(0.0,) * len(PRIOR.unlike))
    learnt = learn_from_pairs(
        grouped(found, found.rows["duration"].astype(float)), "steps", nothing
    )
    assert all(map(math.isfinite, (learnt.noise, *learnt.rough, *learnt.unlike)))


def test_without_pairs_we_believe_what_we_believed():
    assert learn_scaling(columns([a_run(1, 60, model="m", max_steps=5)])).slopes == PRIOR.slopes
    assert learn_scaling(columns([])) == PRIOR


def test_what_was_learnt_is_read_back_and_damage_is_nothing_learnt():
    history = MemoryHistory(site(0.5))
    assert learnt_scaling(history) == PRIOR
    learnt = learn_again(history, at=5.0)
    assert learnt_scaling(history) == learnt
    history.lessons = dict.fromkeys(history.lessons, '{"slopes": 3}')
    assert learnt_scaling(history) == PRIOR


def test_a_length_never_seen_is_scaled_and_less_sure():
    runs = [a_run(n, 100, max_steps=1000, model="m") for n in range(3)]
    near = estimate(runs, max_steps=1000, model="m")
    far = estimate(runs, max_steps=64_000, model="m")
    assert math.exp(near.log_s) == pytest.approx(100, rel=0.01)
    assert math.exp(far.log_s) == pytest.approx(6400, rel=0.05)
    assert far.sd > near.sd


def test_the_nearest_configuration_counts_most():
    runs = [
        a_run(n, 1000.0 / gpus, gpus=gpus, max_steps=1000, model="m")
        for n, gpus in enumerate((1, 2, 4, 8, 16))
    ]
    found = columns(runs)
    configurations = grouped(found, found.rows["duration"].astype(float)).columns
    weights = estimate(runs, gpus=8, max_steps=1000, model="m").weights
    assert configurations.quantities[weights.argmax(), PLACE["gpus"]] == pytest.approx(math.log(8))


def test_one_that_fits_to_nothing_around_it_loses_its_vote():
    runs = [a_run(n, 100 + n, max_steps=1000 + n, model="m") for n in range(8)]
    odd = a_run(50, 50_000, max_steps=1003, model="m")
    assert math.exp(estimate([*runs, odd], max_steps=1004, model="m").log_s) < 130


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
    found = columns(runs)
    learnt = learn_scaling(found)
    answer = estimate(runs, scaling=learnt, gpus=4, max_steps=77, model="m1")
    assert math.isfinite(answer.log_s)
    assert 0 < answer.sd < 100


def test_runs_of_two_lengths_tell_start_up():
    lengths, unknown = np.array([10.0, 40.0, 20.0]), np.full(3, np.nan)
    assert startup_s(lengths, 60 + 8 * lengths, unknown) == pytest.approx(60)
    assert startup_s(lengths, 8 * lengths, unknown) == 0.0
    assert startup_s(None, 8 * lengths, np.array([np.nan, 5.0, 7.0])) == 6.0


def test_start_up_never_takes_all_of_a_run():
    left = without_startup(np.array([10.0, 100.0]), np.array([np.nan, 30.0]), 50.0)
    assert left.tolist() == [pytest.approx(1.0), 70.0]


def spaced(runs):
    """A day apart, so that each has ended when the next begins."""
    jobs = [replace(run.job, start_time=n * 86400.0) for n, run in enumerate(runs)]
    ends = [
        replace(job, end_time=job.start_time + run.duration_s)
        for job, run in zip(jobs, runs, strict=True)
    ]
    return [replace(run, job=job) for run, job in zip(runs, ends, strict=True)]


def test_far_matches_count_where_they_were_good_and_not_where_they_misled():
    pick = random.Random(4)
    takes = {"short": 60, "long": 60_000}
    data = [pick.choice(("short", "long")) for _ in range(150)]
    told = [a_run(n, takes[each], model=f"m{n}", dataset=each) for n, each in enumerate(data)]
    untold = [
        a_run(n, pick.choices((600, 60_000), (8, 2))[0], model=f"m{n}", dataset="d")
        for n in range(150)
    ]
    good, misled = (learn_scaling(columns(spaced(runs))) for runs in (told, untold))
    assert good.no_match_below <= PRIOR.no_match_below < misled.no_match_below
    assert learn_scaling(columns(spaced(untold[:10]))).no_match_below == PRIOR.no_match_below


@pytest.mark.parametrize(
    ("task", "chip", "share"),
    [("language_modeling", "h100", 0.36), ("image_classification", "h100", 0.50)],
)
def test_arithmetic_counts_for_products_of_matrices_and_memory_for_convolutions(task, chip, share):
    """An H100 has 3.2 times the FLOP/s of an A100, and 1.6 times its bandwidth."""
    kept = [a_run(n, 1000, gpu_type="a100 80gb", model="m", dataset="d", task=task) for n in (1, 2)]
    asked = a_run(3, 1, gpu_type=chip, model="m", dataset="d", task=task)
    runs = columns(kept)
    found = grouped(runs, runs.rows["duration"].astype(float))
    query = query_of(sketch_of_run(asked), 120.0)
    answer = math.exp(Kriging(found, PRIOR, "open").at(query).log_s)
    assert answer == pytest.approx(1000 * share, rel=0.03)


def test_of_several_tasks_none_decides():
    several = columns([a_run(1, 5, task="language_modeling"), a_run(2, 5, task="graph")])
    assert not slopes_of_task(several).any()
    assert slopes_of_task(several.take([0])).any()
