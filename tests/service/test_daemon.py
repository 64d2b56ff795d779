"""Jobs walk through the live system, and it can be thrown away between any two steps."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import replace

import pytest

from schedmate.advisor import Advised, Advisor
from schedmate.core import DecisionEngine, DecisionLimits
from schedmate.disk.lock import hold, sign
from schedmate.handler import Case, Handler
from schedmate.handler.handler import Analysis
from schedmate.handler.reading.gathering import gather
from schedmate.model import (
    BadAnswer,
    JobState,
    ModelUnavailable,
    SchedMateError,
    SchedulerUnreachable,
)
from schedmate.policies import ordering
from schedmate.service.actions import Actions
from schedmate.service.daemon import serving
from schedmate.service.daemon.assembling import assemble
from schedmate.service.daemon.background import BackgroundQueue
from schedmate.service.daemon.daemon import _RETRY_AFTER_S, Daemon
from schedmate.service.daemon.failures import _READ_AGAIN_S
from schedmate.service.daemon.signals import Signals
from schedmate.service.views.board import all_known_of, known_of
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_diagnosis, a_job, a_past_run, an_advice
from schedmate.testing.scheduler import FakeScheduler
from schedmate.tracker import JobTracker
from schedulers.local_site import wait_for
from service.place import ERROR, KILLED_ONCE, RUN


@pytest.mark.processes
def test_one_job_walks_from_submission_to_memory(place):
    job_id = place.submit(
        f'{RUN}; for i in 1 2 3 4; do echo "step $i/4 loss 0.$i"; sleep 0.3; done'
    )
    with assemble(place.settings) as daemon:
        wait_for(lambda: daemon.cycle(time.time()) or place.ended(job_id), "the end")
        daemon.cycle(time.time())

    with place.store() as store:
        run = store.run(job_id)
        assert run.job.state is JobState.COMPLETED
        assert run.fingerprint == store.advice(job_id).fingerprint
        assert run.steps_done == 4
        assert store.progress(job_id, 0).progress.current == 4
        assert (run.profile.unit, run.profile.done, run.profile.total) == ("step", 4, 4)
        assert 0.5 < run.profile.duration_s < run.duration_s + 1
        assert store.tracking(job_id, 0) is None
        assert store.diagnoses(job_id) == {}
    assert place.actions() == []
    assert place.lines() == [f"{job_id} 0"]


@pytest.mark.processes
def test_a_run_is_followed_through_by_daemons_that_live_for_one_look_each(place):
    job_id = place.submit("for i in $(seq 1 8); do echo step $i/8; sleep 0.25; done")
    place.looks_until(lambda: place.ended(job_id), "the end")
    place.one_look()

    with place.store() as store:
        run = store.run(job_id)
        assert (run.steps_done, run.profile.done, run.profile.total) == (8, 8, 8)
        assert store.tracking(job_id, 0) is None


@pytest.mark.processes
def test_a_mistake_of_the_user_is_diagnosed_and_not_retried(place):
    job_id = place.submit(ERROR)
    place.looks_until(lambda: place.ended(job_id), "the end")
    for _ in range(3):
        place.one_look()

    with place.store() as store:
        (diagnosis,) = store.diagnoses(job_id).values()
    assert diagnosis.decision.retry == "no"
    assert any("KeyError" in evidence.text for evidence in diagnosis.evidence)
    assert place.actions() == []
    assert place.lines() == [f"{job_id} 0"]


@pytest.mark.processes
def test_a_killed_job_is_requeued_once_by_daemons_that_live_for_one_look_each(place):
    job_id = place.submit(KILLED_ONCE)
    place.looks_until(lambda: place.ended(job_id, restarts=1), "the end of the second run")
    for _ in range(3):
        place.one_look()

    assert place.lines() == [f"{job_id} 0", f"{job_id} 1"]
    assert place.actions() == [("requeue", 0, "done")]
    assert place.job(job_id).state is JobState.COMPLETED
    with place.store() as store:
        assert store.run(job_id, 0).job.state is JobState.FAILED
        assert store.run(job_id, 1).job.state is JobState.COMPLETED
        assert set(store.diagnoses(job_id)) == {0}


@pytest.mark.processes
def test_a_job_that_is_killed_every_time_uses_up_its_retries_and_no_more(place):
    job_id = place.submit(f"{RUN}; kill -9 $$")

    def at_rest():
        job = place.job(job_id)
        settled = [state for *_, state in place.actions()]
        return job.state.ended and settled == ["done"] * job.restarts and job.restarts > 0

    place.looks_until(at_rest, "the end of retries")
    for _ in range(5):
        place.one_look()

    assert 1 <= place.job(job_id).restarts <= place.settings.retries
    assert len(place.lines()) == place.job(job_id).restarts + 1


@pytest.mark.processes
def test_observing_changes_nothing_but_says_what_it_would_do(place):
    place.mode = "observe"
    failed = place.submit(KILLED_ONCE)
    wait_for(lambda: place.ended(failed), "the end")
    before = place.scheduler.jobs()
    for _ in range(3):
        place.one_look()

    assert place.scheduler.jobs() == before
    assert place.actions() == [("requeue", 0, "observed")]
    assert place.lines() == [f"{failed} 0"]


@pytest.mark.processes
def test_what_failed_before_there_was_a_store_is_remembered_but_left_alone(place):
    job_id = place.scheduler.submit(place.submission(KILLED_ONCE))
    wait_for(lambda: place.ended(job_id), "the end")
    time.sleep(0.05)
    for _ in range(3):
        place.one_look()

    with place.store() as store:
        assert store.run(job_id).job.state is JobState.FAILED
        assert store.diagnoses(job_id)
    assert place.actions() == []
    assert place.lines() == [f"{job_id} 0"]


def test_a_second_daemon_is_refused(place):
    with hold(place.settings.state_dir / "serve.lock") as lock:
        sign(lock)
        for second in (lambda: serving.serve(place.settings, Signals()), look_once(place)):
            with pytest.raises(SchedMateError, match=r"a daemon is serving .* already"):
                second()
    look_once(place)()


def look_once(place):
    return lambda: serving.look_once(place.settings)


# on a scheduler in memory


class Stage:
    def __init__(self, tmp_path):
        self.scheduler = FakeScheduler()
        self.store = SqliteStore(tmp_path / "store")
        self.log = tmp_path / "job.log"
        self.log.write_text("Traceback (most recent call last):\nKeyError: 'missing'\n")
        self.daemon = self.new_daemon()

    def new_daemon(self, handler=None):
        self.daemon = Daemon(
            engine=DecisionEngine(ordering("sjf"), DecisionLimits()),
            scheduler=self.scheduler,
            store=self.store,
            advisor=Advisor(self.store, self.store),
            handler=handler or Handler(self.store),
            actions=Actions(self.scheduler, self.store, "act"),
        )
        return self.daemon

    def put(self, job_id, state, **parts):
        job = a_job(id=job_id, state=state, workdir=str(self.log.parent), **parts)
        self.scheduler.put(replace(job, logs=(str(self.log),)))


@pytest.fixture
def stage(tmp_path):
    stage = Stage(tmp_path)
    yield stage
    stage.daemon.close()
    stage.store.close()


def raises(*_, **__):
    raise RecursionError("too deep")


def test_an_advisor_that_stumbles_stops_nobody(stage, monkeypatch, caplog):
    monkeypatch.setattr(Advisor, "advise", raises)
    stage.put("1", JobState.PENDING)
    stage.put("2", JobState.FAILED, exit_code=1)

    stage.daemon.cycle(1.0)
    stage.put("1", JobState.COMPLETED)
    stage.daemon.cycle(2.0)

    assert stage.store.run("1").job.state is JobState.COMPLETED
    assert stage.store.diagnoses("2")
    assert "no advice on job 1" in caplog.text


def test_trouble_with_one_job_is_kept_apart_and_tried_again_later(stage, monkeypatch):
    diagnose = Handler.diagnose
    troubled = {"1"}

    def diagnose_or_not(handler, case, **how):
        return raises() if troubled and case.exit_code == 1 else diagnose(handler, case, **how)

    monkeypatch.setattr(Handler, "diagnose", diagnose_or_not)
    stage.put("1", JobState.FAILED, exit_code=1)
    stage.put("2", JobState.FAILED, exit_code=2)
    stage.daemon.cycle(1000.0)
    assert stage.store.diagnoses("2")
    assert not stage.store.diagnoses("1")
    troubled.clear()

    stage.daemon.cycle(1001.0)
    assert not stage.store.diagnoses("1"), "it was to be left alone"
    stage.daemon.cycle(1000.0 + _RETRY_AFTER_S)

    assert stage.store.diagnoses("1")


def test_a_log_that_cannot_be_followed_blinds_to_no_other(stage, monkeypatch):
    monkeypatch.setattr(JobTracker, "poll", raises)
    stage.put("1", JobState.RUNNING)
    stage.daemon.cycle(1.0)
    stage.put("1", JobState.COMPLETED)

    stage.daemon.cycle(2.0)

    assert stage.store.run("1").job.state is JobState.COMPLETED


def test_a_scheduler_away_in_the_midst_of_a_look_leaves_nothing_undone(stage):
    stage.put("1", JobState.FAILED, signal=9)
    stage.log.write_text("")
    stage.scheduler.trouble = SchedulerUnreachable("no answer")
    with pytest.raises(SchedulerUnreachable):
        stage.daemon.cycle(1.0)
    stage.scheduler.lose_answers = True
    stage.daemon.cycle(2000.0)
    stage.scheduler.trouble = None
    stage.daemon.cycle(2001.0)

    assert stage.scheduler.calls == [("requeue", "1")]
    assert [record.state for record in stage.store.actions()] == ["done"]


def test_a_restart_does_not_overwrite_what_was_learnt_of_a_run(stage):
    stage.put("1", JobState.COMPLETED)
    kept = a_past_run(job=stage.scheduler.known["1"], steps_done=400.0)
    stage.store.keep_run(kept)

    stage.daemon.cycle(1.0)

    assert stage.store.run("1") == kept


def test_a_run_that_seemed_to_hang_and_then_failed_is_diagnosed_anew(stage):
    stage.store.keep_diagnosis("1", 0, a_diagnosis("hang"))
    stage.put("1", JobState.FAILED, exit_code=1)

    stage.daemon.cycle(1.0)

    assert stage.store.diagnoses("1")[0].reason != "hang"


class Refines(Handler):
    """A model that gives these answers one after the other; an exception is raised."""

    def __init__(self, *answers):
        super().__init__()
        self.answers = list(answers)
        self.asked = 0

    def ask_model(self, case, diagnosis):
        answer = self.answers[self.asked]
        self.asked += 1
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.mark.parametrize(
    "stumble", [RuntimeError("broken"), BadAnswer("nonsense")], ids=["bug", "bad answer"]
)
def test_a_model_that_stumbles_changes_nothing(stage, stumble):
    handler = Refines(stumble)
    stage.log.write_text("giving up\n")
    stage.new_daemon(handler)
    stage.put("1", JobState.FAILED, exit_code=1)
    stage.daemon.cycle(2000.0)
    first = stage.store.diagnoses("1")[0]
    wait_for(lambda: handler.asked == 1)
    stage.daemon.cycle(2001.0)

    assert stage.store.diagnoses("1")[0] == first
    assert stage.scheduler.calls == []


def test_what_the_model_finds_comes_in_later_and_is_acted_upon(stage):
    better = a_diagnosis("node_failure")
    stage.log.write_text("giving up\n")
    stage.new_daemon(Refines(better))
    stage.put("1", JobState.FAILED, exit_code=1)
    stage.daemon.cycle(2000.0)

    def found():
        stage.daemon.cycle(2001.0)
        return stage.store.diagnoses("1")[0] == better

    wait_for(found)
    stage.daemon.cycle(2002.0)
    assert stage.scheduler.calls == [("requeue", "1")]


def test_a_model_that_is_installed_later_is_asked_then(stage, monkeypatch):
    monkeypatch.setattr("schedmate.service.daemon.background._TRY_AGAIN_S", 0.01)
    better, none = a_diagnosis("data_error"), ModelUnavailable("none yet")
    stage.log.write_text("giving up\n")
    stage.new_daemon(Refines(none, none, none, better))
    stage.put("1", JobState.FAILED, exit_code=1)
    stage.daemon.cycle(2000.0)

    def found():
        stage.daemon.cycle(2001.0)
        return stage.store.diagnoses("1")[0] == better

    wait_for(found)


def test_what_the_rules_are_sure_of_is_not_asked(stage):
    handler = Refines()
    stage.log.write_text("ModuleNotFoundError: No module named 'torhc'\n")
    stage.new_daemon(handler)
    stage.put("1", JobState.FAILED, exit_code=1)
    stage.daemon.cycle(2000.0)
    assert stage.store.diagnoses("1")[0].reason == "import_error"
    assert handler.asked == 0
    assert stage.daemon._background._tasks.empty()


def test_closing_does_not_wait_for_the_model():
    gate = threading.Event()
    background = BackgroundQueue()
    background.submit("nothing", lambda: gate.wait(250), lambda *_: None)
    begun = time.monotonic()

    background.close()

    assert time.monotonic() - begun < 100
    gate.set()


def test_the_handler_keeps_the_logs_of_two_threads_apart(tmp_path):
    mine, theirs = Case(logs=(tmp_path / "mine",)), Case(logs=(tmp_path / "theirs",))
    for case in (mine, theirs):
        case.logs[0].write_text(f"{case.logs[0].name}\n")

    class Raced(Handler):
        """Whenever it has written down what it read, the other thread does so too."""

        _last = property(lambda self: self.kept, lambda self, value: self.race(value))

        def race(self, value):
            self.kept = None if value is None else Analysis(theirs, gather(theirs), None)

    assert Raced()._analyse(mine).case is mine


def test_a_look_that_fails_is_logged_and_the_next_one_made(place, monkeypatch, caplog):
    looks = []
    signals = Signals()
    monkeypatch.setattr(serving, "poll_seconds", lambda _: 0.01)

    class Failing:
        def cycle(self, now):
            looks.append(now)
            if len(looks) == 3:
                signals.stop()
            raise SchedulerUnreachable("no answer") if len(looks) == 1 else ValueError("odd")

    with caplog.at_level(logging.WARNING):
        serving._run(Failing().cycle, place.settings, signals, None)

    assert len(looks) == 3
    assert "no answer" in caplog.text
    assert "this look failed" in caplog.text


def test_what_the_scheduler_lists_no_more_is_forgotten_and_met_afresh(stage):
    stage.put("1", JobState.RUNNING)
    stage.daemon.cycle(1.0)
    assert "1" in stage.daemon._engine.known
    gone = stage.scheduler.known.pop("1")
    stage.daemon.cycle(2.0)
    assert "1" not in stage.daemon._engine.known
    assert stage.daemon._watching.jobs == frozenset()

    stage.scheduler.known["1"] = gone
    stage.daemon.cycle(3.0)
    assert stage.daemon._watching.jobs == {"1"}


def test_a_slow_down_is_told_to_the_engine_and_in_the_story(stage):
    started = 1_700_000_000.0
    stage.put("1", JobState.RUNNING, start_time=started)
    stage.log.write_text("")
    now, step = started, 0
    for seconds in [1.0] * 60 + [4.0] * 60:
        now, step = now + seconds, step + 1
        with stage.log.open("a") as log:
            log.write(f"step {step}/1000 loss 0.5\n")
        stage.daemon.cycle(now)

    slowdown = stage.daemon._engine.known["1"].progress.slowdown
    assert slowdown.factor == pytest.approx(0.25, abs=0.05)
    assert slowdown.since_s == pytest.approx(60, abs=15)
    assert stage.store.progress("1", 0).progress.slowdown is not None


def test_a_log_that_could_not_be_read_is_read_later(stage):
    """A directory stands for a file system that is away for a while."""
    text = stage.log.read_text()
    stage.log.unlink()
    stage.log.mkdir()
    stage.put("1", JobState.FAILED, exit_code=1)
    stage.daemon.cycle(2000.0)
    assert stage.store.diagnoses("1")[0].unread_logs
    stage.log.rmdir()
    stage.log.write_text(text)

    stage.daemon.cycle(2001.0)
    assert stage.store.diagnoses("1")[0].reason == "unknown", "not at every look"
    stage.daemon.cycle(2000.0 + _READ_AGAIN_S)

    found = stage.store.diagnoses("1")[0]
    assert (found.reason, found.unread_logs) == ("key_error", ())
    assert [record.action.failure for record in stage.store.actions()] == ["unknown", "key_error"]


def test_a_daemon_that_starts_later_reads_it_too(stage):
    unread = replace(a_diagnosis("unknown"), unread_logs=("job.log",), source="none")
    stage.store.keep_diagnosis("1", 0, unread)
    stage.put("1", JobState.FAILED, exit_code=1)

    stage.daemon.cycle(2000.0)

    assert stage.store.diagnoses("1")[0].reason == "key_error"


def test_a_job_that_is_read_at_once_gets_one_nice_number(stage, monkeypatch):
    monkeypatch.setattr(Advisor, "advise", lambda *_: Advised(an_advice(90.0), None))
    stage.put("1", JobState.PENDING, most_nice=1000)

    stage.daemon.cycle(1.0)

    assert stage.scheduler.calls == [("set_nice", "1", "-938")]
    assert [record.state for record in stage.store.actions()] == ["noted", "done"]


def test_no_job_waits_for_its_place_until_all_are_read(stage, monkeypatch):
    """The second is one piece of work with the first."""
    monkeypatch.setattr("schedmate.service.daemon.daemon._PLACELESS_S", 0.0)
    monkeypatch.setattr(Advisor, "advise", lambda *_: Advised(an_advice(90.0), None))
    for job_id in ("1", "2"):
        stage.put(job_id, JobState.PENDING, most_nice=1000)

    stage.daemon.cycle(1.0)

    places = [call[1:] for call in stage.scheduler.calls]
    assert places == [("1", "-500"), ("2", "-500"), ("1", "-938"), ("2", "-896")]


def test_a_job_that_cannot_be_read_keeps_its_provisional_place(stage, monkeypatch):
    monkeypatch.setattr(Advisor, "advise", raises)
    stage.put("1", JobState.PENDING, most_nice=1000)

    stage.daemon.cycle(1.0)

    assert [call[0] for call in stage.scheduler.calls] == ["set_nice"]


def test_by_how_much_a_job_is_later_is_kept_for_those_who_ask(stage):
    """The second one started first, and runs for 30 of the 40 minutes until the next poll."""
    for job_id, submitted in (("1", 1000.0), ("2", 1001.0)):
        stage.put(job_id, JobState.PENDING, submit_time=submitted)
    stage.daemon.cycle(1001.0)
    assert known_of(stage.scheduler.known["1"], stage.store).late_s == 1
    stage.put("2", JobState.RUNNING, submit_time=1001.0, start_time=1600.0)
    stage.daemon.cycle(1600.0)
    stage.put("2", JobState.COMPLETED, submit_time=1001.0, start_time=1600.0, end_time=3400.0)
    stage.daemon.cycle(4000.0)

    views = all_known_of(list(stage.scheduler.known.values()), stage.store)
    assert {job_id: view.late_s for job_id, view in views.items()} == {"1": 1801, "2": None}
