"""EASY and conservative backfill: who may overtake whom."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings

from policies.runs import rows, starts
from schedmate.model import BadInput
from schedmate.policies.backfill import Conservative, Easy
from schedmate.policies.disciplines import FreeProfile, PlannedEnds
from schedmate.policies.fifo import Fifo

BOTH = pytest.mark.parametrize("policy", [Easy, Conservative])
few = settings(max_examples=40)


class Noting(Conservative):
    """Writes down the first time that was reserved for each job."""

    def begin(self, cluster):
        super().begin(cluster)
        self.first = {}

    def arrived(self, job):
        super().arrived(job)
        self._new = True

    def decide(self):
        cluster = self._cluster
        profile = FreeProfile(cluster.now, cluster.free, self._ends.freed(cluster.now))
        for _, job in self._queue:
            gpus, plan = cluster.jobs.gpus[job], cluster.jobs.planned[job]
            begin = profile.earliest(gpus, plan)
            profile.reserve(gpus, begin, begin + plan)
            self.first.setdefault(job, begin)
        super().decide()


class Promising(Easy):
    """Writes down what is reserved for each who is first in line, when he first is."""

    def begin(self, cluster):
        super().begin(cluster)
        self.first = {}

    def _backfill(self, head):
        cluster = self._cluster
        by, _ = self._ends.reservation(cluster.jobs.gpus[head], cluster.free, cluster.now)
        self.first.setdefault(head, by)
        super()._backfill(head)


@few
@given(jobs=rows())
def test_easy_never_delays_the_first_in_line_where_plans_are_exact(jobs):
    policy = Promising()

    began = starts(policy, jobs)

    assert all(began[job] <= by for job, by in policy.first.items())


def test_what_is_free_beside_a_reservation_is_given_away_once():
    first_ends, first_in_line, one_of_two_that_are_long = (0, 10, 2), (1, 5, 3), (2, 100, 1)
    jobs = [first_ends, first_in_line, one_of_two_that_are_long, one_of_two_that_are_long]
    assert starts(Easy(), jobs) == [0, 10, 2, 15]


@few
@given(jobs=rows())
def test_conservative_starts_everybody_when_first_reserved_where_plans_are_exact(jobs):
    policy = Noting()

    began = starts(policy, jobs)

    assert began == [policy.first[job] for job in range(len(jobs))]


@few
@given(jobs=rows())
def test_conservative_delays_nobody_against_strict_order_where_plans_are_exact(jobs):
    pairs = zip(starts(Conservative(), jobs), starts(Fifo(), jobs), strict=True)
    assert all(mine <= strict for mine, strict in pairs)


@BOTH
def test_a_short_job_goes_before_a_large_one_that_must_wait_anyway(policy):
    jobs = [(0, 10, 3), (1, 5, 4), (2, 8, 1)]
    assert starts(policy(), jobs) == [0, 10, 2]


@BOTH
def test_a_long_job_does_not_if_it_would_delay_it(policy):
    jobs = [(0, 10, 3), (1, 5, 4), (2, 9, 1)]
    assert starts(policy(), jobs) == [0, 10, 15]


def test_beside_the_reservation_a_long_job_may_start():
    jobs = [(0, 10, 3), (1, 5, 3), (2, 99, 1)]
    assert starts(Easy(), jobs) == [0, 10, 2]


def test_easy_may_delay_the_second_in_line_and_conservative_may_not():
    jobs = [(0, 10, 3), (1, 5, 3), (2, 5, 4), (3, 99, 1)]
    assert starts(Easy(), jobs) == [0, 10, 102, 3]
    assert starts(Conservative(), jobs) == [0, 10, 15, 20]


@BOTH
def test_without_limits_only_what_fits_beside_the_reservation_overtakes(policy):
    endless = [math.inf] * 4
    jobs = [(0, 10, 3), (1, 5, 4), (2, 1, 1), (3, 1, 1)]
    assert starts(policy(), jobs, planned=endless) == starts(Fifo(), jobs)


def test_without_limits_easy_lets_a_job_start_beside_the_reservation():
    jobs = [(0, 10, 3), (1, 5, 3), (2, 99, 1)]
    assert starts(Easy(), jobs, planned=[math.inf] * 3) == [0, 10, 2]


@BOTH
def test_who_outlived_his_plan_is_expected_to_end_now(policy):
    """At 6 the first is late: what waits for it is planned for now, so nobody may overtake."""
    jobs = [(0, 10, 3), (1, 5, 4), (6, 2, 1)]
    assert starts(policy(), jobs, planned=[5, 5, 2]) == [0, 10, 15]


def test_a_place_further_back_lets_others_pass():
    jobs = [(0, 10, 4), (1, 5, 4), (2, 5, 4)]
    assert starts(Easy(), jobs, queue_key=[0, 50, 2]) == [0, 15, 10]
    assert starts(Conservative(), jobs, queue_key=[0, 50, 2]) == [0, 15, 10]


def test_planned_ends_that_come_together_are_free_together():
    ends = PlannedEnds()
    for job, end in enumerate([5.0, 9.0, 9.0]):
        ends.add(job, 0.0, end, 2)

    assert ends.reservation(3, 0, 1.0) == (9.0, 3)
    assert ends.reservation(3, 1, 6.0) == (6.0, 0)
    ends.remove(0)
    assert ends.reservation(3, 1, 6.0) == (9.0, 2)
    assert ends.reservation(9, 1, 6.0) == (math.inf, 0)


def test_who_stands_behind_those_planned_for_is_not_looked_at():
    jobs = [(0, 10, 3), (1, 5, 4), (2, 5, 4), (3, 2, 1)]
    assert starts(Conservative(), jobs)[3] == 3
    assert starts(Conservative(depth=2), jobs)[3] == 20

    with pytest.raises(BadInput):
        Conservative(depth=0)
