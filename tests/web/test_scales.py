"""Curves hold what a log prints, whatever that is: every finite number has its place."""

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.design import scale
from schedmate.web.charts import line_chart

NUMBERS = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=6)


@given(NUMBERS, st.booleans())
def test_every_number_has_a_place(values, from_zero):
    drawn = scale.numbers(values, from_zero=from_zero)

    assert drawn.low < drawn.high
    assert all(0 <= drawn(value) <= 1 for value in values)
    assert len(drawn.ticks) < 20


@pytest.mark.parametrize(
    "values", [[1e-13, 3e-13], [5e-324, 0.0], [1e308, -1e308], [2.0, 2.0], [1e16, 1e16 + 2]]
)
def test_a_curve_of_extreme_numbers_is_drawn(values):
    assert line_chart("loss", list(enumerate(values)), along="count") is not None


@pytest.mark.parametrize("along", ["count", "time", "clock"])
@given(NUMBERS)
def test_a_curve_along_any_numbers_is_drawn(along, places):
    limit = 253402300799 if along == "clock" else 1e308
    kept = sorted(min(max(place, 0.0), limit) for place in places)

    assert line_chart("loss", [(place, 1.0) for place in kept], along=along) is not None


def test_moments_of_another_year_have_it():
    then, now = 1_551_675_960.0, time.time()
    assert scale.clock(then, then + 1).label(then) == "Mar 4 2019, 05:06 UTC"
    this_year = scale.clock(now, now + 1).label(now)
    assert str(datetime.fromtimestamp(now, UTC).year) not in this_year
