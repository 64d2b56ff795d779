"""Spreads cover what they say, whatever was said of them before."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.advisor.predict.calibration import Calibration, Levels, Places
from schedmate.model import BadInput, Spread

seconds = st.floats(0, 1e8, allow_nan=False)
spreads = st.tuples(seconds, seconds, seconds).map(lambda three: Spread(*sorted(three)))


def lognormal(rng: random.Random, middle: float, sigma: float) -> float:
    return middle * math.exp(rng.gauss(0, sigma))


def coverage(raw_sigma: float, real_sigma: float, *, bias: float = 1.0) -> tuple[float, ...]:
    rng = random.Random(1)
    calibration = Calibration()
    below = [0, 0, 0]
    for n in range(1500):
        middle = math.exp(rng.uniform(3, 12))
        width = math.exp(1.2816 * raw_sigma)
        raw = Spread(middle / width, middle, middle * width)
        real = lognormal(rng, middle * bias, real_sigma)
        said = calibration.calibrated("history", raw)
        if n >= 500:
            for at, limit in enumerate((said.p10, said.p50, said.p90)):
                below[at] += real <= limit
        calibration.observed("history", raw, real)
    return tuple(count / 1000 for count in below)


@pytest.mark.parametrize("raw_sigma", [0.1, 0.5, 2.0])
@pytest.mark.parametrize("bias", [1.0, 3.0])
def test_too_narrow_too_wide_and_biased_spreads_come_to_cover_as_they_say(raw_sigma, bias):
    p10, p50, p90 = coverage(raw_sigma, 0.5, bias=bias)
    assert p10 == pytest.approx(0.1, abs=0.03)
    assert p50 == pytest.approx(0.5, abs=0.05)
    assert p90 == pytest.approx(0.9, abs=0.03)


def test_a_middle_that_is_off_by_chance_is_left_where_it_is():
    """Most of the time, and moved where it is off for sure."""
    raw, left = Spread(50.0, 100.0, 200.0), {1.0: 0, 3.0: 0}
    for bias in left:
        for seed in range(40):
            rng, calibration = random.Random(seed), Calibration()
            for _ in range(60):
                calibration.observed("history", raw, lognormal(rng, 100.0 * bias, 0.5))
            left[bias] += calibration.calibrated("history", raw).p50 == pytest.approx(100.0)
    assert 25 <= left[1.0] < 40
    assert left[3.0] == 0


def covered_of_seeds(*, as_given: bool) -> float:
    """Dozens of seeds are submitted together; how far off one is, so are the others."""
    rng, calibration, covered = random.Random(2), Calibration(), []
    raw = Spread(60, 100, 166)
    for _ in range(400):
        given = calibration.calibrated("similar", raw)
        middle = lognormal(rng, 100, 0.5)
        for real in [lognormal(rng, middle, 0.05) for _ in range(24)]:
            covered.append(real <= given.p90)
            calibration.observed("similar", raw, real, calibrated=given if as_given else None)
    return sum(covered) / len(covered)


def test_seeds_submitted_together_are_judged_by_what_was_given_of_them():
    assert covered_of_seeds(as_given=True) == pytest.approx(0.9, abs=0.015)
    assert covered_of_seeds(as_given=False) < 0.885


def test_a_middle_that_may_be_right_is_left_alone():
    calibration, raw = Calibration(), Spread(60, 100, 166)
    for real in [70, 140] * 20 + [140] * 2:
        calibration.observed("similar", raw, real)
    assert calibration.calibrated("similar", raw).p50 == pytest.approx(100)


def test_follows_a_site_whose_jobs_have_become_longer():
    calibration = Calibration()
    raw = Spread(90, 100, 110)
    for _ in range(600):
        calibration.observed("similar", raw, 100)
    for _ in range(300):
        calibration.observed("similar", raw, 200)
    assert calibration.calibrated("similar", raw).p90 >= 199


def test_widens_what_has_not_been_tried_yet():
    said = Calibration().calibrated("identical", Spread(90, 100, 110))
    assert said.p10 < 90
    assert said.p50 == pytest.approx(100, rel=0.01)
    assert said.p90 > 110


def test_what_takes_no_time_may_go_on_to_take_none():
    said = Calibration().calibrated("identical", Spread(0, 0, 0))
    assert said.p10 == 0
    assert said.p90 < 1


def test_only_the_newest_pairs_are_remembered():
    old = Places(places=[0.0] * 400, lots=[1.0] * 400)
    calibration = Calibration({"identical": old})
    calibration.observed("identical", Spread(1, 2, 3), 2.0)
    kept = calibration.kinds["identical"]
    assert (len(kept.places), len(kept.lots)) == (300, 300)


def test_the_unknown_is_as_wide_below_as_above():
    said = Calibration().calibrated("identical", Spread(500, 1000, 2000))
    below, above = said.p50 / said.p10, said.p90 / said.p50
    assert below == pytest.approx(above, rel=0.02)
    assert below > 2


def test_bases_do_not_learn_from_each_other():
    calibration = Calibration()
    raw = Spread(90, 100, 110)
    before = calibration.calibrated("identical", raw)
    calibration.observed("history", raw, 5000)
    assert calibration.calibrated("identical", raw) == before
    assert [*calibration.kinds] == ["history"]


def test_a_few_odd_runs_do_not_make_the_middle_move_far():
    calibration = Calibration()
    raw = Spread(90, 100, 110)
    for _ in range(3):
        calibration.observed("identical", raw, 100_000)
    assert calibration.calibrated("identical", raw).p50 < 130


@given(pairs=st.lists(st.tuples(spreads, seconds), max_size=30), raw=spreads)
def test_gives_a_spread_whatever_it_has_seen(pairs, raw):
    calibration = Calibration()
    for said, real in pairs:
        calibration.observed("prior", said, real)
    bent = calibration.calibrated("prior", raw)
    assert bent.p10 <= bent.p50 <= bent.p90


@given(pairs=st.lists(st.tuples(spreads, seconds), max_size=10), raw=spreads)
def test_comes_back_from_the_store_as_it_went(pairs, raw):
    calibration = Calibration()
    for said, real in pairs:
        calibration.observed("same_code", said, real)
    again = Calibration.load(calibration.dump())
    assert again.calibrated("same_code", raw) == calibration.calibrated("same_code", raw)


def test_says_so_when_what_is_stored_is_something_else():
    with pytest.raises(BadInput):
        Calibration.load("[1, 2]")


def test_a_lopsided_spread_is_bent_by_the_width_of_each_side():
    """Far above and little below: what misses low by as much as it misses high is no surprise."""
    raw = Spread(90, 100, 1000)
    said = Calibration().calibrated("similar", raw)
    above, below = math.log(said.p90 / said.p50), math.log(said.p50 / said.p10)
    assert 10 * below < above

    always_low, always_high = Calibration(), Calibration()
    for _ in range(100):
        always_low.observed("similar", raw, 91)
        always_high.observed("similar", raw, 900)
    assert always_low.calibrated("similar", raw).p50 == pytest.approx(91, rel=0.05)
    assert always_high.calibrated("similar", raw).p50 == pytest.approx(900, rel=0.05)


def test_what_is_long_ago_is_forgotten_pair_by_pair():
    calibration, raw = Calibration(), Spread(90, 100, 110)
    for real in [100, 5000] * 10 + [100] * 300:
        calibration.observed("similar", raw, real)
    only_new = Calibration()
    for _ in range(300):
        only_new.observed("similar", raw, 100)
    kept, fresh = (one.kinds["similar"] for one in (calibration, only_new))
    assert len(kept.places) == 300
    assert kept.places == fresh.places


def test_shares_of_ended_jobs_are_the_levels_that_are_read_off():
    levels = Levels()
    low, high = levels.read()
    assert low < 0.1
    assert high > 0.9
    for _ in range(500):
        levels.learn(0.5, (True, False))
    assert low < levels.read()[0]
    assert levels.read()[1] < high
    assert len(levels.shares) == 400


def test_misses_move_what_is_aimed_at_within_bounds():
    levels = Levels()
    levels.learn(1.0, (True, True))
    assert levels.aimed[1] == pytest.approx(0.9 + 0.005 * 0.9)
    for _ in range(1000):
        levels.learn(1.0, (True, True))
    assert levels.aimed[1] == 0.98


def test_running_jobs_that_have_got_far_raise_the_upper_level():
    """They end above what they have passed: censored, not forgotten (Kaplan and Meier)."""
    levels = Levels(shares=[each / 100 for each in range(60)])
    _, high = levels.read()
    assert levels.read([0.0] * 20)[1] == pytest.approx(high, abs=0.02)
    assert levels.read([0.55] * 20)[1] > high + 0.02
