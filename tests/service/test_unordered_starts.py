"""Jobs that started before they were ordered, where others had been set back before them."""

from __future__ import annotations

import pytest

from schedmate.model import Action, ActionRecord, JobState, Request
from schedmate.service.views.unordered_starts import count_unordered_starts
from schedmate.testing.builders import a_job

GPU = Request(partition="gpu")


def ordered(job_id, at, nice):
    action = Action(kind="set_nice", job_id=job_id, attempt=0, why="", value=float(nice))
    return ActionRecord(action=action, state="done", at=at)


def started(job_id, submitted, at, **parts):
    parts = {"state": JobState.RUNNING, "request": GPU, **parts}
    return a_job(id=job_id, submit_time=submitted, start_time=at, **parts)


WAITS = a_job(id="1", submit_time=0.0, request=GPU, nice=300)
SET_BACK = ordered("1", 10.0, 300)


@pytest.mark.parametrize(
    ("job", "records", "count"),
    [
        (started("2", 100.0, 101.0), [], 1),
        (started("2", 100.0, 101.0), [ordered("2", 120.0, 7)], 1),
        (started("2", 100.0, 140.0), [ordered("2", 120.0, 7)], 0),
        (started("2_3", 100.0, 140.0), [ordered("2", 120.0, 7)], 0),
        (started("2", 100.0, 101.0, nice=500), [], 0),  # by the submit hook
        (started("2", 100.0, 101.0, request=Request(partition="cpu")), [], 0),
        (started("2", 4.0, 5.0), [], 0),  # before the other one was set back
        (started("2", -5.0, 101.0), [], 0),  # it came first
        (started("2", 20.0, 25.0), [], 0),  # too long ago
    ],
)
def test_a_new_job_that_goes_before_one_that_was_set_back_counts(job, records, count):
    found = count_unordered_starts([WAITS, job], [SET_BACK, *records], since=50.0)
    assert found == count


def test_one_that_started_before_it_was_not_overtaken():
    before = started("1", 0.0, 90.0, nice=300)
    assert count_unordered_starts([before, started("2", 100.0, 101.0)], [SET_BACK], since=50.0) == 0
