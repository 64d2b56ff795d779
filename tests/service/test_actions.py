"""Exactly one action per decision, whatever dies in between."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from schedmate.model import Action, JobState, PartlyKnown, SchedulerError, SchedulerUnreachable
from schedmate.service.actions import Actions
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_job
from schedmate.testing.scheduler import FakeScheduler
from service.acting import LIMIT, NICE, an_action, put_job_for

KINDS = ("requeue", "cancel", "set_nice", "set_time_limit")


class Crash(BaseException):
    """As if by kill -9."""


@pytest.fixture
def actions(scheduler, store):
    return Actions(scheduler, store, "act")


def assert_done_once(scheduler, store, kind):
    job = scheduler.known["1"]
    shown = {
        "requeue": (job.state, job.restarts) == (JobState.PENDING, 1),
        "cancel": (job.state, job.restarts) == (JobState.CANCELLED, 0),
        "set_nice": job.nice == NICE,
        "set_time_limit": job.request.time_limit_s == LIMIT,
    }
    assert shown[kind]
    assert [record.state for record in store.actions()] == ["done"]
    if kind in ("requeue", "cancel"):
        assert [call[0] for call in scheduler.calls] == [kind]


@pytest.mark.parametrize("kind", KINDS)
def test_an_action_is_carried_out_once_however_often_it_is_wanted(scheduler, store, kind):
    put_job_for(scheduler, kind)

    for _ in range(3):
        actions = Actions(scheduler, store, "act")
        actions.carry_out(an_action(kind), 1.0)
        actions.finish_interrupted(2.0)

    assert_done_once(scheduler, store, kind)
    assert len(scheduler.calls) == 1


@pytest.mark.parametrize(
    ("mode", "allowed"),
    [
        ("observe", ()),
        ("assist", ("set_nice", "set_time_limit")),
        ("act", KINDS),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_allowed_is_written_down_and_left(scheduler, store, mode, allowed, kind):
    put_job_for(scheduler, kind)
    before = dict(scheduler.known)
    actions = Actions(scheduler, store, mode)

    actions.carry_out(an_action(kind), 1.0)
    actions.finish_interrupted(2.0)

    if kind in allowed:
        assert_done_once(scheduler, store, kind)
    else:
        assert scheduler.calls == []
        assert scheduler.known == before
        assert [record.state for record in store.actions()] == ["observed"]


def test_what_was_only_observed_stays_so_when_more_is_allowed_later(scheduler, store):
    """A site that turns acting on does not get a week of retries at once."""
    put_job_for(scheduler, "requeue")
    Actions(scheduler, store, "observe").carry_out(an_action("requeue"), 1.0)

    Actions(scheduler, store, "act").carry_out(an_action("requeue"), 2.0)

    assert scheduler.calls == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("moment", ["before intending", "before doing", "before settling"])
def test_a_crash_at_any_step(scheduler, store, monkeypatch, kind, moment):
    put_job_for(scheduler, kind)
    if moment == "before intending":
        monkeypatch.setattr(SqliteStore, "intend", crash)
    else:
        scheduler.trouble, scheduler.lose_answers = Crash(), moment == "before settling"
    with pytest.raises(Crash):
        Actions(scheduler, store, "act").carry_out(an_action(kind), 1.0)
    monkeypatch.undo()
    scheduler.trouble, scheduler.lose_answers = None, False

    restarted = Actions(scheduler, store, "act")
    restarted.carry_out(an_action(kind), 2.0)  # a mind that starts afresh wants the same again
    restarted.finish_interrupted(3.0)
    restarted.finish_interrupted(4.0)

    assert_done_once(scheduler, store, kind)


def crash(*_, **__):
    raise Crash


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("answers_lost", [False, True])
def test_a_scheduler_that_is_away_for_a_while(scheduler, store, actions, kind, answers_lost):
    put_job_for(scheduler, kind)
    scheduler.trouble, scheduler.lose_answers = SchedulerUnreachable("no answer"), answers_lost

    actions.carry_out(an_action(kind), 1.0)
    assert [record.state for record in store.actions()] == ["intended"]
    scheduler.trouble, scheduler.lose_answers = None, False
    actions.finish_interrupted(2.0)

    assert_done_once(scheduler, store, kind)


def test_a_scheduler_that_refuses_is_not_asked_again(scheduler, store, actions):
    scheduler.put(a_job(state=JobState.PENDING))

    actions.carry_out(an_action("requeue"), 1.0)
    actions.carry_out(an_action("requeue"), 2.0)
    actions.finish_interrupted(3.0)

    (record,) = store.actions()
    assert (record.state, record.note) == ("failed", "job 1 is waiting already")
    assert scheduler.calls == []


def test_a_job_that_is_gone_fails_its_action(scheduler, store, actions):
    actions.carry_out(an_action("cancel"), 1.0)
    store.intend(an_action("requeue"), at=1.0)
    actions.finish_interrupted(2.0)

    assert [(record.state, record.note) for record in store.actions()] == [
        ("failed", "there is no job 1"),
        ("failed", "the job is gone"),
    ]


@pytest.mark.parametrize(
    ("kind", "job"),
    [
        ("requeue", a_job(state=JobState.COMPLETED)),
        ("requeue", a_job(state=JobState.CANCELLED)),
        ("cancel", a_job(state=JobState.COMPLETED)),
        ("cancel", a_job(state=JobState.RUNNING, restarts=1)),
        ("set_nice", a_job(state=JobState.PENDING, restarts=1)),
        ("set_nice", a_job(state=JobState.COMPLETED)),
    ],
)
def test_an_action_that_comes_too_late_is_left(scheduler, store, actions, kind, job):
    """Intended in time, but its run ended otherwise before the scheduler could be asked."""
    store.intend(an_action(kind), at=1.0)
    scheduler.put(job)

    actions.finish_interrupted(2.0)

    (record,) = store.actions()
    assert record.state == "failed"
    assert record.note.startswith("too late")
    assert scheduler.calls == []
    assert scheduler.known["1"] == job


@pytest.mark.parametrize("state", [JobState.RUNNING, JobState.FAILED, JobState.TIMEOUT])
def test_a_requeue_in_time_is_made_up_for(scheduler, store, actions, state):
    store.intend(an_action("requeue"), at=1.0)
    scheduler.put(a_job(state=state))

    actions.finish_interrupted(2.0)

    assert scheduler.calls == [("requeue", "1")]


def test_the_next_attempt_is_another_decision(scheduler, store, actions):
    put_job_for(scheduler, "requeue")
    actions.carry_out(an_action("requeue"), 1.0)
    scheduler.put(replace(scheduler.known["1"], state=JobState.FAILED))

    actions.carry_out(an_action("requeue", attempt=1), 2.0)

    assert scheduler.known["1"].restarts == 2
    assert scheduler.calls == [("requeue", "1"), ("requeue", "1")]


def test_the_fake_refuses_what_it_does_not_know(scheduler):
    scheduler.put(a_job())
    with pytest.raises(SchedulerError):
        scheduler.requeue("1", run=0)
    assert [job.id for job in scheduler.jobs(["1", "2"])] == ["1"]


class Stubborn(FakeScheduler):
    """Takes every wish and does what it likes, as Slurm does with nice numbers."""

    def set_nice(self, job_id, nice):
        self.calls.append(("set_nice", job_id, str(nice)))

    def set_time_limit(self, job_id, seconds):
        self.calls.append(("set_time_limit", job_id, str(seconds)))

    def requeue(self, job_id, *, run, exclude_nodes=(), delay_s=0.0):
        return super().requeue(job_id, run=run)


@pytest.mark.parametrize(
    ("kind", "note"),
    [
        ("set_nice", "priority was set by hand: nice stays 0"),
        ("set_time_limit", "the limit stays None s"),
        ("requeue", "it was queued again, but not kept from n1"),
    ],
)
def test_what_was_wanted_is_read_back(store, kind, note):
    scheduler = Stubborn()
    put_job_for(scheduler, kind)
    actions = Actions(scheduler, store, "act")
    nodes = {"exclude_nodes": ("n1",)} if kind == "requeue" else {}

    for _ in range(3):
        actions.carry_out(an_action(kind, **nodes), 1.0)
        actions.finish_interrupted(2.0)

    (record,) = store.actions()
    assert (record.state, record.note) == ("failed", note)
    assert len(scheduler.calls) == 1


class Slow(FakeScheduler):
    """Takes a few looks to stop a run."""

    looks = 3

    def requeue(self, job_id, **words):
        type(self).looks -= 1
        return False if self.looks else super().requeue(job_id, **words)


def test_a_run_that_takes_long_to_stop_holds_nothing_up(store):
    scheduler = Slow()
    put_job_for(scheduler, "requeue")
    Actions(scheduler, store, "act").carry_out(an_action("requeue", exclude_nodes=("n1",)), 1.0)
    assert [record.state for record in store.actions()] == ["intended"]

    Actions(scheduler, store, "act").finish_interrupted(2.0)
    assert [record.state for record in store.actions()] == ["intended"]
    Actions(scheduler, store, "act").finish_interrupted(3.0)

    assert_done_once(scheduler, store, "requeue")
    assert scheduler.known["1"].request.exclude_nodes == ("n1",)


class HalfBlind(FakeScheduler):
    """Cannot look up what its controller has let go of."""

    def jobs(self, ids=None):
        found = super().jobs(ids)
        if ids is not None and len(found) < len(ids):
            raise PartlyKnown("accounting does not answer", found)
        return found


def test_a_job_that_cannot_be_looked_up_is_not_declared_gone(store):
    scheduler = HalfBlind()
    actions = Actions(scheduler, store, "act")
    store.intend(an_action("cancel", job_id="7"), at=1.0)
    put_job_for(scheduler, "requeue")
    actions.carry_out(an_action("requeue"), 2.0)

    actions.finish_interrupted(3.0)

    assert [(one.action.job_id, one.state) for one in store.actions()] == [
        ("7", "intended"),
        ("1", "done"),
    ]


def test_a_number_that_we_replace_at_once_was_not_refused(store, scheduler):
    scheduler.put(a_job())
    actions = Actions(scheduler, store, "assist")
    for value in (500.0, 51.0):
        nice = Action(kind="set_nice", job_id="1", attempt=0, why="", value=value)
        actions.carry_out(nice, 1.0)

    actions.finish_interrupted(2.0)

    assert [(one.state, one.note) for one in store.actions()] == [
        ("done", "replaced at once"),
        ("done", ""),
    ]


def test_a_hold_and_a_release_are_read_back(scheduler, store, actions):
    scheduler.put(a_job())
    for at, (kind, held) in enumerate([("hold", True), ("release", False)]):
        actions.carry_out(an_action(kind), at)
        actions.finish_interrupted(at)

        assert scheduler.known["1"].held is held
        assert [record.state for record in store.actions()] == ["done"] * (at + 1)


@pytest.mark.parametrize("mode", ["observe", "assist"])
def test_a_hold_takes_the_mode_act(scheduler, store, mode):
    scheduler.put(a_job())

    Actions(scheduler, store, mode).carry_out(an_action("hold"), 1.0)

    assert scheduler.calls == []
    assert [record.state for record in store.actions()] == ["observed"]


@pytest.mark.parametrize("answer_lost", [False, True])
def test_a_hold_that_was_interrupted_is_not_made_again(scheduler, store, answer_lost):
    """A person may have released the job since."""
    scheduler.put(a_job())
    scheduler.trouble, scheduler.lose_answers = Crash(), answer_lost
    with pytest.raises(Crash):
        Actions(scheduler, store, "act").carry_out(an_action("hold"), 1.0)
    scheduler.trouble = None
    scheduler.put(a_job(held=False))

    restarted = Actions(scheduler, store, "act")
    restarted.carry_out(an_action("hold"), 2.0)
    restarted.finish_interrupted(3.0)

    assert not scheduler.known["1"].held
    assert [record.state for record in store.actions()] == ["failed"]


def test_a_hold_that_a_crash_hid_is_known_to_be_done(scheduler, store):
    scheduler.put(a_job())
    scheduler.trouble, scheduler.lose_answers = Crash(), True
    with pytest.raises(Crash):
        Actions(scheduler, store, "act").carry_out(an_action("hold"), 1.0)
    scheduler.trouble = None

    Actions(scheduler, store, "act").finish_interrupted(2.0)

    assert [record.state for record in store.actions()] == ["done"]
    assert scheduler.calls == [("hold", "1")]


class GoesOn(FakeScheduler):
    """Stops, requeues and starts the run between a look and the call that follows it."""

    def requeue(self, job_id, *, run, exclude_nodes=(), delay_s=0.0):
        request = replace(self.known[job_id].request, exclude_nodes=self.excluded)
        again = a_job(state=self.then, restarts=run + 1)
        self.put(replace(again, request=request))
        raise SchedulerError(f"job {job_id} has been queued again meanwhile")


@pytest.mark.parametrize(
    ("then", "excluded", "state"),
    [
        (JobState.RUNNING, ("n1",), "done"),
        (JobState.COMPLETED, ("n1",), "done"),
        (JobState.RUNNING, (), "failed"),
        (JobState.PENDING, ("n1",), "failed"),
    ],
)
def test_a_requeue_that_was_overtaken_is_judged_by_what_became_of_it(store, then, excluded, state):
    scheduler = GoesOn()
    scheduler.then, scheduler.excluded = then, excluded
    scheduler.put(a_job(state=JobState.RUNNING))

    Actions(scheduler, store, "act").carry_out(an_action("requeue", exclude_nodes=("n1",)), 1.0)

    assert [record.state for record in store.actions()] == [state]


def logged(caplog):
    return [
        (one.levelname, one.job, one.action, one.outcome)
        for one in caplog.records
        if one.name == "schedmate.actions"
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_each_is_logged_once_when_it_is_carried_out(scheduler, store, actions, caplog, kind):
    put_job_for(scheduler, kind)
    with caplog.at_level(logging.INFO):
        actions.carry_out(an_action(kind, why="shortest first"), 1.0)
        for look in (2.0, 3.0):
            actions.finish_interrupted(look)
    assert_done_once(scheduler, store, kind)
    assert logged(caplog) == [("INFO", "1", kind, "done")]
    assert "shortest first" in caplog.text
    if kind == "set_nice":
        assert f"set_nice:{NICE:g}" in caplog.text


@pytest.mark.parametrize("kind", KINDS)
def test_each_is_logged_once_when_it_is_refused(scheduler, actions, caplog, monkeypatch, kind):
    def refuse(*_, **__):
        raise SchedulerError("access denied")

    put_job_for(scheduler, kind)
    for name in ("requeue", "cancel", "set_nice", "set_time_limit"):
        monkeypatch.setattr(type(scheduler), name, refuse)
    with caplog.at_level(logging.INFO):
        actions.carry_out(an_action(kind), 1.0)
        for look in (2.0, 3.0):
            actions.finish_interrupted(look)
    assert logged(caplog) == [("WARNING", "1", kind, "failed")]
    assert "access denied" in caplog.text


class InBulk(FakeScheduler):
    """Takes nice numbers together, as Slurm's adapter does; refuses those of job 2."""

    def set_nices(self, nices):
        for job_id, nice in nices.items():
            if job_id != "2":
                self.set_nice(job_id, nice)
        return {one: "access denied" if one == "2" else "" for one in nices}


def test_nice_numbers_set_together_are_logged_one_by_one(store, caplog):
    scheduler = InBulk()
    scheduler.put(a_job(id="1"))
    scheduler.put(a_job(id="2"))
    actions = Actions(scheduler, store, "act")
    with caplog.at_level(logging.INFO):
        for job_id in ("1", "2"):
            actions.carry_out(an_action("set_nice", job_id=job_id), 1.0)
        for look in (2.0, 3.0):
            actions.finish_interrupted(look)
    assert sorted(logged(caplog)) == [
        ("INFO", "1", "set_nice", "done"),
        ("WARNING", "2", "set_nice", "failed"),
    ]
