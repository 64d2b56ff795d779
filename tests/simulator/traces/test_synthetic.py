"""A drawn trace is like the published ones in what was published of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import pytest

from schedmate.model import BadInput
from schedmate.simulator import synthetic
from schedmate.simulator.traces.arrays import read_columns, synthetic_columns
from schedmate.simulator.traces.columns import STATES, TraceColumns, columns_of
from schedmate.simulator.traces.profiles import PROFILES, Ending, Profile

NORMAL = NormalDist()


@dataclass(frozen=True)
class Published:
    """GPU jobs in `cluster_summary.csv` of AcmeTrace (CC-BY-4.0); states are completed, cancelled
    and failed."""

    median_s: float
    mean_s: float
    gpus: float
    states: tuple[float, float, float]
    gpu_seconds_a_job: float
    gpu_time: tuple[float, float, float]


PUBLISHED = {
    "philly": Published(
        874, 18006.055, 1.928, (0.604, 0.09, 0.305), 6894717531 / 112956, (0.321, 0.294, 0.386)
    ),
    "helios": Published(
        206, 6651.681, 3.716, (0.624, 0.221, 0.155), 77997740147 / 1580464, (0.513, 0.394, 0.093)
    ),
    "acme": Published(
        122, 1414.335, 5.68, (0.497, 0.075, 0.429), 21510624587 / 663813, (0.212, 0.664, 0.124)
    ),
}
each = pytest.mark.parametrize("like", PUBLISHED)


def mean_of(profile: Profile, ending: Ending, gpus: int) -> float:
    """Of a log-normal run time that is cut off at the longest."""
    middle = math.log(ending.typical_s) + profile.growth * math.log(gpus)
    end, spread = math.log(profile.longest_s), ending.spread
    below = math.exp(middle + spread**2 / 2) * NORMAL.cdf((end - middle - spread**2) / spread)
    return below + profile.longest_s * (1 - NORMAL.cdf((end - middle) / spread))


@each
def test_a_profile_has_the_published_means_and_gpu_time(like):
    profile, published = PROFILES[like], PUBLISHED[like]
    sizes = {gpus: share / sum(profile.sizes.values()) for gpus, share in profile.sizes.items()}
    work = [
        sum(s * gpus * mean_of(profile, each, gpus) for gpus, s in sizes.items()) * each.share
        for each in profile.endings
    ]
    mean = sum(
        share * each.share * mean_of(profile, each, gpus)
        for gpus, share in sizes.items()
        for each in profile.endings
    )

    assert sum(gpus * share for gpus, share in sizes.items()) == pytest.approx(
        published.gpus, rel=0.01
    )
    assert mean == pytest.approx(published.mean_s, rel=0.02)
    assert sum(work) == pytest.approx(published.gpu_seconds_a_job, rel=0.02)
    assert [part / sum(work) for part in work] == pytest.approx(published.gpu_time, abs=0.01)


def shares(drawn: TraceColumns, weights: np.ndarray) -> list[float]:
    """By state, as in the profiles: completed, cancelled, failed."""
    return [
        float(np.sum(weights[drawn.status == STATES.index(each.state)]) / np.sum(weights))
        for each in PROFILES["philly"].endings
    ]


@pytest.fixture(scope="module")
def drawn() -> dict[str, TraceColumns]:
    return {like: synthetic_columns(300_000, gpus=4096, seed=1, like=like) for like in PUBLISHED}


@pytest.mark.slow
@each
def test_what_is_drawn_has_the_published_figures(like, drawn):
    columns, published = drawn[like], PUBLISHED[like]

    assert np.median(columns.duration) == pytest.approx(published.median_s, rel=0.08)
    assert np.mean(columns.duration) == pytest.approx(published.mean_s, rel=0.2)
    assert np.mean(columns.gpus) == pytest.approx(published.gpus, rel=0.1)
    assert shares(columns, np.ones(len(columns))) == pytest.approx(published.states, abs=0.02)
    work = columns.duration * columns.gpus
    assert shares(columns, work) == pytest.approx(published.gpu_time, abs=0.15)


@each
def test_a_user_does_the_same_again_as_in_the_cuts_of_philly_and_helios(like, drawn):
    """There, of two jobs of a user in a row 84 to 98 % have the same GPUs, 71 to 93 % end alike,
    and 35 to 54 % differ by less than a fifth in run time."""
    columns = drawn[like]
    order = np.lexsort((columns.submit, columns.user.codes))
    same_user = np.diff(columns.user.codes[order]) == 0
    ratio = np.abs(np.diff(np.log(columns.duration[order])))[same_user]

    assert 0.7 < np.mean((np.diff(columns.gpus[order]) == 0)[same_user]) < 0.99
    assert 0.6 < np.mean((np.diff(columns.status[order]) == 0)[same_user]) < 0.95
    assert 0.33 < np.mean(ratio < math.log(1.2)) < 0.56


@each
def test_few_users_are_busy_most_of_the_time(like, drawn):
    jobs = np.sort(np.bincount(drawn[like].user.codes))[::-1]

    assert 0.3 < np.sum(jobs[: len(jobs) // 20]) / np.sum(jobs) < 0.8


@each
def test_more_comes_in_by_day(like, drawn):
    hours = np.bincount((drawn[like].submit // 3600 % 24).astype(int), minlength=24)
    expected = np.array(PROFILES[like].hours)

    assert np.corrcoef(hours, expected)[0, 1] > 0.9


@each
def test_limits_are_round_and_far_too_long(like, drawn):
    columns = drawn[like]

    assert np.all(columns.limit >= columns.duration)
    assert np.all(columns.limit % 600 == 0)
    assert 0.03 < np.median(columns.duration / columns.limit) < 0.35


@each
@pytest.mark.parametrize("load", [0.5, 1.2])
def test_the_load_is_what_was_asked_for(like, load):
    assert synthetic_columns(2000, gpus=64, load=load, like=like).load(64) == pytest.approx(
        load, rel=0.05
    )


@each
def test_columns_and_jobs_are_the_same_trace(like):
    jobs = synthetic(500, gpus=16, seed=3, like=like).jobs
    one, other = columns_of(jobs), synthetic_columns(500, gpus=16, seed=3, like=like)

    for name in ("submit", "duration", "gpus", "status", "limit", "nodes"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    for name in ("user", "group", "name", "gpu_type"):
        assert np.array_equal(getattr(one, name).codes, getattr(other, name).codes), name
        assert getattr(one, name).words == getattr(other, name).words, name
    assert one.ids == other.ids


def test_a_seed_makes_the_trace_and_nobody_asks_for_more_than_there_is():
    assert synthetic(50, gpus=4, seed=3) == synthetic(50, gpus=4, seed=3)
    assert synthetic(50, gpus=4, seed=3).jobs != synthetic(50, gpus=4, seed=4).jobs
    assert {job.gpus for job in synthetic(300, gpus=4).jobs} <= {1, 2, 4}
    assert len(synthetic(1, gpus=1).jobs) == 1


def test_the_name_says_what_it_is_like():
    assert synthetic(5, gpus=4, seed=3).name == "synthetic (seed 3)"
    assert synthetic(5, gpus=4, like="acme").name == "synthetic acme (seed 0)"
    with pytest.raises(BadInput, match="0 jobs on 4 GPUs cannot be drawn"):
        synthetic(0, gpus=4)
    with pytest.raises(BadInput, match="no profile 'venus'; known are philly, helios, acme"):
        synthetic(5, gpus=4, like="venus")


def test_a_file_is_read_into_columns(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text("job_id,user,submit_time,duration,gpus\n2,b,9,1,1\n1,a,5,2,1\n", "utf-8")

    assert read_columns(path).ids == ["1", "2"]
