from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedmate.model import RunProfile
from schedmate.tracker.forecasting.slowdown import slowdown
from schedmate.tracker.forecasting.timeline import Timeline, profile_of

SCHEDULE = [1.0] * 300 + [1.7] * 300 + [2.5] * 400


def noisy(seconds: list[float], *, seed: int = 0, noise: float = 0.05) -> list[float]:
    chance = random.Random(seed)
    return [second * chance.lognormvariate(0, noise) for second in seconds]


def run(seconds: list[float], *, start_up_s: float = 0.0) -> Timeline:
    line, at = Timeline(began=0), start_up_s
    for step, second in enumerate(seconds, 1):
        at += second
        line.add(at, step)
    return line


def profile(seconds: list[float]) -> RunProfile:
    found = profile_of(run(seconds), unit="step", total=len(seconds))
    assert found is not None
    return found


@pytest.mark.parametrize("factor", [1.25, 1.5, 3.0])
@pytest.mark.parametrize("before", [100, 1000])
def test_a_lasting_drop_is_told_soon_with_its_time_and_size(factor: float, before: int):
    steps = noisy([1.0] * before + [factor] * max(20, before // 20))
    found = slowdown(run(steps))
    assert found is not None
    assert found.factor == pytest.approx(1 / factor, rel=0.08)
    assert found.since_s == pytest.approx(sum(steps[:before]), rel=0.05)
    assert found.against == "own"


def test_a_steady_run_has_none():
    for seed in range(20):
        assert slowdown(run(noisy([1.0] * 500, seed=seed, noise=0.2))) is None


def test_a_short_dip_is_none():
    assert slowdown(run(noisy([1.0] * 300 + [3.0] * 5))) is None
    assert slowdown(run(noisy([1.0] * 300 + [3.0] * 40 + [1.0] * 40))) is None


def test_pauses_are_none():
    steps = [41.0 if step % 100 == 0 else 1.0 for step in range(1, 1000)]
    line = Timeline(began=0)
    at = 0.0
    for step, second in enumerate(noisy(steps), 1):
        at += second
        line.add(at, step)
        assert step % 10 or slowdown(line) is None


def test_warm_up_is_none_whether_slow_or_fast():
    assert slowdown(run(noisy([9.0] * 10 + [1.0] * 200))) is None
    assert slowdown(run(noisy([0.4] * 12 + [1.0] * 200))) is None


def test_a_small_drift_is_none():
    assert slowdown(run(noisy([1 + step / 20_000 for step in range(1000)]))) is None


def test_steps_that_grow_in_the_similar_run_as_well_are_none():
    ahead = profile(noisy(SCHEDULE, seed=1))
    for seen in range(50, 1000, 50):
        assert slowdown(run(noisy(SCHEDULE[:seen], seed=2)), [ahead], total=1000) is None
    assert slowdown(run(SCHEDULE[:500])) is not None


def test_a_drop_against_the_similar_run_is_told():
    steps = SCHEDULE[:650] + [2 * second for second in SCHEDULE[650:750]]
    found = slowdown(run(noisy(steps)), [profile(SCHEDULE)], total=1000)
    assert found is not None
    assert (found.against, found.factor) == ("similar", pytest.approx(0.5, rel=0.08))
    assert found.since_s == pytest.approx(sum(steps[:650]), rel=0.05)


def test_a_slower_machine_is_no_drop():
    steps = [3 * second for second in SCHEDULE[:700]]
    assert slowdown(run(noisy(steps)), [profile(SCHEDULE)], total=1000) is None


def test_nothing_is_told_from_nothing():
    assert slowdown(Timeline()) is None
    assert slowdown(Timeline(), [profile([1.0] * 10)]) is None
    assert slowdown(run([1.0, 2.0]), [RunProfile(unit="step", curve=())]) is None


@settings(max_examples=50)
@given(st.lists(st.tuples(st.floats(), st.floats()), max_size=60))
def test_any_points_are_survived(points: list[tuple[float, float]]):
    line = Timeline()
    for at, done in points:
        line.add(at, done)
    similar = [one for one in [profile_of(line, unit="step")] if one]
    for found in (slowdown(line), slowdown(line, similar)):
        assert found is None or 0 <= found.factor < 1
