from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from schedmate.policies import ORDERINGS, Candidate, nice_of, ordering
from schedmate.testing.builders import a_job, a_prediction

names = st.sampled_from(sorted(ORDERINGS))
ranges = st.integers(min_value=0, max_value=10**9)
seconds = st.floats(min_value=0, max_value=1e12)


def nice(policy: str, seconds: float | None, most: int = 1000) -> int:
    return nice_of(ordering(policy), Candidate(a_job(), a_prediction(seconds)), most)


@given(name=names, seconds=st.none() | seconds, most=ranges)
def test_a_place_is_within_the_range(name, seconds, most):
    assert 0 <= nice(name, seconds, most) <= most


@given(name=names, one=seconds, other=seconds, most=ranges)
def test_a_longer_job_never_stands_before_a_shorter_one(name, one, other, most):
    short, long = sorted([one, other])
    assert nice(name, short, most) <= nice(name, long, most)


@given(name=st.sampled_from(["sjf", "ssf"]), most=ranges)
def test_an_unknown_job_stands_in_the_middle(name, most):
    assert nice(name, None, most) == most // 2
    assert nice_of(ordering(name), Candidate(a_job()), most) == most // 2


@given(seconds=st.none() | seconds, most=ranges)
def test_fifo_prefers_none(seconds, most):
    assert nice("fifo", seconds, most) == 0


@given(
    shorter=st.floats(min_value=60, max_value=2.5e5), times=st.floats(min_value=1.2, max_value=1e8)
)
def test_a_fifth_more_shows_from_a_minute_to_a_week(shorter, times):
    """In a range of a thousand; at worst a job takes twice as long as expected."""
    longer = min(shorter * times, 7 * 86400 / 2)
    assert nice("sjf", shorter) < nice("sjf", longer)


def test_sjf_puts_an_unknown_job_between_the_short_and_the_long():
    assert nice("sjf", 60) < nice("sjf", None) < nice("sjf", 86400)
    assert nice("sjf", 0) == 0
    assert nice("sjf", 7 * 86400) == 1000
