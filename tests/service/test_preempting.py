"""A run makes way right after its checkpoint: once, never held for good, whatever dies."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import replace
from itertools import count

import pytest

from schedmate.core import DecisionLimits, PreemptionLimits
from schedmate.model import (
    Action,
    DecisionReason,
    Fingerprint,
    JobState,
    PastRun,
    Request,
    Resume,
    SchedulerError,
    SchedulerUnreachable,
    Workload,
)
from schedmate.model.workload import Finding
from schedmate.service.actions import Actions
from schedmate.service.usecases.revert import revert
from schedmate.service.views.job_view import JobView
from schedmate.service.views.sentences import why_sentence
from schedmate.store import KeptAdvice
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_job, an_advice
from schedmate.testing.scheduler import FakeScheduler
from service.dying import Crash, Steps, daemon_of

NOW = 100_000.0
POLL_S = 10.0
MARKS = Fingerprint(code="c0de", arguments="a")
WORKLOAD = Workload(resumes=Finding(value=True, source="code"))
LIMITS = DecisionLimits(
    preemption=PreemptionLimits(after_s=0, ends_soon_s=0, give_back_s=60, widest=1.0, worth=1.0)
)
COUNTED = ("requeue", "release", "intend", "settle", "warn")


def preempt(*named, attempt=0):
    reason = DecisionReason(code="makes_way", step=40, lost_s=30.0, detail="it has just saved")
    return Action(
        kind="preempt",
        job_id="1",
        attempt=attempt,
        why="w",
        reason=reason,
        for_jobs=named or ("2",),
    )


def released(code="others_started"):
    reason = DecisionReason(code=code)
    return Action(kind="release", job_id="1", attempt=1, why="w", reason=reason)


class Stage:
    """A training on the only GPU and a short job that waits, with a log that grows."""

    def __init__(self, folder, store, *, proven=True, comment="schedmate=preemptible"):
        self.scheduler, self.store = FakeScheduler(), store
        self.log = folder / "log"
        self.log.write_text("")
        self.step, self.now = 0, NOW
        request = Request(gpus=1)
        parts = {"workdir": str(folder), "logs": (str(self.log),), "request": request}
        self.scheduler.put(
            a_job(
                state=JobState.RUNNING,
                submit_time=NOW - 7300,
                start_time=NOW - 7200,
                comment=comment,
                can_requeue=True,
                **parts,
            )
        )
        self.scheduler.scripts["1"] = self.scheduler.scripts["2"] = "#!/bin/bash\npython train.py"
        self.scheduler.put(a_job(id="2", submit_time=NOW - 60, request=request, workdir="/none"))
        store.keep_advice("1", KeptAdvice(an_advice(36_000.0, workload=WORKLOAD), MARKS))
        store.keep_advice("2", KeptAdvice(an_advice(60.0), None))
        if proven:
            self.remember(Resume(outcome="resumed", began=41.0, after_s=20.0))

    def remember(self, resume):
        job = a_job(id="9", state=JobState.COMPLETED, restarts=1, end_time=2000.0)
        self.store.keep_run(PastRun(job=job, fingerprint=MARKS, resume=resume))

    @property
    def job(self):
        return self.scheduler.known["1"]

    def write(self, steps, *, saved=False):
        text = "".join(f"step {self.step + one}/1000 loss 1.0\n" for one in range(1, steps + 1))
        self.step += steps
        text += f"saved checkpoint out/last.pt at step {self.step}\n" if saved else ""
        with self.log.open("a") as file:
            file.write(text)
        os.utime(self.log, (self.now, self.now))

    def poll(self, daemon):
        self.now += POLL_S
        daemon.cycle(self.now)
        if self.job.state is JobState.PENDING and self.scheduler.known["2"].state.ended is False:
            self.start("2")

    def start(self, job_id):
        self.scheduler.put(
            replace(
                self.scheduler.known[job_id],
                state=JobState.RUNNING,
                start_time=self.now,
                nodes=("n1",),
            )
        )

    def go(self, scheduler=None, store=None, polls=5, **parts):
        """A daemon that sees the run save at its third poll."""
        scheduler, store = scheduler or self.scheduler, store or self.store
        with daemon_of(scheduler, store, **{"limits": LIMITS, **parts}) as daemon:
            for number in range(polls):
                if self.job.state is JobState.RUNNING and not self.job.restarts:
                    self.write(10, saved=number == 2)
                self.poll(daemon)

    def actions(self, kind):
        return [one for one in self.store.actions() if one.action.kind == kind]


@pytest.fixture
def stage(scratch, store):
    return Stage(scratch, store)


@pytest.mark.slow
def test_a_run_makes_way_right_after_its_checkpoint_and_is_released(stage):
    stage.go()
    calls = [call for call in stage.scheduler.calls if call[0] in ("requeue", "release")]
    assert calls == [("requeue", "1"), ("release", "1")]
    (stop,) = stage.actions("preempt")
    assert (stop.state, stop.action.for_jobs, stop.action.reason.step) == ("done", ("2",), 30)
    assert [one.state for one in stage.actions("release")] == ["done"]
    assert (stage.job.held, stage.job.restarts) == (False, 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "parts",
    [{"proven": False}, {"comment": ""}, {"comment": "schedmate=keep,schedmate=preemptible"}],
    ids=["no proof", "no consent", "opted out"],
)
def test_nothing_happens_without_proof_and_consent(scratch, store, parts):
    stage = Stage(scratch, store, **parts)
    stage.go()
    assert stage.actions("preempt") == []


@pytest.mark.slow
def test_code_that_once_started_over_is_never_stopped(stage):
    stage.remember(Resume(outcome="started_over", began=1.0))
    stage.go()
    assert stage.actions("preempt") == []


@pytest.mark.slow
def test_in_other_modes_it_is_only_shown(stage, monkeypatch):
    with daemon_of(stage.scheduler, stage.store, limits=LIMITS) as daemon:
        daemon._actions = Actions(stage.scheduler, stage.store, "assist")
        for number in range(4):
            stage.write(10, saved=number == 2)
            stage.poll(daemon)
    (shown,) = stage.actions("preempt")
    assert shown.state == "observed"
    assert stage.scheduler.calls == []
    view = JobView(job=stage.job, diagnoses={}, actions=(shown,))
    assert "in mode act it would have made way for job 2" in why_sentence(view, (), NOW, str)


@pytest.mark.slow
@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
def test_a_daemon_that_dies_at_any_step_is_followed_by_one_that_goes_on(scratch, done):
    """Never twice, never held for good, and nothing stays open."""
    for step in count(1):
        folder = scratch / f"{step}"
        folder.mkdir()
        with closing(SqliteStore(folder / "store")) as store:
            stage = Stage(folder, store)
            crashed = dies(stage, step, done=done)
            stage.go(polls=10)
            kinds = [call[0] for call in stage.scheduler.calls]
            assert kinds.count("requeue") <= 1, step
            assert not stage.job.held, step
            assert stage.job.restarts == kinds.count("requeue"), step
            assert store.actions(state="intended") == [], step
            if stage.job.restarts:
                assert [one.state for one in stage.actions("preempt")] == ["done"], step
        if not crashed:
            break
    assert step > 6, "there were steps to die at"


def dies(stage, step, *, done):
    steps = Steps(step, done=done)

    def counted(inner):
        class Counted:
            def __getattr__(self, name):
                method = getattr(inner, name)
                if name not in COUNTED:
                    return method
                return lambda *args, **words: steps.call(method, *args, **words)

        return Counted()

    try:
        stage.go(counted(stage.scheduler), counted(stage.store))
    except Crash:
        return True
    return False


# the steps one by one


@pytest.fixture
def running(scheduler):
    scheduler.put(a_job(state=JobState.RUNNING, can_requeue=True))
    scheduler.put(a_job(id="2"))
    return scheduler


def states(store):
    return [(one.action.kind, one.state, one.note) for one in store.actions()]


def test_a_run_that_has_ended_is_not_queued_again(running, store):
    running.put(a_job(state=JobState.COMPLETED))
    Actions(running, store, "act").carry_out(preempt(), NOW)
    assert states(store) == [("preempt", "failed", "too late: it has ended, COMPLETED")]
    assert running.calls == []


def test_a_run_whose_successors_wait_no_more_goes_on(running, store):
    running.put(a_job(id="2", state=JobState.RUNNING))
    Actions(running, store, "act").carry_out(preempt(), NOW)
    assert states(store)[0][1:] == ("failed", "the jobs that it was to make way for wait no more")


def test_an_old_decision_is_not_carried_out_when_the_scheduler_is_back(running, store):
    running.trouble = SchedulerUnreachable("slurmctld is away")
    Actions(running, store, "act").carry_out(preempt(), NOW)
    assert states(store) == [("preempt", "intended", "")]
    running.trouble = None
    Actions(running, store, "act").finish_interrupted(NOW + 600)
    assert states(store)[0][1:] == ("failed", "too late: it has gone on since its checkpoint")
    assert running.calls == []


def test_a_decision_is_carried_out_when_the_scheduler_is_back_soon(running, store):
    running.trouble = SchedulerUnreachable("slurmctld is away")
    Actions(running, store, "act").carry_out(preempt(), NOW)
    running.trouble = None
    Actions(running, store, "act").finish_interrupted(NOW + 30)
    assert states(store) == [("preempt", "done", "")]
    assert running.known["1"].held


class Warns(FakeScheduler):
    """Its jobs ask for a signal 90 seconds before their end."""

    def warning_s(self, job_id):
        return 90.0

    def warn(self, job_id):
        self._done("warn", job_id)


@pytest.fixture
def warned(store):
    scheduler = Warns()
    scheduler.put(a_job(state=JobState.RUNNING))
    scheduler.put(a_job(id="2"))
    Actions(scheduler, store, "act").carry_out(preempt(), NOW)
    return scheduler


def test_a_run_gets_its_signal_first_and_the_time_that_it_asked_for(warned, store):
    for seconds in (10, 50, 80):
        Actions(warned, store, "act").finish_interrupted(NOW + seconds)
    assert warned.calls == [("warn", "1")], "once, whichever daemon comes next"
    Actions(warned, store, "act").finish_interrupted(NOW + 91)
    assert warned.calls == [("warn", "1"), ("requeue", "1")]
    assert warned.known["1"].held
    assert states(store)[0][:2] == ("preempt", "done")


def test_a_run_that_queues_itself_again_at_its_signal_is_held(warned, store):
    """As Lightning and submitit do."""
    warned.put(a_job(restarts=1))
    Actions(warned, store, "act").finish_interrupted(NOW + 20)
    job = warned.known["1"]
    assert (job.held, job.restarts) == (True, 1)
    assert warned.calls == [("warn", "1")]


@pytest.mark.parametrize("mode", ["observe", "assist", "act"])
def test_what_we_hold_is_released_in_every_mode_and_pause(running, store, mode):
    running.put(a_job(held=True, restarts=1))
    actions = Actions(running, store, mode, paused=lambda: True)
    actions.carry_out(released(), NOW)
    actions.finish_interrupted(NOW)
    assert states(store) == [("release", "done", "")]
    assert not running.known["1"].held


class Refuses(FakeScheduler):
    def release(self, job_id):
        raise SchedulerError("not now")


def test_a_release_that_was_refused_is_asked_for_again(store):
    scheduler = Refuses()
    scheduler.put(a_job(held=True, restarts=1))
    Actions(scheduler, store, "act").carry_out(released(), NOW)
    assert states(store) == [("release", "intended", "not now")]
    kind = FakeScheduler()
    kind.known = scheduler.known
    Actions(kind, store, "act").finish_interrupted(NOW + 5)
    assert states(store)[0][:2] == ("release", "done")


def test_a_run_that_was_let_go_as_it_was_being_stopped_is_not_held_again(running, store):
    actions = Actions(running, store, "act")
    store.intend(preempt(), at=NOW)
    running.put(a_job(restarts=1, held=True))  # it is still being stopped
    actions.carry_out(released(), NOW)
    actions.finish_interrupted(NOW + 1)
    actions.finish_interrupted(NOW + 2)
    assert {state for _, state, _ in states(store)} == {"done"}
    assert not running.known["1"].held


def test_a_person_can_undo_it(running, store):
    actions = Actions(running, store, "act")
    actions.carry_out(preempt(), NOW)
    actions.finish_interrupted(NOW)
    assert running.known["1"].held
    undone = revert(running, store, now=NOW + 5, job_id="1")
    assert [(one.kind, one.outcome) for one in undone] == [
        ("release", "undone"),
        ("preempt", "cannot"),
    ]
    assert not running.known["1"].held


def test_why_says_who_went_ahead_what_it_cost_and_how_to_opt_out(running, store):
    actions = Actions(running, store, "act")
    actions.carry_out(preempt("2", "3"), NOW)
    actions.finish_interrupted(NOW)
    view = JobView(job=running.known["1"], diagnoses={}, actions=tuple(store.actions()))
    text = why_sentence(view, (), NOW, lambda seconds: f"{seconds:g} s")
    assert "it made way for jobs 2 and 3 right after its checkpoint of step 40" in text
    assert "goes on from there, which costs it about 30 s" in text
    assert "released once they have started" in text
    assert "schedmate=keep in its comment rules that out" in text
