from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from schedmate.policies import Candidate, ordering
from schedmate.testing.builders import a_job, a_prediction


def nice(policy: str, seconds: float | None) -> int:
    return ordering(policy).nice(Candidate(a_job(), a_prediction(seconds)))


@given(seconds=st.none() | st.floats(min_value=0, max_value=1e8))
def test_fifo_prefers_nobody(seconds):
    assert nice("fifo", seconds) == 0


@given(shorter=st.floats(min_value=0, max_value=1e8), more=st.floats(min_value=1.1, max_value=1e8))
def test_sjf_puts_the_shorter_job_first(shorter, more):
    assert nice("sjf", shorter) < nice("sjf", shorter + more)


def test_sjf_puts_an_unknown_job_between_the_short_and_the_long():
    assert nice("sjf", 60) < nice("sjf", None) < nice("sjf", 86400)
