from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from schedmate.model.wire import dumps
from schedmate.tracker.forecasting.similar_runs import time_at
from schedmate.tracker.forecasting.timeline import Timeline, profile_of


def timeline(seconds: list[float], *, began: float = 0.0) -> Timeline:
    line, at = Timeline(began=began), began
    for step, second in enumerate(seconds, 1):
        at += second
        line.add(at, step)
    return line


def test_a_short_run_is_kept_as_it_was():
    found = profile_of(timeline([5.0, 1.0, 1.0], began=100), unit="epoch", total=3, ends_by="total")
    assert found is not None
    assert [(mark.at, mark.done) for mark in found.curve] == [(5, 1), (6, 2), (7, 3)]
    assert (found.unit, found.total, found.ends_by) == ("epoch", 3, "total")
    assert (found.duration_s, found.done) == (7, 3)


def test_a_long_run_is_thinned_but_its_changes_survive():
    steps = [30.0] + [0.1] * 3000 + [0.3] * 2000 + [0.05] * 5000
    found = profile_of(timeline(steps), unit="step")
    assert found is not None
    assert len(found.curve) <= 48
    assert len(dumps(found)) < 4000
    at = 0.0
    for step, second in enumerate(steps, 1):
        at += second
        assert abs(time_at(found.curve, step) - at) < 0.02 * sum(steps)


def test_the_end_of_the_run_counts_even_if_nothing_was_counted_then():
    found = profile_of(timeline([1.0] * 10, began=50), unit="step", ended_at=75)
    assert found is not None
    assert (found.duration_s, found.done) == (25, 10)


def test_the_end_fits_in_with_many_points():
    found = profile_of(timeline([1.0] * 1000), unit="step", ended_at=1100)
    assert found is not None
    assert len(found.curve) <= 48
    assert found.duration_s == 1100


def test_nothing_counted_is_no_profile():
    assert profile_of(Timeline(began=0), unit="step", ended_at=10) is None


@given(st.lists(st.floats(0.001, 1000), min_size=1, max_size=300))
def test_every_curve_rises_and_ends_where_the_run_did(seconds: list[float]):
    line = timeline(seconds)
    found = profile_of(line, unit="step")
    assert found is not None
    assert 1 <= len(found.curve) <= 48
    assert all(a.at <= b.at and a.done < b.done for a, b in pairwise(found.curve))
    assert (found.duration_s, found.done) == (line.elapsed_s, line.done)
