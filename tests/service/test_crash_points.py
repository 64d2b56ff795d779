"""The daemon dies before or after every single thing it asks of the scheduler or the store."""

from __future__ import annotations

import os
from contextlib import closing
from itertools import count

import pytest

from schedmate.core import DecisionLimits, HangLimits
from schedmate.handler import Handler
from schedmate.model import JobState, NodeState
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_diagnosis, a_job
from schedmate.testing.scheduler import FakeScheduler
from schedmate.tracker import JobTracker
from service.dying import dies, look

NOW = 2000.0
ENOUGH = 150
each_side = pytest.mark.parametrize("done", [False, True], ids=["before", "after"])


class TooLate(Handler):
    """Rules leave it open; a model says later that the file system was away."""

    def diagnose(self, case, *, within_s=None):
        return a_diagnosis("unknown", confidence=0.2)

    def ask_model(self, case, diagnosis):
        return a_diagnosis("storage_io", confidence=0.7, source="llm")


def everywhere(folder, run, *, done):
    """Try one daemon after another, each dying a step later, until one has no such step."""
    for step in count(1):
        scheduler = FakeScheduler()
        scheduler.node_states["n1"] = NodeState(name="n1", condition="up")
        log = folder / "log"
        log.write_text("")
        with closing(SqliteStore(folder / f"store-{step}")) as store:
            if not run(scheduler, store, log, step, done):
                break
        assert step < ENOUGH
    assert step > 8, "there were steps to die at"


def put(scheduler, log, state, **parts):
    parts = {"nodes": ("n1",), "workdir": str(log.parent), "logs": (str(log),), **parts}
    scheduler.put(a_job(state=state, **parts))


def assert_requeued_once(scheduler, store, step):
    assert scheduler.calls == [("requeue", "1")], step
    assert scheduler.known["1"].restarts == 1
    assert len([one for one in store.actions() if one.action.kind == "requeue"]) == 1
    assert store.actions(state="intended") == []
    assert set(store.diagnoses("1")) == {0}


@pytest.mark.slow
@each_side
def test_a_job_is_requeued_once_wherever_the_daemon_dies(scratch, done):
    def run(scheduler, store, log, step, done):
        put(scheduler, log, JobState.FAILED, signal=9)
        crashed = dies(scheduler, store, NOW, step=step, done=done)
        look(scheduler, store, NOW + 1)
        look(scheduler, store, NOW + 2)

        assert_requeued_once(scheduler, store, step)
        assert [record.state for record in store.actions(job_id="1")][:1] == ["done"]
        assert store.run("1", 0).job.state is JobState.FAILED
        return crashed

    everywhere(scratch, run, done=done)


@pytest.mark.slow
@each_side
def test_a_diagnosis_that_a_model_refines_late_acts_once_too(scratch, done):
    def run(scheduler, store, log, step, done):
        put(scheduler, log, JobState.FAILED, exit_code=1)
        handler = TooLate(store)
        crashed = dies(scheduler, store, NOW, step=step, done=done, handler=handler)
        look(scheduler, store, NOW + 1, handler=handler)
        look(scheduler, store, NOW + 2, handler=handler)

        assert_requeued_once(scheduler, store, step)
        assert store.diagnoses("1")[0].reason == "storage_io"
        return crashed

    everywhere(scratch, run, done=done)


@pytest.mark.slow
@each_side
def test_a_hang_that_turns_into_an_end_acts_once_too(scratch, done):
    """It seems to hang, the daemon dies over it, and by the next look the job has ended."""

    def run(scheduler, store, log, step, done):
        put(scheduler, log, JobState.RUNNING, start_time=NOW - 300, workdir=str(log / "none"))
        store.keep_tracking("1", 0, silent_since(log, NOW - 200))
        hang = DecisionLimits(hang=HangLimits(after_s=6.0, requeue=True))
        crashed = dies(scheduler, store, NOW, step=step, done=done, limits=hang, looks=7)
        assert crashed or scheduler.calls == [("requeue", "1")], "it was seen to hang"
        if scheduler.known["1"].restarts == 0:
            put(scheduler, log, JobState.FAILED, signal=9, end_time=NOW)
        look(scheduler, store, NOW + 8)
        look(scheduler, store, NOW + 9)

        assert_requeued_once(scheduler, store, step)
        return crashed

    everywhere(scratch, run, done=done)


def silent_since(log, end):
    """What a tracker leaves that watched a minute of steady lines and then nothing."""
    log.write_text("")
    tracker = JobTracker([log], started_at=end - 100)
    for second in range(60):
        with log.open("a") as file:
            file.write(f"step {second}/100\n")
        os.utime(log, (end - 60 + second, end - 60 + second))
        tracker.poll(end - 60 + second)
    for now in range(int(end), int(NOW), 5):
        tracker.poll(now)
    return tracker.state()


@pytest.mark.slow
@each_side
def test_a_daemon_that_always_dies_at_the_same_step_does_no_harm(scratch, done):
    def run(scheduler, store, log, step, done):
        put(scheduler, log, JobState.FAILED, signal=9)
        crashed = [dies(scheduler, store, NOW + n, step=step, done=done) for n in range(5)]
        assert len(scheduler.calls) <= 1
        look(scheduler, store, NOW + 9, looks=2)

        assert_requeued_once(scheduler, store, step)
        return crashed[0]

    everywhere(scratch, run, done=done)
