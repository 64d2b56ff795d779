from __future__ import annotations

import pytest

from schedmate.core.retry import plan_retry
from schedmate.model import REASONS, Blame, Evidence
from schedmate.testing.builders import a_diagnosis


@pytest.mark.parametrize("reason", REASONS)
def test_what_usually_helps_decides_about_the_first_retry(reason):
    plan = plan_retry({0: a_diagnosis(reason)}, 0, budget=2)

    assert plan.again is (REASONS[reason].retry != "no")


@pytest.mark.parametrize(
    ("attempt", "budget", "again"),
    [(0, 0, False), (0, 1, True), (1, 1, False), (1, 2, True), (2, 2, False), (7, 2, False)],
)
def test_the_budget_ends_it(attempt, budget, again):
    plan = plan_retry({attempt: a_diagnosis()}, attempt, budget=budget)

    assert plan.again is again
    if not again:
        assert plan.why == f"node_failure: all {budget} retries are used up"


@pytest.mark.parametrize(
    ("now", "again"),
    [
        (a_diagnosis("segfault"), False),
        (a_diagnosis("segfault", summary="other words about it"), False),
        (a_diagnosis("segfault", evidence=(Evidence("rank7.log", 9, "other place"),)), True),
        (a_diagnosis("segfault", blame=Blame(nodes=("n2",))), True),
        (a_diagnosis("cuda_error"), True),
    ],
    ids=["same", "same-other-words", "other-place", "other-node", "other-reason"],
)
def test_the_same_failure_at_the_same_place_twice_stops_it(now, again):
    plan = plan_retry({0: a_diagnosis("segfault"), 1: now}, 1, budget=5)

    assert plan.again is again


def test_a_line_that_moved_is_still_the_same_place():
    before = a_diagnosis("segfault", evidence=(Evidence("a.log", 10, "boom"),))
    now = a_diagnosis("segfault", evidence=(Evidence("a.log", 12, "boom"),))

    assert not plan_retry({0: before, 1: now}, 1, budget=5).again


def test_only_waiting_for_a_service_backs_off_and_longer_each_time():
    first = plan_retry({0: a_diagnosis("storage_io")}, 0, budget=3)
    second = plan_retry({1: a_diagnosis("storage_io")}, 1, budget=3)

    assert (first.delay_s, second.delay_s) == (60, 120)
    assert plan_retry({0: a_diagnosis("segfault")}, 0, budget=3).delay_s == 0
