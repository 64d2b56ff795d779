"""Lucid and Gavel start and end everybody when a slow clock does."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from policies.runs import Shared, rows, run
from policies.slowly import Partition, gavel, lucid, table
from schedmate.policies.gavel import Gavel
from schedmate.policies.lucid import Lucid
from schedmate.policies.lucid_parts import Profiling

thorough = settings(max_examples=80, deadline=None)
USE = [0.1, 0.5, 0.9]


@thorough
@given(jobs=rows(most=10), scores=st.lists(st.integers(0, 2), min_size=10, max_size=10))
def test_lucid(jobs, scores):
    few = Profiling(seconds=6.0, share=0.25, most=0.25, most_gpus=4)
    physics = Shared(
        [gpus for _, _, gpus in jobs], use=[USE[score] for score in scores], packed=1.0
    )
    jobs = [(submit, seconds + 100 * (gpus > 2), gpus) for submit, seconds, gpus in jobs]
    outcome, _ = run(Lucid(profiling=few, few_an_hour=0), jobs, gpus=8, physics=physics)
    slow = table(jobs, scores)
    lucid(slow, Partition(gpus=8, aside=2, seconds=6, most=4))

    assert outcome.start.tolist() == [job.start for job in slow]
    assert outcome.end.tolist() == [job.end for job in slow]


@thorough
@given(jobs=rows(), length=st.integers(2, 9))
def test_gavel(jobs, length):
    outcome, _ = run(Gavel(round_s=float(length)), jobs)
    slow = table(jobs)
    gavel(slow, 4, length=length)

    assert outcome.start.tolist() == [job.start for job in slow]
    assert outcome.end.tolist() == [job.end for job in slow]
