from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.model.wire import dumps, loads
from schedmate.tracker.forecasting.timeline import Timeline


def timeline(*points: tuple[float, float], began: float | None = None, **how: bool) -> Timeline:
    line = Timeline(began=began)
    for at, done in points:
        line.add(at, done, **how)
    return line


def steps(seconds: list[float], *, start: float = 0.0, began: float = 0.0) -> Timeline:
    """Points after each step of the given duration."""
    line, at = Timeline(began=began), began
    line.add(at, start)
    for step, second in enumerate(seconds, 1):
        at += second
        line.add(at, start + step)
    return line


def as_pairs(line: Timeline) -> list[tuple[float, float]]:
    return [(point.at, point.done) for point in line.points]


def test_times_count_from_the_beginning_of_the_run():
    assert as_pairs(timeline((1060, 1), (1070, 2), began=1000)) == [(60, 1), (70, 2)]
    assert as_pairs(timeline((1060, 1), (1070, 2))) == [(0, 1), (10, 2)]


def test_of_one_printed_second_the_first_line_counts_of_one_look_the_last():
    same = [(7.0, 1.0), (7.0, 2.0), (7.0, 3.0)]
    assert as_pairs(timeline(*same, began=0, whole_seconds=True)) == [(7, 1)]
    assert as_pairs(timeline(*same, began=0)) == [(7, 3)]


def test_a_count_that_does_not_rise_is_no_point():
    assert as_pairs(timeline((1, 5), (2, 5), (3, 4), (4, 6), began=0)) == [(1, 5), (4, 6)]


def test_a_clock_set_back_goes_on_at_the_usual_pace():
    line = timeline((100, 1), (110, 2), (120, 3), (50, 4), (60, 5), began=100)
    assert as_pairs(line) == [(0, 1), (10, 2), (20, 3), (30, 4), (40, 5)]
    assert line.since_newest_s(65) == 5


def test_a_machine_that_learns_the_date_has_not_waited_for_decades():
    line = timeline((10, 1), (20, 2), (1.7e9, 3), (1.7e9 + 10, 4), began=0)
    assert line.elapsed_s == pytest.approx(40)


def test_how_old_the_newest_point_is_is_never_negative():
    line = timeline((10, 1), (20, 2), began=0)
    assert line.since_newest_s(26) == 6
    assert line.since_newest_s(3) == 0
    assert Timeline(began=100).since_newest_s(130) == 30
    assert Timeline().since_newest_s(130) == 0


def test_an_announced_pause_is_set_apart():
    line = timeline((1, 1), (2, 2), began=0)
    line.pause("evaluating")
    line.add(32, 3)
    line.add(33, 4)
    assert [(pause.kind, pause.done, pause.gap_s) for pause in line.pauses] == [
        ("evaluating", 3, 30)
    ]
    assert [point.paused_s for point in line.points] == [0, 0, 30, 30]


def test_a_pause_that_nobody_announced_is_found_once_it_is_over():
    line = steps([1.0] * 20 + [40.0])
    assert line.pauses == []
    line.add(61, 22)
    assert [(pause.kind, pause.done, pause.gap_s) for pause in line.pauses] == [("unknown", 21, 40)]
    assert line.points[-1].paused_s == 40
    assert line.points[-3].paused_s == 0


def test_a_lasting_change_of_speed_is_no_pause():
    assert steps([1.0] * 20 + [3.0] * 40).pauses == []


def test_a_count_that_starts_again_keeps_the_clock():
    line = steps([1.0] * 20)
    line.restart()
    line.add(30, 1)
    assert as_pairs(line) == [(30, 1)]
    assert line.pauses == []


def test_memory_is_bounded_and_both_ends_stay_dense():
    line = Timeline(began=0)
    for step in range(100_000):
        line.add(step * 0.512345, float(step))
        if step % 50 == 0:
            line.pause("evaluating")
    assert len(dumps(line)) < 10_000
    dones = [point.done for point in line.points]
    assert dones[0] == 0
    assert dones[-5:] == [99_995, 99_996, 99_997, 99_998, 99_999]
    assert max(after - before for before, after in pairwise(dones)) < 6_000


def test_it_goes_on_after_a_restart():
    line = steps([1.0, 2.0] * 100 + [50.0, 1.0])
    assert loads(Timeline, dumps(line)) == line


anything = st.floats(allow_nan=True, allow_infinity=True)


@given(st.lists(st.tuples(anything, anything, st.booleans(), st.booleans()), max_size=60))
def test_any_points_leave_rising_times_and_counts(
    added: list[tuple[float, float, bool, bool]],
):
    line = Timeline()
    for at, done, whole, paused in added:
        line.add(at, done, whole_seconds=whole)
        if paused:
            line.pause("checkpointing")
    for before, after in pairwise(line.points):
        assert before.at <= after.at
        assert before.done < after.done
    assert all(math.isfinite(value) for point in line.points for value in point)
