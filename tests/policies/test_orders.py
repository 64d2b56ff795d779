"""Strict and greedy orders of waiting, and those that stop running jobs."""

from __future__ import annotations

import math

import pytest

from policies.runs import run, starts
from schedmate.model import BadInput
from schedmate.policies import POLICIES
from schedmate.policies.attained_service import Tiresias
from schedmate.policies.disciplines import UNKNOWN_S, ExpectedDurations
from schedmate.policies.fifo import Fifo, FirstFit
from schedmate.policies.shortest_first import Sjf, Srsf, Srtf, Ssf
from schedmate.simulator.engine.cluster import Nodes


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_goes_by_its_name(name):
    assert POLICIES[name]().name == name


def test_strictly_nobody_overtakes_and_greedily_who_fits_does():
    jobs = [(0, 10, 3), (1, 5, 4), (2, 99, 1)]
    assert starts(Fifo(), jobs) == [0, 10, 15]
    assert starts(FirstFit(), jobs) == [0, 101, 2]


def test_places_make_the_line():
    jobs = [(0, 10, 4), (1, 5, 4), (2, 5, 4)]
    assert starts(Fifo(), jobs, queue_key=[0, 9, 2]) == [0, 15, 10]
    assert starts(FirstFit(), jobs, queue_key=[0, 9, 2]) == [0, 15, 10]


def test_the_shortest_and_the_smallest_go_first():
    jobs = [(0, 10, 4), (1, 4, 4), (2, 5, 2)]
    assert starts(Sjf(), jobs) == [0, 10, 14]
    assert starts(Ssf(), jobs) == [0, 15, 10]
    assert starts(Sjf(discipline="first_fit"), jobs) == [0, 10, 14]


def test_expectations_count_not_the_truth():
    jobs = [(0, 10, 4), (1, 4, 4), (2, 5, 4)]
    assert starts(Sjf(), jobs, expected=[10, 9, 3]) == [0, 15, 10]


def test_a_job_nobody_speaks_of_stands_at_the_median_so_far():
    expectation = ExpectedDurations([math.nan, 10.0, 30.0, math.nan, 20.0, 5.0, math.nan])
    told = [expectation.submitted(job) for job in range(7)]

    assert told == [UNKNOWN_S, 10.0, 30.0, 10.0, 20.0, 5.0, 10.0]
    assert [expectation.submitted(job) for job in (0, 3, 2)] == [UNKNOWN_S, 10.0, 30.0]


def test_less_to_go_stops_more_to_go_and_the_restart_is_paid():
    jobs = [(0, 20, 4), (5, 5, 4)]
    outcome, _ = run(Srtf(), jobs, restart_s=2.0)

    assert outcome.start.tolist() == [0, 5]
    assert outcome.end.tolist() == [27, 10]
    assert outcome.preemptions.tolist() == [1, 0]
    assert outcome.gpu_seconds.tolist() == [4 * 22, 4 * 5]


def test_service_counts_gpus_too():
    jobs = [(0, 20, 1), (5, 8, 4)]
    assert starts(Srtf(), jobs) == [0, 5]
    assert starts(Srsf(), jobs) == [0, 20]


def test_a_job_nobody_speaks_of_is_stopped_as_the_median_is():
    jobs = [(0, 5, 1), (1, 50, 4), (7, 2, 4), (8, 40, 4)]
    outcome, _ = run(Srtf(), jobs, expected=[5, math.nan, 2, 40])
    assert outcome.preemptions.tolist() == [0, 1, 0, 0]
    assert outcome.start[3] == 57


def test_a_restart_that_was_cut_short_is_paid_anew():
    jobs = [(0, 20, 4), (5, 5, 4), (11, 3, 4)]
    outcome, _ = run(Srtf(), jobs, restart_s=4.0)
    assert outcome.end.tolist() == [14 + 4 + 15, 10, 14]
    assert outcome.preemptions.tolist() == [2, 0, 0]


def test_after_its_share_a_job_makes_room_at_that_very_moment():
    jobs = [(0, 100, 2), (1, 10, 4)]
    outcome, _ = run(Tiresias(threshold=30.0), jobs)
    assert outcome.start.tolist() == [0, 15]
    # the second crosses after 7.5 s and runs on: no job is stopped for another of its queue
    assert outcome.preemptions.tolist() == [1, 0]
    assert outcome.end.tolist() == [110.0, 25.0]


def test_a_third_of_a_second_is_no_reason_to_ask_for_ever():
    jobs = [(0, 100, 3), (1 / 3, 10, 3), (2 / 7, 10, 3)]
    outcome, log = run(Tiresias(threshold=0.1 + 0.2), jobs, restart_s=0.1)
    assert len(log) < 20
    assert outcome.end.max() < 130


def test_who_waited_long_enough_is_promoted():
    jobs = [(0, 30, 4), *[(5 + 4 * number, 4, 4) for number in range(20)]]
    plain, _ = run(Tiresias(threshold=40.0), jobs)
    promoted, _ = run(Tiresias(threshold=40.0, promote_knob=2.0), jobs)
    assert plain.end[0] > 100 > promoted.end[0]


def test_who_was_promoted_begins_anew():
    """Served 40 s, then again 40 s for every 80 s of waiting, once a job of 30 s has ended."""
    jobs = [(0, 120, 1), *[(40 + 10 * number, 30, 1) for number in range(60)]]
    outcome, _ = run(Tiresias(threshold=40.0, promote_knob=2.0), jobs, gpus=1)
    assert outcome.end[0] == 300


@pytest.mark.parametrize("settings", [{"threshold": -1.0}, {"promote_knob": 0.0}])
def test_settings_without_sense_are_refused(settings):
    with pytest.raises(BadInput):
        Tiresias(**settings)


@pytest.mark.parametrize("name", ["first-fit", "easy", "conservative", "srtf", "tiresias"])
def test_gpus_on_scattered_nodes_hold_nobody_up_for_ever(name):
    jobs = [(0, 9, 3), (0, 7, 3), (1, 5, 2), (2, 5, 1), (3, 5, 4)]
    outcome, _ = run(POLICIES[name](), jobs, cluster=Nodes([4, 4]))
    assert (outcome.end > 0).all()
