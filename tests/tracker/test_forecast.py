from __future__ import annotations

import random
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.model import Mark, RunProfile, Spread
from schedmate.tracker.forecasting.forecast import Forecast, capped, forecast, passed
from schedmate.tracker.forecasting.timeline import Timeline, profile_of


def run(seconds: list[float], *, start: float = 0.0, began: float = 0.0) -> Timeline:
    """Points after each step of the given duration."""
    line, at = Timeline(began=began), began
    line.add(at, start)
    for step, second in enumerate(seconds, 1):
        at += second
        line.add(at, start + step)
    return line


def finished(seconds: list[float], *, total: float | None = None, ends_by="total") -> RunProfile:
    total = len(seconds) if total is None else total
    found = profile_of(run(seconds), unit="step", total=total, ends_by=ends_by)
    assert found is not None
    return found


def rest(timeline: Timeline, total: float | None, *similar: RunProfile, **how: float) -> float:
    found = forecast(timeline, total=total, similar=similar, **how)
    assert found is not None
    assert found.remaining_s is not None
    return found.remaining_s.p50


class TestOwn:
    def test_start_up_and_warm_up_do_not_count(self):
        found = forecast(run([60.0] + [5.0] * 3 + [1.0] * 96), total=1000)
        assert found is not None
        assert found.remaining_s is not None
        assert found.rate_per_s == pytest.approx(1.0, rel=0.01)
        assert found.remaining_s.p50 == pytest.approx(900, rel=0.01)
        assert (found.total, found.ends_by, found.basis) == (1000, "total", "own")

    def test_a_warm_up_of_many_steps_does_not_count_either(self):
        slow = [3.0 - 2.0 * step / 60 for step in range(60)]
        assert rest(run(slow + [1.0] * 140), 2000) == pytest.approx(1800, rel=0.015)

    def test_a_resumed_run_is_as_fast_as_a_fresh_one(self):
        fresh, resumed = run([2.0] * 50), run([2.0] * 50, start=4000, began=1e9)
        assert rest(fresh, 150) == pytest.approx(rest(resumed, 4150))

    def test_a_lasting_change_of_speed_is_followed(self):
        assert rest(run([1.0] * 300 + [2.0] * 100), 500) == pytest.approx(200, rel=0.02)

    def test_a_short_dip_is_not_followed(self):
        assert rest(run([1.0] * 300 + [3.0] * 4), 1304) == pytest.approx(1000, rel=0.05)

    def test_a_slow_drift_is_followed(self):
        drift = [1.0 + step / 1000 for step in range(1000)]
        assert rest(run(drift), 1100) == pytest.approx(200, rel=0.06)

    @pytest.mark.parametrize("seen", [205, 255, 395])
    def test_unannounced_pauses_come_again(self, seen: int):
        steps = [1.0 if step % 50 else 21.0 for step in range(1, 1001)]
        assert rest(run(steps[:seen]), 1000) == pytest.approx(sum(steps[seen:]), rel=0.04)

    @pytest.mark.parametrize("evaluations", [1, 2, 3])
    def test_announced_pauses_come_again_even_after_one(self, evaluations: int):
        line, at = Timeline(began=0), 0.0
        for step in range(1, 100 * evaluations + 10):
            at += 61.0 if step % 100 == 1 and step > 1 else 1.0
            line.add(at, step)
            if step % 100 == 0:
                line.pause("evaluating")
        left = 1000 - (100 * evaluations + 9) + 60 * (10 - evaluations)
        assert rest(line, 1000) == pytest.approx(left, rel=0.02)

    def test_the_check_before_the_first_step_is_not_expected_every_step(self):
        line = Timeline(began=0)
        line.add(0, 0)
        line.pause("evaluating")
        for step in range(1, 50):
            line.add(30.0 + step, step)
        assert rest(line, 149) == pytest.approx(100, rel=0.02)

    @pytest.mark.parametrize("jump", [100_000.0, -3600.0, 4e8])
    def test_a_jump_of_the_clock_does_not_spoil_the_rate(self, jump: float):
        line = Timeline(began=0)
        for step in range(100):
            line.add(step + (jump if step >= 80 else 0.0), step)
        assert rest(line, 199) == pytest.approx(100, rel=0.02)

    @pytest.mark.parametrize(
        ("second", "close"),
        [(0.013, 0.25), (0.13, 0.02), (0.9, 0.02), (1.1, 0.02), (1.6, 0.02), (2.7, 0.02)],
    )
    def test_times_in_whole_seconds_are_enough(self, second: float, close: float):
        line = Timeline(began=0)
        for step in range(300):
            line.add(float(int(3 + second * step)), step, whole_seconds=True)
        assert rest(line, 3000) == pytest.approx(second * (3000 - line.done), rel=close)

    def test_points_of_many_steps_each_are_enough(self):
        line = Timeline(began=0)
        for step in range(0, 3000, 100):
            line.add(20 + 0.2 * step + 5.0 * (step // 500), step)
        assert rest(line, 10_000) == pytest.approx(0.2 * 7100 + 5.0 * 15, rel=0.02)

    def test_nothing_is_told_from_nothing(self):
        assert forecast(Timeline(), total=10) is None
        assert forecast(run([]), total=10) is None

    def test_without_a_total_only_the_speed_is_told(self):
        found = forecast(run([0.5] * 20), total=None)
        assert found is not None
        assert (found.remaining_s, found.total, found.ends_by) == (None, None, "unknown")
        assert found.rate_per_s == pytest.approx(2)

    def test_few_points_give_a_wide_spread(self):
        assert width(forecast(run([1.0, 1.0]), total=100)) > 0.2
        assert width(forecast(run([1.0] * 50), total=500)) < 0.1

    def test_time_that_passes_counts_up_to_what_is_usual_between_points(self):
        line = run([10.0] * 20)
        assert rest(line, 40, now=204.0) == pytest.approx(rest(line, 40) - 4)
        assert rest(line, 40, now=1000.0) == pytest.approx(rest(line, 40) - 10)

    def test_spread_covers_about_what_it_says(self):
        chance = random.Random(7)
        hits = 0
        for _ in range(200):
            steps = [chance.lognormvariate(0, 0.6) for _ in range(400)]
            found = forecast(run(steps[:80]), total=400)
            assert found is not None
            assert found.remaining_s is not None
            hits += found.remaining_s.p10 <= sum(steps[80:]) <= found.remaining_s.p90
        assert 0.65 <= hits / 200 <= 0.95


def width(found: Forecast | None) -> float:
    assert found is not None
    assert found.remaining_s is not None
    return (found.remaining_s.p90 - found.remaining_s.p10) / found.remaining_s.p50


STAGES = [1.0] * 400 + [1.8] * 300 + [2.6] * 300
"""Steps that grow by a schedule."""


class TestSimilar:
    def test_the_rest_of_a_similar_run_tells_the_rest(self):
        found = forecast(run(STAGES[:150]), total=1000, similar=[finished(STAGES)])
        assert found is not None
        assert found.remaining_s is not None
        assert found.basis == "similar"
        assert found.remaining_s.p50 == pytest.approx(sum(STAGES[150:]), rel=0.01)

    def test_it_is_scaled_by_the_own_pace(self):
        slower = run([3 * second for second in STAGES[:150]])
        expected = 3 * sum(STAGES[150:])
        assert rest(slower, 1000, finished(STAGES)) == pytest.approx(expected, rel=0.01)

    def test_and_to_the_own_total(self):
        shorter = [second for step, second in enumerate(STAGES) if step % 2]
        likely = rest(run(shorter[:80]), 500, finished(STAGES))
        assert likely == pytest.approx(sum(shorter[80:]), rel=0.02)

    def test_of_several_the_one_that_went_the_same_way_counts_most(self):
        others = [[1.0, 3.0] * 500, [0.5] * 100 + [4.0] * 900]
        similar = [finished(steps) for steps in (others[0], STAGES, others[1])]
        assert rest(run(STAGES[:200]), 1000, *similar) == pytest.approx(sum(STAGES[200:]), rel=0.05)

    def test_one_that_went_another_way_does_not_count(self):
        unlike = finished([1.0] * 50 + [9.0] * 50 + [2.0] * 50 + [30.0] * 850)
        found = forecast(run([1.0] * 200), total=1000, similar=[unlike])
        assert found is not None
        assert found.basis == "own"

    def test_a_lasting_slow_down_is_followed_within_the_similar_shape(self):
        packed = STAGES[:200] + [2 * second for second in STAGES[200:]]
        likely = rest(run(packed[:300]), 1000, finished(STAGES))
        assert likely == pytest.approx(sum(packed[300:]), rel=0.03)

    def test_runs_that_were_cut_off_teach_the_cap(self):
        similar = [
            finished([second] * 600, total=1000, ends_by="unknown") for second in (1.0, 1.001)
        ]
        similar.append(profile_of(run([0.8] * 750), unit="step", total=1000, ends_by="unknown"))
        found = forecast(run([0.9] * 100), total=1000, similar=[one for one in similar if one])
        assert found is not None
        assert found.remaining_s is not None
        assert found.ends_by == "cap"
        assert found.remaining_s.p50 == pytest.approx(600 - 90, rel=0.01)

    def test_runs_that_stopped_early_teach_the_end(self):
        similar = [
            finished([1.0] * count, total=1000, ends_by="early_stop") for count in (400, 440)
        ]
        found = forecast(run([1.0] * 100), total=1000, similar=similar)
        assert found is not None
        assert found.remaining_s is not None
        assert found.ends_by == "early_stop"
        assert found.total == pytest.approx(420)
        assert found.remaining_s.p50 == pytest.approx(320, rel=0.01)

    def test_a_run_that_came_to_its_total_did_not_stop_early_whatever_its_curve_shows(self):
        """The clock of a bar counts whole seconds: the last steps of a short run are not in it."""
        short = [finished([0.1] * count, total=count + 9) for count in (111, 151)]
        found = forecast(run([0.1] * 3000), total=6000, similar=short)
        assert found is not None
        assert found.remaining_s is not None
        assert found.ends_by == "total"
        assert found.remaining_s.p50 == pytest.approx(300, rel=0.05)

    def test_without_a_total_the_similar_runs_that_were_longer_tell_the_end(self):
        similar = [whole_run(seconds) for seconds in (50, 300, 320, 340)]
        found = forecast(run([1.0] * 100), total=None, similar=similar)
        assert found is not None
        assert found.remaining_s is not None
        assert found.remaining_s.p50 == pytest.approx(220, rel=0.01)
        assert found.ends_by == "unknown"

    def test_a_run_without_any_count_is_measured_by_its_time(self):
        found = forecast(Timeline(began=1000), total=None, similar=[whole_run(300)], now=1100)
        assert found is not None
        assert found.remaining_s is not None
        assert found.rate_per_s is None
        assert found.remaining_s.p50 == pytest.approx(200)

    def test_beyond_all_similar_runs_nothing_is_told(self):
        assert forecast(Timeline(began=0), total=None, similar=[whole_run(300)], now=400) is None

    def test_profiles_of_nothing_are_left_out(self):
        empty = RunProfile(unit="step", curve=())
        assert rest(run([1.0] * 100), 200, empty) == pytest.approx(100, rel=0.01)


def whole_run(seconds: float) -> RunProfile:
    """A run of which only the duration is known."""
    return RunProfile(unit="step", curve=(Mark(0, 0), Mark(seconds, 0)))


class TestCap:
    def test_a_cap_that_comes_first_is_the_end(self):
        found = forecast(run([1.0] * 100), total=1000, cap_s=400)
        assert found is not None
        assert found.remaining_s == Spread(294, 300, 306), "a run checks its cap between two steps"
        assert found.ends_by == "cap"

    def test_a_cap_that_comes_later_changes_nothing_but_the_worst_case(self):
        free, within = (forecast(run([1.0] * 100), total=1000, cap_s=cap) for cap in (None, 2000))
        assert free == within

    def test_without_a_total_the_cap_is_all_there_is(self):
        found = forecast(Timeline(began=1000), total=None, cap_s=500, now=1100)
        assert found is not None
        assert found.remaining_s is not None
        assert (found.remaining_s.p50, found.ends_by) == (400, "cap")


def test_time_that_passes_shortens_the_rest_down_to_nothing():
    assert passed(Spread(10, 20, 30), 15) == Spread(0, 5, 15)
    assert capped(Spread(10, 20, 30), 15) == Spread(10, 15, 15)


durations = st.lists(st.floats(0.01, 100), min_size=1, max_size=60)
profiles = st.lists(
    st.builds(finished, durations, total=st.one_of(st.none(), st.floats(1, 200))), max_size=3
)


@given(durations, st.floats(0, 200), profiles, st.one_of(st.none(), st.floats(0, 1e4)))
def test_any_run_gives_a_valid_spread_or_none(
    seconds: list[float], total: float, similar: list[RunProfile], now: float | None
):
    for known in (total, None):
        found = forecast(run(seconds), total=known, similar=similar, now=now)
        if found is not None and found.remaining_s is not None:
            assert 0 <= found.remaining_s.p10 <= found.remaining_s.p50 <= found.remaining_s.p90
            assert 0 <= found.confidence <= 1


@given(
    st.lists(st.tuples(st.floats(), st.floats(), st.booleans()), max_size=50), st.floats(0, 1e18)
)
def test_any_points_are_survived(points: list[tuple[float, float, bool]], total: float):
    line = Timeline()
    for at, done, whole in points:
        line.add(at, done, whole_seconds=whole)
    similar = [one for one in [profile_of(line, unit="step")] if one]
    for known in (total, None):
        found = forecast(line, total=known, similar=similar, now=total)
        assert found is None or found.rate_per_s is None or found.rate_per_s > 0


@given(durations, st.sampled_from([0.25, 8.0, 1024.0]))
def test_another_unit_of_time_changes_nothing_else(seconds: list[float], scale: float):
    plain = rest_or_none(run(seconds), 200)
    scaled = rest_or_none(run([scale * second for second in seconds]), 200)
    assert scaled == pytest.approx(plain * scale, rel=1e-6)


@given(durations, st.sampled_from([0.25, 8.0, 1024.0]))
def test_another_unit_of_the_count_changes_nothing(seconds: list[float], scale: float):
    line = Timeline(began=0)
    for step, at in enumerate(accumulate(seconds, initial=0.0)):
        line.add(at, step * scale)
    assert rest_or_none(line, 200 * scale) == pytest.approx(
        rest_or_none(run(seconds), 200), rel=1e-6
    )


@given(durations, st.floats(60, 1000), st.floats(1, 1000))
def test_more_to_do_takes_longer(seconds: list[float], total: float, more: float):
    assert rest_or_none(run(seconds), total) <= rest_or_none(run(seconds), total + more)


def rest_or_none(timeline: Timeline, total: float) -> float:
    found = forecast(timeline, total=total)
    return 0.0 if found is None or found.remaining_s is None else found.remaining_s.p50


@pytest.mark.parametrize("each", [0.37, 0.51, 0.68, 0.9, 1.3])
def test_looks_that_catch_now_one_step_and_now_two_do_not_tell_another_speed(each: float):
    timeline = Timeline(began=0.0)
    for second in range(1, 30):
        timeline.add(float(second), float(int(second / each)))
    answer = forecast(timeline, total=200.0)
    assert answer is not None
    assert answer.remaining_s is not None
    assert answer.remaining_s.p50 == pytest.approx((200 - timeline.done) * each, rel=0.08)
