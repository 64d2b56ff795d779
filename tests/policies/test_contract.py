"""What every ordering must do, whatever it orders by."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.model import BadInput
from schedmate.policies import ORDERINGS, Candidate, nice_of, ordering
from schedmate.testing.builders import a_job, a_prediction

SLURMS_LARGEST_NICE = 2147483645
TEN_YEARS_S = 10 * 365 * 86400.0
predicted_seconds = st.none() | st.floats(min_value=0, max_value=TEN_YEARS_S / 2)


@pytest.mark.parametrize("name", ORDERINGS)
@given(seconds=predicted_seconds)
def test_a_nice_number_is_a_repeatable_int_that_slurm_takes(name, seconds):
    candidate = Candidate(a_job(), a_prediction(seconds))

    nice = nice_of(ordering(name), candidate, SLURMS_LARGEST_NICE)

    assert type(nice) is int
    assert abs(nice) <= SLURMS_LARGEST_NICE
    assert nice_of(ordering(name), candidate, SLURMS_LARGEST_NICE) == nice


@pytest.mark.parametrize("name", ORDERINGS)
def test_a_job_without_any_prediction_has_its_place_too(name):
    unpredicted = ordering(name).cost(Candidate(a_job()))

    assert unpredicted == ordering(name).cost(Candidate(a_job(), a_prediction(None)))


@pytest.mark.parametrize("name", ORDERINGS)
def test_an_ordering_goes_by_its_name(name):
    assert ordering(name).name == name


def test_a_name_that_nobody_has_lists_those_there_are():
    with pytest.raises(BadInput, match=r"'shortest'.*fifo, sjf"):
        ordering("shortest")
