"""`schedmate serve` and the local scheduler are killed at random while jobs run."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace

import pytest

from schedmate.disk.lock import lock_holder
from schedmate.model import JobState
from schedmate.service.usecases.submit import submit
from schedulers.local_site import wait_for
from service.place import ERROR, KILLED_ONCE, RUN

pytestmark = [pytest.mark.processes, pytest.mark.timeout(1800)]


@contextmanager
def serving(place):
    settings = place.settings
    env = {
        **os.environ,
        "SCHEDMATE_STATE_DIR": str(settings.state_dir),
        "SCHEDMATE_SCHEDULER": "local",
        "SCHEDMATE_MODE": "act",
        "SCHEDMATE_LOCAL__SLOTS": "2",
        "SCHEDMATE_LOCAL__KILL_WAIT_S": "0.3",
        "SCHEDMATE_LOCAL__POLL_S": "0.02",
        "SCHEDMATE_LLM__ENABLED": "false",
    }
    with (place.root / "serve.log").open("ab") as log:
        words = [sys.executable, "-m", "schedmate", "serve"]
        daemon = subprocess.Popen(words, env=env, stdout=log, stderr=log)
    try:
        yield daemon
    finally:
        daemon.kill()
        daemon.wait()


def unlike_others(place, number):
    """A run is not repeated beside one that its owner has submitted in its place since."""
    apart = place.root / f"apart {number}"
    apart.mkdir()
    asked = place.submission(f": {number}; cd {place.work}; {KILLED_ONCE}")
    return submit(place.settings, replace(asked, workdir=str(apart))).job_id


@pytest.mark.parametrize("seed", [3])
def test_no_job_is_lost_run_twice_or_requeued_twice(place, seed):
    chance = random.Random(seed)
    good = [place.submit(f"{RUN}; sleep {chance.uniform(0, 1):.1f}") for _ in range(3)]
    wrong = [place.submit(ERROR) for _ in range(2)]
    unlucky = [unlike_others(place, number) for number in range(3)]
    local_lock = place.settings.state_dir / "local" / "daemon.lock"

    for turn in range(7):
        with serving(place) as daemon:
            time.sleep(chance.uniform(0.3, 2.0))
            if turn % 2:
                scheduler = lock_holder(local_lock)
                if scheduler is not None:
                    os.kill(scheduler, signal.SIGKILL)
            daemon.kill()
    with serving(place) as daemon:

        def at_rest():
            with place.store() as store:
                return (
                    all(place.ended(one) and store.run(one) for one in good)
                    and all(place.ended(one) and store.diagnoses(one) for one in wrong)
                    and all(place.ended(one, 1) and store.run(one, 1) for one in unlucky)
                )

        wait_for(at_rest, "the end of all jobs", 120)
        wait_for(lambda: lock_holder(place.settings.state_dir / "serve.lock") == daemon.pid)
        time.sleep(1.2)
        daemon.terminate()
        assert daemon.wait(60) == 0

    expected = [f"{one} 0" for one in (*good, *wrong, *unlucky)] + [f"{one} 1" for one in unlucky]
    assert sorted(place.lines()) == sorted(expected)
    jobs = {job.id: job for job in place.scheduler.jobs()}
    assert {jobs[one].state for one in (*good, *unlucky)} == {JobState.COMPLETED}
    assert {jobs[one].state for one in wrong} == {JobState.FAILED}
    for one in (*good, *wrong):
        assert place.actions(one) == []
    for one in unlucky:
        assert place.actions(one) == [("requeue", 0, "done")]
        with place.store() as store:
            assert store.run(one, 0).job.state is JobState.FAILED


def test_a_second_serve_refuses_and_the_first_one_ends_when_asked(place):
    with serving(place) as first:
        wait_for(lambda: lock_holder(place.settings.state_dir / "serve.lock") == first.pid)
        with serving(place) as second:
            assert second.wait(60) == 1
        assert "already" in (place.root / "serve.log").read_text()
        first.terminate()
        assert first.wait(60) == 0
