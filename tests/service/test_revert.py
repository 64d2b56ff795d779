"""What was done is undone where it is still as we left it, and the rest is named."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest
from click.testing import CliRunner

from schedmate.cli import root
from schedmate.core import JobReverted
from schedmate.model import Action, DecisionReason, JobState, NodeState, NotFound, Request
from schedmate.service.daemon.assembling import assemble
from schedmate.service.records.attempts import past_of
from schedmate.service.records.event_log import opened
from schedmate.service.usecases.revert import revert
from schedmate.testing.builders import a_job
from schedmate.testing.scheduler import FakeScheduler
from service.place import Place

HOUR = 3600.0


def done(store, kind, at=100.0, code="shorter_first", **parts):
    reason = DecisionReason(code=code, user_limit_s=parts.pop("user_limit_s", None))
    parts = {"job_id": "1", "attempt": 0, "why": "x", "reason": reason, **parts}
    action = Action(kind=kind, **parts)
    store.intend(action, at=at)
    store.settle(action, "done", at=at)
    return action


def undone(scheduler, store, **parts):
    found = revert(scheduler, store, now=1000.0, **parts)
    return [(one.kind, one.outcome) for one in found]


def everything(store):
    """A scheduler that still shows all that was done."""
    scheduler = FakeScheduler()
    request = Request(time_limit_s=3600.0, exclude_nodes=("mine", "n1"), time_min_s=600.0)
    scheduler.put(a_job(nice=300, restarts=1, held=True, request=request))
    scheduler.node_states["n9"] = NodeState(
        name="n9", condition="drain", reason="schedmate: suspect"
    )
    done(store, "set_nice", value=300.0)
    done(
        store,
        "set_time_limit",
        value=3600.0,
        code="limit_from_prediction",
        user_limit_s=86400.0,
    )
    done(store, "set_time_min", value=600.0, code="plan_from_prediction")
    done(store, "hold", code="cannot_succeed", attempt=1)
    done(store, "requeue", exclude_nodes=("n1",), code="worth_a_retry")
    done(store, "drain", job_id="", node="n9", value=7.0, why="suspect", code="suspect_node")
    return scheduler


def test_everything_is_undone_once(store):
    scheduler = everything(store)

    assert undone(scheduler, store) == [
        ("set_nice", "undone"),
        ("set_time_limit", "undone"),
        ("set_time_min", "undone"),
        ("release", "undone"),
        ("requeue", "cannot"),
        ("requeue", "undone"),
        ("drain", "undone"),
    ]
    job = scheduler.known["1"]
    assert (job.nice, job.held) == (0, False)
    assert (job.request.time_limit_s, job.request.time_min_s) == (86400.0, None)
    assert job.request.exclude_nodes == ("mine",)
    assert scheduler.node_states["n9"].condition == "up"
    assert undone(scheduler, store) == [], "there is nothing left"


def test_the_job_is_left_alone_from_then_on(store):
    scheduler = everything(store)
    revert(scheduler, store, now=1000.0)

    assert past_of(scheduler.known["1"], store).reverted
    [event, *_] = [opened(row) for row in store.unhandled_events()]
    assert event == JobReverted(1000.0, "1")


def test_the_owners_own_number_is_restored(store):
    scheduler = FakeScheduler()
    scheduler.put(a_job(nice=307))
    reason = DecisionReason(code="owner_changed", own_nice=7, own_changes=1)
    done(store, "set_nice", value=300.0)
    done(store, "set_nice", value=307.0, reason=reason)

    [found] = revert(scheduler, store, now=1000.0)

    assert found.text == "nice 307 taken back, its owner's own 7 restored"
    assert scheduler.known["1"].nice == 7
    assert undone(scheduler, store) == []


def test_a_dry_run_changes_nothing(store):
    scheduler = everything(store)
    before = store.actions()

    found = undone(scheduler, store, dry_run=True)

    assert {outcome for _, outcome in found} == {"would_undo", "cannot"}
    assert len(found) == 7
    assert (scheduler.calls, store.actions(), store.unhandled_events()) == ([], before, [])


@pytest.mark.parametrize(("state", "waits"), [(JobState.PENDING, True), (JobState.RUNNING, False)])
def test_a_retry_that_waits_is_not_undone_and_that_is_stated(store, state, waits):
    done(store, "requeue", code="worth_a_retry")
    scheduler = FakeScheduler()
    scheduler.put(a_job(restarts=1, state=state))
    [found] = revert(scheduler, store, now=2.0)
    assert found.outcome == "cannot"
    assert ("the new one takes place unless the job is cancelled" in found.text) is waits


def test_what_a_person_changed_since_is_theirs(store):
    scheduler = everything(store)
    request = Request(time_limit_s=7200.0, exclude_nodes=("mine",), time_min_s=60.0)
    scheduler.put(a_job(nice=5, restarts=1, request=request))
    scheduler.node_states["n9"] = replace(scheduler.node_states["n9"], reason="memory replaced")

    assert undone(scheduler, store) == [
        ("set_nice", "cannot"),
        ("requeue", "cannot"),
        ("drain", "cannot"),
    ]
    assert scheduler.calls == []


def test_a_job_that_runs_or_has_ended(store):
    scheduler = everything(store)
    running = replace(scheduler.known["1"], state=JobState.RUNNING, held=False, start_time=1.0)
    scheduler.put(running)
    assert ("set_nice", "cannot") in undone(scheduler, store, dry_run=True)
    assert ("set_time_limit", "would_undo") in undone(scheduler, store, dry_run=True)

    scheduler.put(replace(running, state=JobState.COMPLETED, end_time=2.0))
    assert undone(scheduler, store, dry_run=True) == [("drain", "would_undo")]


def test_one_job_or_what_was_done_lately(store):
    scheduler = FakeScheduler()
    for job_id, at in (("1", 100.0), ("2", 900.0)):
        scheduler.put(a_job(id=job_id, nice=300))
        done(store, "set_nice", at=at, value=300.0, job_id=job_id)

    assert len(undone(scheduler, store, dry_run=True)) == 2
    assert undone(scheduler, store, job_id="1") == [("set_nice", "undone")]
    assert undone(scheduler, store, since=500.0) == [("set_nice", "undone")]
    assert scheduler.calls == [("set_nice", "1", "0"), ("set_nice", "2", "0")]


@pytest.fixture
def place(tmp_path, monkeypatch):
    place = Place(tmp_path, "assist")
    for name, value in (("STATE_DIR", tmp_path / "state"), ("MODE", "assist")):
        monkeypatch.setenv(f"SCHEDMATE_{name}", str(value))
    monkeypatch.setenv("SCHEDMATE_LOCAL__SLOTS", "1")
    monkeypatch.setenv("SCHEDMATE_LLM__ENABLED", "false")
    yield place
    place.leave()


def test_the_verb_undoes_a_place_in_the_local_queue(place):
    waiting = a_waiting_job(place)
    place.one_look()
    number = place.job(waiting).nice
    assert number < 37

    run = CliRunner().invoke(root, ["revert", "--dry-run"])
    assert f"job {waiting}: set_nice: would be undone: nice {number} taken back" in run.output
    assert place.job(waiting).nice == number
    run = CliRunner().invoke(root, ["revert", "--job", waiting, "--since", "1h", "--json"])
    assert run.exception is None, run.exception
    [one] = json.loads(run.stdout)["actions"]
    assert (one["outcome"], one["kind"], place.job(waiting).nice) == ("undone", "set_nice", 37)

    place.one_look()
    assert place.job(waiting).nice == 37, "it is left alone"


def a_waiting_job(place):
    """Behind two that run, one for each slot."""
    for _ in range(2):
        blocker = place.submit("sleep 600")
        place.looks_until(lambda job=blocker: place.job(job).state is JobState.RUNNING, "a blocker")
    return place.submit("sleep 1", nice=37)


@pytest.mark.parametrize("another_waits", [False, True])
def test_a_daemon_that_runs_leaves_alone_what_was_just_undone(place, another_waits):
    """Nor does a number come afterwards that was decided before and still waits."""
    waiting = a_waiting_job(place)
    with assemble(place.settings) as daemon:
        for _ in range(2):
            daemon.cycle(time.time())
        assert place.job(waiting).nice < 37
        if another_waits:
            number = Action(kind="set_nice", job_id=waiting, attempt=0, why="x", value=99.0)
            with place.store() as store:
                store.intend(number, at=time.time())
        run = CliRunner().invoke(root, ["revert", "--job", waiting])
        assert "its owner's own 37 restored" in run.output
        for _ in range(3):
            daemon.cycle(time.time())
            assert place.job(waiting).nice == 37
    why = CliRunner().invoke(root, ["why", waiting]).output
    assert f"job {waiting}" in why
    assert "set back" not in why
    assert "another nice number" not in why


def test_a_daemon_that_looks_while_it_is_undone_is_told_before(store):
    class LooksOn(FakeScheduler):
        def set_nice(self, job_id, nice):
            [row] = store.unhandled_events()
            assert opened(row) == JobReverted(1000.0, job_id)
            super().set_nice(job_id, nice)

    scheduler = LooksOn()
    scheduler.put(a_job(nice=300))
    done(store, "set_nice", value=300.0)
    assert undone(scheduler, store) == [("set_nice", "undone")]


def test_a_time_that_is_none_is_refused(place):
    run = CliRunner().invoke(root, ["revert", "--since", "yesterday"])
    assert "such as 30m, 1h or 2d" in str(run.exception)


def test_a_job_that_is_unknown_is_an_error(store):
    scheduler = FakeScheduler()
    scheduler.put(a_job(id="2"))
    with pytest.raises(NotFound, match="neither fake nor the history knows a job 1"):
        undone(scheduler, store, job_id="1")
    assert undone(scheduler, store, job_id="2") == []
    done(store, "set_nice", value=3.0)
    assert undone(scheduler, store, job_id="1") == []
