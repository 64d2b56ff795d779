"""A pause: from one moment to the next nothing is done, and all goes on being watched."""

from __future__ import annotations

import json
import time
from contextlib import closing
from dataclasses import replace

import pytest
from click.testing import CliRunner

from schedmate.cli import root
from schedmate.config import Settings
from schedmate.model import DecisionReason, JobState
from schedmate.model.account import account_name
from schedmate.service.actions import Actions
from schedmate.service.daemon.assembling import assemble
from schedmate.service.records.pause import pause_of
from schedmate.service.usecases.pausing import pause, resume
from schedmate.service.wiring import open_store
from schedmate.testing.builders import a_job
from service.acting import an_action, put_job_for

DOING = ("requeue", "cancel", "set_time_limit")


@pytest.fixture
def actions(scheduler, store):
    return acting(scheduler, store)


def acting(scheduler, store):
    """As the daemon is put together."""
    paused = lambda: pause_of(store, time.time()) is not None  # noqa: E731 - as there
    return Actions(scheduler, store, "act", paused=paused)


def states(store):
    return [record.state for record in store.actions()]


@pytest.mark.parametrize("kind", DOING)
def test_what_is_decided_during_a_pause_is_recorded_and_never_done(scheduler, store, actions, kind):
    put_job_for(scheduler, kind)
    pause(store)
    for _ in range(2):
        actions.carry_out(an_action(kind), 1.0)
        actions.finish_interrupted(2.0)
        actions = acting(scheduler, store)  # it outlives the daemon
    assert (scheduler.calls, states(store)) == ([], ["observed"])
    resume(store)
    actions.carry_out(an_action(kind), 3.0)
    actions.finish_interrupted(4.0)
    assert scheduler.calls == []


def test_the_queue_is_put_in_order_after_a_pause(scheduler, store, actions):
    put_job_for(scheduler, "set_nice")
    pause(store)
    actions.carry_out(an_action("set_nice"), 1.0)
    actions.finish_interrupted(2.0)
    assert (scheduler.known["1"].nice, states(store)) == (0, ["intended"])
    resume(store)
    actions.finish_interrupted(3.0)
    assert (scheduler.known["1"].nice, states(store)) == (7, ["done"])


def test_what_was_begun_before_a_pause_goes_on_after_it(scheduler, store, actions):
    put_job_for(scheduler, "requeue")
    store.intend(an_action("requeue"), at=0.0)
    pause(store)
    actions.finish_interrupted(1.0)
    assert scheduler.calls == []
    resume(store)
    actions.finish_interrupted(2.0)
    assert [call[0] for call in scheduler.calls] == ["requeue"]


def test_a_lowered_limit_is_given_back_during_a_pause(scheduler, store, actions):
    request = replace(a_job().request, time_limit_s=60.0)
    scheduler.put(a_job(state=JobState.RUNNING, request=request))
    lowered = DecisionReason(code="limit_from_prediction", user_limit_s=600.0)
    action = an_action("set_time_limit", reason=lowered)
    store.intend(action, at=0.0)
    store.settle(action, "done", at=0.0)
    pause(store)
    back = DecisionReason(code="limit_too_short")
    actions.carry_out(an_action("set_time_limit", value=600.0, reason=back), 1.0)
    assert scheduler.known["1"].request.time_limit_s == 600.0


def test_a_pause_of_some_time_ends_by_itself(store):
    pause(store, 60.0, user="root")
    now = time.time()
    assert pause_of(store, now).by == "root"
    assert pause_of(store, now + 61) is None


def test_both_are_in_the_audit_trail(store):
    pause(store, 7200.0, user="ada")
    resume(store, user="ben")
    assert [(act.user, act.action, act.detail) for act in store.acts()] == [
        ("ben", "resume", ""),
        ("ada", "pause", "for 7200 s"),
    ]


@pytest.fixture
def state_dir(tmp_path, monkeypatch):
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("SCHEDMATE_SCHEDULER", "local")
    return tmp_path / "state"


def run(*words):
    result = CliRunner().invoke(root, words)
    assert result.exit_code == 0, result.output
    return result.output


def test_verbs_work_without_a_daemon_and_status_shows_it(state_dir):
    assert "changes nothing" in run("pause", "--for", "2h")
    shown = run("status")
    assert f"paused by {account_name()}" in shown
    assert "for another" in shown
    found = json.loads(run("status", "--json"))
    assert found["paused"]["by"] == account_name()
    assert json.loads(run("resume", "--json")) == {"schema": "schedmate.pause/1", "paused": None}
    assert "paused" not in run("status")


def test_without_a_daemon_the_status_does_not_speak_of_jobs_as_they_are_now(state_dir):
    assert "jobs             none, as a daemon last saw them; now: schedmate jobs" in run("status")


def test_a_daemon_that_starts_during_a_pause_keeps_it(state_dir):
    run("pause")
    settings = Settings(state_dir=state_dir, mode="act")
    with assemble(settings) as daemon:
        daemon.cycle(time.time())
        assert daemon._actions._paused()
        run("resume")
        assert not daemon._actions._paused()


@pytest.mark.parametrize("words", ["2", "2w", "-1h", "0s", "500d", "now"])
def test_a_time_that_is_none_is_refused(state_dir, words):
    result = CliRunner().invoke(root, ["pause", f"--for={words}"])
    assert result.exit_code == 2
    assert "such as 30m, 2h or 1d" in result.output


@pytest.mark.processes
def test_a_server_elsewhere_that_does_not_answer_is_not_paused_here(state_dir, monkeypatch):
    monkeypatch.setenv("SCHEDMATE_SERVER", "http://203.0.113.1:9")
    monkeypatch.setattr("schedmate.cli._site._CONNECT_S", 0.1)
    result = CliRunner().invoke(root, ["pause"])
    assert result.exception is not None
    assert "run this on the daemon's machine" in str(result.exception)
    assert not (state_dir / "schedmate.sqlite3").exists()


def test_a_server_here_that_does_not_answer_is_paused_in_its_store(state_dir, monkeypatch):
    monkeypatch.setenv("SCHEDMATE_SERVER", f"unix:{state_dir}/none.sock")
    run("pause")
    with closing(open_store(Settings(state_dir=state_dir))) as store:
        assert pause_of(store, time.time()) is not None
