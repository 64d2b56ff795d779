"""Runs that go on for nothing, in the daemon: messages, stops, what is shown and counted."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from itertools import count

import pytest

from schedmate.core import DecisionLimits, DoomedLimits
from schedmate.model import (
    Action,
    DecisionReason,
    EarlyWarning,
    JobState,
    PastRun,
    Request,
)
from schedmate.service.actions import Actions
from schedmate.service.notifications.detecting import notices_in
from schedmate.service.usecases.revert import revert
from schedmate.service.views.effects import effects_of
from schedmate.service.views.job_view import JobView
from schedmate.service.views.sentences import why_sentence
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_job, a_progress
from schedmate.testing.scheduler import FakeScheduler
from service.dying import dies, look

NOW = 2000.0
HOUR = 3600.0
ENOUGH = 200
STOP = DecisionLimits(doomed=DoomedLimits(stop=frozenset({"nan"}), after_s=0.0))
LINES = [
    *(f"step {n} loss {5 - n / 100:.3f} grad_norm 1.5" for n in range(50)),
    *(f"step {n} loss nan grad_norm nan" for n in range(50, 80)),
]


def put(scheduler, log, **parts):
    request = Request(gpus=4, partition="gpu", time_limit_s=10 * HOUR)
    usual = {
        "workdir": str(log.parent),
        "logs": (str(log),),
        "request": request,
        "start_time": NOW - 300,
        "submit_time": NOW - 400,
    }
    scheduler.put(a_job(state=JobState.RUNNING, **{**usual, **parts}))


def decided(store, job_id="1"):
    return [
        (one.action.kind, one.state)
        for one in store.actions(job_id=job_id)
        if one.action.reason is not None and one.action.reason.code == "doomed"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
def test_a_run_is_stopped_once_wherever_the_daemon_dies(scratch, done):
    for step in count(1):
        scheduler, log = FakeScheduler(), scratch / "log"
        log.write_text("\n".join(LINES) + "\n")
        with closing(SqliteStore(scratch / f"store-{step}")) as store:
            put(scheduler, log)
            crashed = dies(scheduler, store, NOW, step=step, done=done, limits=STOP)
            look(scheduler, store, NOW + 1, limits=STOP)
            look(scheduler, store, NOW + 2, limits=STOP)
            assert scheduler.calls == [("cancel", "1")], step
            assert scheduler.known["1"].state is JobState.CANCELLED
            assert decided(store) == [("warn", "noted"), ("cancel", "done")], step
        if not crashed:
            break
        assert step < ENOUGH
    assert step > 8, "there were steps to die at"


@pytest.mark.parametrize(
    ("mode", "state"), [("observe", "observed"), ("assist", "observed"), ("act", "done")]
)
def test_only_mode_act_stops(store, mode, state):
    scheduler = FakeScheduler()
    scheduler.put(a_job(state=JobState.RUNNING))
    actions = Actions(scheduler, store, mode)
    actions.carry_out(stop(), NOW)
    actions.finish_interrupted(NOW)
    assert [one.state for one in store.actions()] == [state]
    assert scheduler.calls == ([("cancel", "1")] if mode == "act" else [])


def stop(kind="cancel", job_id="1", **parts):
    values = {"gpus": 4, "left_s": 2 * HOUR, "waiting": 3, "waiting_gpus": 6, **parts}
    reason = DecisionReason(
        code="doomed", failure="nan", detail="no number", line="step 50 loss nan", **values
    )
    return Action(kind=kind, job_id=job_id, attempt=0, why="no number", reason=reason)


def test_a_message_says_what_shows_it_and_how_to_end_it(store):
    store.intend(stop("warn"), at=NOW, state="noted")
    view = view_of(store, a_job(state=JobState.RUNNING))
    [notice] = notices_in(view, NOW, str, since=0.0)
    assert notice.kind == "doomed"
    assert notice.text.endswith("runs on for nothing: no number")
    assert notice.details == ("step 50 loss nan", "to end it: schedmate cancel 1")
    assert "it runs on for nothing: no number; to end it: schedmate cancel 1" in why(view)


def test_what_went_on_well_is_no_longer_stated(store):
    store.intend(stop("warn"), at=NOW, state="noted")
    job = a_job(state=JobState.RUNNING)
    lost = EarlyWarning(reason="loss_nan", text="no number", firm=True)
    view = replace(view_of(store, job), progress=a_progress(warnings=(lost,)))
    assert "for nothing" in why(view)
    view = replace(view, progress=a_progress())
    assert "for nothing" not in why(view)
    assert view.doomed is None


def test_a_run_that_was_queued_again_meanwhile_is_not_stopped(store):
    scheduler = FakeScheduler()
    scheduler.put(a_job(state=JobState.RUNNING))
    actions = Actions(scheduler, store, "act")
    scheduler.put(a_job(state=JobState.PENDING, restarts=1))
    actions.carry_out(stop(), NOW)
    assert scheduler.calls == []
    assert [one.state for one in store.actions()] == ["failed"]


def test_what_failed_three_times_may_have_been_mended_since(store):
    reason = DecisionReason(code="doomed", failure="repeated", detail="it failed")
    told = Action(kind="warn", job_id="1", attempt=0, why="it failed", reason=reason)
    store.intend(told, at=NOW, state="noted")
    assert "it may well fail again: it failed" in why(view_of(store, a_job(state=JobState.RUNNING)))


def test_what_became_of_a_stop_is_shown(store):
    store.intend(stop("warn"), at=NOW, state="noted")
    store.intend(stop(), at=NOW)
    assert "it is being stopped: no number" in why(view_of(store, a_job(state=JobState.RUNNING)))
    store.settle(stop(), "done", at=NOW)
    ended = a_job(state=JobState.CANCELLED)
    assert "it was stopped: no number" in why(view_of(store, ended))
    again = a_job(state=JobState.RUNNING, restarts=1)
    assert "no number" not in why(view_of(store, again)), "that was an earlier attempt"
    scheduler = FakeScheduler()
    scheduler.put(ended)
    [one] = revert(scheduler, store, now=NOW, job_id="1")
    assert (one.outcome, one.kind) == ("cannot", "cancel")


def test_a_run_that_goes_on_says_from_where(store):
    reason = DecisionReason(code="carried_on", step=1200.0, retries=1, allowed=5)
    moved = Action(kind="requeue", job_id="1", attempt=1, why="", reason=reason)
    store.intend(moved, at=NOW)
    store.settle(moved, "done", at=NOW)
    words = "; it goes on from step 1200, queued again right before its time limit (2 of 5 times)"
    assert words in why(view_of(store, a_job(state=JobState.RUNNING, restarts=2)))
    assert words in why(view_of(store, a_job(restarts=2)))
    assert words not in why(view_of(store, a_job(restarts=3)))


def view_of(store, job):
    return JobView(job=job, diagnoses={}, actions=tuple(store.actions(job_id=job.id)))


def why(view):
    return why_sentence(view, [], NOW, str)


def test_what_ending_them_has_saved(store):
    for job_id, state in (("1", JobState.CANCELLED), ("2", JobState.CANCELLED), ("3", None)):
        store.intend(stop("warn", job_id), at=NOW, state="noted")
        if state is not None:
            job = a_job(
                id=job_id,
                state=state,
                submit_time=0.0,
                start_time=0.0,
                end_time=NOW + HOUR,
                request=Request(gpus=4),
            )
            store.keep_run(PastRun(job=job))
    store.intend(stop(), at=NOW)
    store.settle(stop(), "done", at=NOW)

    found = effects_of(store, NOW + 2 * HOUR)

    assert (found.doomed, found.doomed_stopped, found.doomed_ended) == (3, 1, 1)
    assert found.saved_gpu_hours == pytest.approx(4 * 2 + 4 * 1), "an hour later, by its owner"
    assert found.saved_waiting_hours == pytest.approx(12 * 3 / 6)
