"""A start that depends on an end that is unknown is unknown as well."""

from __future__ import annotations

import pytest

from schedmate.model import JobState, Request
from schedmate.service.views.expected_start import expected_starts
from schedmate.service.views.job_view import JobView
from schedmate.testing.builders import a_job

NOW = 1000.0


def running(job_id, node, *, limit_s=None, partition="main"):
    return JobView(
        job=a_job(
            id=job_id,
            state=JobState.RUNNING,
            nodes=(node,),
            start_time=NOW - 100,
            request=Request(partition=partition, time_limit_s=limit_s),
        ),
        diagnoses={},
    )


def waiting(job_id, *required, reason="Priority", partition="main"):
    return JobView(
        job=a_job(
            id=job_id,
            state=JobState.PENDING,
            reason=reason,
            submit_time=NOW - 50,
            request=Request(partition=partition, required_nodes=required, time_limit_s=30.0),
        ),
        diagnoses={},
    )


def starts(*views, capacity=2):
    return expected_starts(views, {"main": capacity, "other": capacity}, NOW)


@pytest.mark.parametrize("partition", ["main", "other"])
def test_a_required_node_whose_run_has_no_known_end_makes_the_start_unknown(partition):
    held = running("1", "node0", partition=partition)

    assert starts(held, waiting("2", "node0"), waiting("3", "node0", "node1")) == {}


def test_a_required_node_is_free_as_its_runs_end_and_is_then_in_use():
    held = running("1", "node0", limit_s=160.0)

    found = starts(held, waiting("2", "node0"), waiting("3", "node0"), waiting("4", "node1"))

    assert found == {"2": 60.0, "3": 90.0, "4": 0.0}


def test_jobs_behind_one_that_requires_a_node_start_on_others():
    held = running("1", "node0")

    assert starts(held, waiting("2", "node0"), waiting("3")) == {"3": 0.0}


def test_what_the_scheduler_has_no_room_for_does_not_start_now():
    """What ran at once before is only taken for what there is."""
    stuck, behind = waiting("2", reason="Resources"), waiting("3")

    assert starts(running("1", "node0"), stuck, behind, capacity=9) == {}
    assert starts(stuck, behind, capacity=9) == {}
    assert starts(running("1", "node0", limit_s=160.0), stuck, behind, capacity=9) == {
        "2": 60.0,
        "3": 90.0,
    }


def test_without_such_a_reason_what_is_free_is_used_in_order():
    held = running("1", "node0", limit_s=160.0)

    assert starts(held, waiting("2"), waiting("3")) == {"2": 0.0, "3": 30.0}


@pytest.mark.parametrize("reason", ["QOSMaxJobsPerUserLimit", "ReqNodeNotAvail", "Licenses"])
def test_a_job_that_waits_for_more_than_its_turn_has_no_known_start(reason):
    assert starts(waiting("2", reason=reason), waiting("3")) == {"3": 0.0}
