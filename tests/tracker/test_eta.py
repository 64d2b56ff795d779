from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.model import Spread
from schedmate.tracker.eta import Pace, Point, estimate, passed


def run(seconds: list[float], *, start: float = 0.0, begin: float = 0.0) -> list[Point]:
    """Points after each step of the given duration."""
    points, at = [Point(begin, start)], begin
    for step, second in enumerate(seconds, 1):
        at += second
        points.append(Point(at, start + step))
    return points


def test_start_up_does_not_count():
    found = estimate(run([60.0] + [1.0] * 99), remaining=900)
    assert found is not None
    assert found.rate_per_s == pytest.approx(1.0)
    assert found.remaining_s.p50 == pytest.approx(900)


def test_a_resumed_run_is_as_fast_as_a_fresh_one():
    fresh, resumed = run([2.0] * 50), run([2.0] * 50, start=4000, begin=1e9)
    assert estimate(fresh, 100) == estimate(resumed, 100)


def test_a_lasting_change_of_speed_is_followed():
    found = estimate(run([1.0] * 300 + [2.0] * 600), remaining=100)
    assert found is not None
    assert found.remaining_s.p50 == pytest.approx(200, rel=0.02)


def test_pauses_come_again():
    steps = [1.0 if step % 10 else 11.0 for step in range(1, 201)]
    found = estimate(run(steps), remaining=200)
    assert found is not None
    assert found.remaining_s.p50 == pytest.approx(400, rel=0.1)


def test_a_suspended_machine_does_not_spoil_the_rate():
    found = estimate(run([1.0] * 80 + [100_000.0] + [1.0] * 19), remaining=100)
    assert found is not None
    assert found.remaining_s.p50 < 200


def test_nothing_is_told_from_nothing():
    assert estimate([], 10) is None
    assert estimate([Point(0, 0)], 10) is None


def test_few_points_give_a_wide_spread():
    few, many = estimate(run([1.0, 1.0]), 100), estimate(run([1.0] * 100), 100)
    assert few is not None
    assert many is not None
    assert few.remaining_s.p90 - few.remaining_s.p10 > 10
    assert many.remaining_s.p90 - many.remaining_s.p10 < 5


def test_spread_covers_about_what_it_says():
    chance = random.Random(7)
    hits = 0
    for _ in range(300):
        steps = [chance.lognormvariate(0, 0.6) for _ in range(400)]
        found = estimate(run(steps[:80]), remaining=320)
        assert found is not None
        hits += found.remaining_s.p10 <= sum(steps[80:]) <= found.remaining_s.p90
    assert 0.65 <= hits / 300 <= 0.95


@given(
    st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e6)), max_size=60),
    st.floats(0, 1e12),
    st.booleans(),
)
def test_any_points_give_a_valid_spread_or_none(
    raw: list[tuple[float, float]], remaining: float, whole: bool
):
    pace = Pace()
    for at, done in raw:
        pace.add(at, done, whole_seconds=whole)
    found = estimate(pace.points, remaining)
    assert found is None or found.rate_per_s > 0


def test_points_are_bounded_and_keep_the_rate():
    pace = Pace()
    for step in range(100_000):
        pace.add(step * 0.5, float(step), whole_seconds=False)
    assert len(pace.points) <= 257
    found = estimate(pace.points, 10)
    assert found is not None
    assert found.rate_per_s == pytest.approx(2.0)


def test_a_clock_set_back_starts_the_points_anew():
    pace = Pace()
    for at, done in ((100, 1), (110, 2), (50, 3), (60, 4)):
        pace.add(at, done, whole_seconds=False)
    assert list(pace.points) == [Point(50, 3), Point(60, 4)]


def test_of_one_printed_second_the_first_line_counts_of_one_look_the_last():
    printed, looked = Pace(), Pace()
    for done in (1, 2, 3):
        printed.add(7, done, whole_seconds=True)
        looked.add(7, done, whole_seconds=False)
    assert list(printed.points) == [Point(7, 1)]
    assert list(looked.points) == [Point(7, 3)]


def test_time_that_passes_shortens_the_rest_down_to_nothing():
    assert passed(Spread(10, 20, 30), 15) == Spread(0, 5, 15)
