"""A scheduler that begins to count anew, beside a store that remembers."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from schedmate.core import DecisionEngine, JobDiagnosed, JobForgotten, JobSeen
from schedmate.model import JobState
from schedmate.policies import ordering
from schedmate.service.daemon.assembling import assemble
from schedmate.service.views.job_view import job_view
from schedmate.service.visibility import Viewer
from schedmate.testing.builders import a_diagnosis, a_job
from schedulers.local_site import wait_for
from service.place import ERROR, KILLED_ONCE

pytestmark = pytest.mark.processes


def begin_anew(place):
    """As after a queue was lost: the next job has the first number again."""
    place.leave()
    queue = place.settings.state_dir / "local"
    with closing(sqlite3.connect(queue / "queue.sqlite3")) as file:
        file.executescript("DELETE FROM jobs; DELETE FROM sqlite_sequence")
    shutil.rmtree(queue / "jobs")


def test_a_local_queue_that_was_lost(place):
    first = place.submit(ERROR)
    place.looks_until(lambda: place.actions(first, "leave"), "the first decision")
    with place.store() as store:
        old = store.run(first).job
        reason = store.diagnoses(first)[0].reason
    begin_anew(place)

    second = place.submit(KILLED_ONCE)
    assert second == first
    place.looks_until(lambda: place.ended(second, restarts=1), "the end of its retry")

    assert place.job(second).state is JobState.COMPLETED
    assert place.actions(second) == [("requeue", 0, "done")]
    with place.store() as store:
        assert store.diagnoses(second)[0].reason == "killed"
        name = f"{first}@{old.submit_time}"
        assert store.run(name).job == replace(old, id=name)
        assert store.diagnoses(name)[0].reason == reason
        assert [one.action.kind for one in store.actions(job_id=name)][-1] == "leave"


def test_one_daemon_sees_both(place):
    with assemble(place.settings) as daemon:
        first = place.submit(ERROR)
        wait_for(lambda: daemon.cycle(1e9) or place.actions(first, "leave"), "the first decision")
        begin_anew(place)
        second = place.submit(KILLED_ONCE)
        assert second == first
        wait_for(lambda: daemon.cycle(2e9) or place.actions(second), "the second decision")
        assert [kind for kind, *_ in place.actions(second)] == ["requeue"]


def test_who_looks_before_any_daemon_sees_nothing_of_the_other_job(place):
    first = place.submit("echo a-line-of-the-first-job; exec python3 -c 'x = {}[1]'")
    place.looks_until(lambda: place.actions(first, "leave"), "the first decision")
    begin_anew(place)
    scheduler = place.scheduler
    second = scheduler.submit(place.submission("sleep 30"))
    with place.store() as store:
        view = job_view(scheduler, store, Viewer(user="root", operator=True), second)
    assert view.job.id == first
    assert not view.diagnoses
    assert not [one for one in view.actions if one.action.kind == "leave"]
    assert "a-line-of-the-first-job" not in repr(view)


def test_an_engine_takes_another_job_of_the_number_for_new():
    """As in a replay of a log that says no more."""
    engine = DecisionEngine(ordering("ssf"))
    failed = a_job(state=JobState.FAILED)
    engine.handle(JobSeen(1.0, failed))
    engine.handle(JobDiagnosed(2.0, failed.id, 0, a_diagnosis()))
    assert engine.known[failed.id].attempts
    engine.handle(JobSeen(3.0, replace(failed, submit_time=5000.0)))
    assert not engine.known[failed.id].attempts
    engine.handle(JobForgotten(4.0, failed.id))
