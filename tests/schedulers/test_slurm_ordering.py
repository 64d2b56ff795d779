import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.schedulers.slurm.changes import objections
from schedmate.schedulers.slurm.grouping import task_ranges
from schedmate.schedulers.slurm.ordering import Allowance


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@given(st.sets(st.integers(0, 60)))
def test_ranges_are_these_numbers_and_no_others(numbers):
    found = set()
    for part in filter(None, task_ranges(numbers).split(",")):
        low, _, high = part.partition("-")
        found |= set(range(int(low), int(high or low) + 1))
    assert found == numbers


def test_ranges_are_short():
    assert task_ranges([7, 0, 1, 3, 2]) == "0-3,7"


@given(st.integers(1, 1000), st.lists(st.tuples(st.floats(0, 100), st.integers(0, 2000))))
def test_no_minute_has_more_than_its_updates(a_minute, wishes):
    clock, taken = Clock(), []
    allowance = Allowance(a_minute, clock)
    for pause, wanted in wishes:
        clock.now += pause
        taken.append((clock.now, allowance.take(wanted)))
    for end, _ in taken:
        within = sum(count for at, count in taken if end - 60 < at <= end)
        assert within <= 1.5 * a_minute + 1


def test_what_was_not_allowed_is_allowed_later():
    clock = Clock()
    allowance = Allowance(60, clock)
    assert allowance.take(100) == 30
    assert allowance.take(1) == 0
    clock.now += 10
    assert allowance.take(100) == 10


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("Invalid job id specified for job 12", {"12": "Invalid job id specified"}),
        ("12_0: Job has already finished", {"12_0": "Job has already finished"}),
        ("Access/permission denied for job 12_[0-9]", {"12": "Access/permission denied"}),
        ("12_1-200: No error", {}),
        ("something else", {}),
    ],
)
def test_objections_by_job(line, found):
    assert objections([line]) == found
