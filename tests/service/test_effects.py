"""What came of SchedMate's actions, from what the store keeps."""

from __future__ import annotations

import pytest

from schedmate.model import Action, DecisionReason, JobState, PastRun, Request
from schedmate.service.views.effects import effects_of
from schedmate.testing.builders import a_job

NOW = 1_000_000.0
HOUR = 3600.0


def ran(store, job_id, *, submitted, started, hours, gpus=1, user="ada", **parts):
    job = a_job(
        **{
            "id": job_id,
            "user": user,
            "state": JobState.COMPLETED,
            "submit_time": NOW + submitted * HOUR,
            "start_time": NOW + started * HOUR,
            "end_time": NOW + (started + hours) * HOUR,
            "request": Request(gpus=gpus, partition="gpu"),
            **parts,
        }
    )
    store.keep_run(PastRun(job=job))


def done(store, kind, job_id, *, state="done", **parts):
    action = Action(**{"kind": kind, "job_id": job_id, "attempt": 0, "why": "", **parts})
    store.intend(action, at=NOW)
    store.settle(action, state, at=NOW)


def test_nothing_was_done(store):
    ran(store, "1", submitted=-9, started=-8, hours=1)
    found = effects_of(store, NOW)
    assert (found.retries, found.succeeded_share, found.overtaken) == (0, None, 0)
    assert (found.rerun_gpu_hours, found.gained_hours, found.lost_hours) == (0, 0, 0)


def test_retries_and_what_became_of_them(store):
    for number, state in enumerate((JobState.COMPLETED, JobState.FAILED, JobState.COMPLETED)):
        job_id = str(number)
        done(store, "requeue", job_id)
        ran(store, job_id, submitted=-9, started=-9, hours=1, state=JobState.FAILED)
        again = {"submitted": -8, "started": -7, "hours": 2, "gpus": 4}
        ran(store, job_id, restarts=1, state=state, **again)
    done(store, "requeue", "8")
    running = a_job(
        id="8",
        state=JobState.RUNNING,
        restarts=1,
        start_time=NOW - HOUR,
        request=Request(gpus=2),
    )
    store.keep_listed([running])
    done(store, "requeue", "8", attempt=1, reason=DecisionReason(code="reverted"))
    done(store, "requeue", "9", state="failed")
    ran(store, "9", submitted=-8, started=-7, hours=5, restarts=1)  # by hand

    found = effects_of(store, NOW)

    assert (found.retries, found.retries_ended, found.retries_succeeded) == (4, 3, 2)
    assert found.succeeded_share == pytest.approx(2 / 3)
    assert found.rerun_gpu_hours == pytest.approx(3 * 4 * 2 + 2)


def overtaken(store, **first):
    """A long job of ben's is set back behind a short one of ada's on two GPUs."""
    done(store, "set_nice", "long", value=1000)
    ran(store, "long", submitted=-9, started=-5, hours=4, gpus=2, user="ben")
    short = {"submitted": -8, "started": -6, "hours": 1, "gpus": 2, **first}
    done(store, "set_nice", "short", value=10)
    ran(store, "short", **short)


def test_waiting_moves_from_one_user_to_another(store):
    overtaken(store)
    found = effects_of(store, NOW)
    assert (found.compared, found.overtaken) == (2, 1)
    assert found.gained_hours == pytest.approx(4)  # what the long one takes of both GPUs
    assert found.lost_hours == pytest.approx(1)
    assert (found.users_gained, found.users_lost) == (1, 1)


@pytest.mark.parametrize(
    "first",
    [
        {"submitted": -9.5},  # it was there first
        {"started": -4},  # it started later
        {"request": Request(gpus=2, partition="other")},
        {"restarts": 1},
    ],
)
def test_what_is_not_because_of_us_does_not_count(store, first):
    overtaken(store, **first)
    assert effects_of(store, NOW).overtaken == 0


def test_an_order_that_was_only_observed_moves_no_one(store):
    overtaken(store)
    for job_id, value in (("long", 1000), ("short", 10)):
        action = Action(kind="set_nice", job_id=job_id, attempt=0, why="", value=value)
        store.settle(action, "observed", at=NOW)
    assert effects_of(store, NOW).overtaken == 0


def test_what_is_long_ago_does_not_count(store):
    overtaken(store)
    done(store, "requeue", "1")
    found = effects_of(store, NOW + 30 * 86_400)
    assert (found.retries, found.compared) == (0, 0)
