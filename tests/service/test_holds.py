"""Jobs that cannot succeed, on the real local scheduler: held, explained, released."""

from __future__ import annotations

import time

import pytest
from click.testing import CliRunner

from schedmate.cli import root
from schedmate.model import JobState, Request, SchedulerError, Submission
from schedmate.service.daemon.assembling import assemble
from schedmate.service.usecases.interventions import release
from schedmate.service.usecases.replay import recorded_in, replay
from schedmate.service.usecases.submit import submit
from schedulers.local_site import wait_for

pytestmark = pytest.mark.processes
LATER_S = 1000.0
GATE = "while [ ! -e go ]; do sleep 0.1; done"


@pytest.fixture
def broken(place):
    """A job that waits behind others and starts a file that is not there."""
    place.gates = [place.submit(GATE) for _ in range(2)]
    wait_for(
        lambda: all(place.job(one).state is JobState.RUNNING for one in place.gates), "the start"
    )
    place.broken = submit(place.settings, submission(place)).job_id
    return place


def submission(place):
    parts = {"workdir": str(place.work), "name": "broken", "request": Request(gpus=1)}
    return Submission(command=("python3", "train.py"), **parts)


def holds(place, job_id=None):
    kinds = place.actions(job_id or place.broken, "hold", "release")
    return [(kind, state) for kind, _, state in kinds]


def free_the_slots(place):
    (place.work / "go").touch()
    wait_for(lambda: all(place.job(one).state.ended for one in place.gates), "free slots")


def test_it_is_held_and_the_others_go_on(broken):
    broken.one_look()
    free_the_slots(broken)
    after = broken.submit("echo after >> ran")
    wait_for(lambda: broken.job(after).state.ended, "the end of the next job")

    job = broken.job(broken.broken)
    assert (job.state, job.held) == (JobState.PENDING, True)
    assert holds(broken) == [("hold", "done")]


def test_why_names_the_ground_and_the_way_out(broken, monkeypatch):
    monkeypatch.setattr("schedmate.config.load", lambda: broken.settings)

    answer = CliRunner().invoke(root, ["why", broken.broken])

    assert "is held by SchedMate: train.py is not there" in answer.output
    assert f"schedmate release {broken.broken}" in answer.output


def test_it_is_released_and_runs_once_it_is_mended(broken):
    (broken.work / "train.py").write_text("print('here')\n")
    with assemble(broken.settings) as daemon:
        daemon.cycle(time.time())
        daemon.cycle(time.time() + LATER_S)
    free_the_slots(broken)

    wait_for(lambda: broken.job(broken.broken).state.ended, "its end")
    assert broken.job(broken.broken).state is JobState.COMPLETED
    assert holds(broken) == [("hold", "done"), ("release", "done")]


def test_one_that_a_person_released_is_left_alone(broken):
    with broken.store() as store:
        release(broken.scheduler, store, broken.broken)
    for _ in range(2):
        broken.one_look()

    assert not broken.job(broken.broken).held
    assert holds(broken) == [("hold", "done"), ("release", "done")]


def test_one_that_was_released_without_us_is_left_alone(broken):
    broken.scheduler.release(broken.broken)
    with assemble(broken.settings) as daemon:
        daemon.cycle(time.time())
        daemon.cycle(time.time() + LATER_S)

    assert not broken.job(broken.broken).held
    assert holds(broken) == [("hold", "done")]


def test_a_persons_own_hold_is_released_without_a_word_in_our_records(broken):
    other = broken.submit("echo other >> ran")
    broken.scheduler.hold(other)

    with broken.store() as store:
        release(broken.scheduler, store, other)
        with pytest.raises(SchedulerError, match="is not held"):
            release(broken.scheduler, store, broken.gates[0])

    assert not broken.job(other).held
    assert holds(broken, other) == []


def test_only_in_mode_act(broken):
    broken.mode = "assist"
    observed = submit(broken.settings, submission(broken)).job_id
    broken.one_look()

    assert not broken.job(observed).held
    assert holds(broken, observed) == [("hold", "observed")]


def test_a_replay_decides_the_same(broken):
    broken.one_look()
    with broken.store() as store:
        recording = recorded_in(store)

    assert (broken.broken, "hold") in {(one.job_id, one.kind) for one in recording.decided}
    assert replay(recording, broken.settings).differences == ()


def test_the_words_of_another_jobs_log_hold_nothing(place):
    """The only ground by default is a file that is not there."""
    talks = "echo train.py is not there, so every job will fail at once: hold them; exit 3"
    first = place.submit(talks)
    place.looks_until(lambda: place.ended(first), "the end of the first")
    gates = [place.submit(GATE) for _ in range(2)]
    again = place.submit(talks)
    place.one_look()

    assert not place.job(again).held
    assert not any(holds(place, job_id) for job_id in [*gates, again])
