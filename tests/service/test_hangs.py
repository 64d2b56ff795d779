"""Silent jobs on the real local queue in mode `act`, with seconds where a site has minutes."""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from schedmate.config import HangSettings
from schedmate.model import JobState, Request, Submission
from schedmate.service.daemon.assembling import assemble
from schedmate.service.views.job_view import job_view
from schedmate.service.views.sentences import why_sentence
from schedmate.service.visibility import viewer_of
from service.place import Place

HANG_S = 3.0
LINES = 200
SILENT_S = 3 * HANG_S
AT_MOST_S = 240.0
STEADY = ("sh", "-c", "exec 3>> metrics; while echo at work; do echo 1 >&3; sleep 0.1; done")
JOB = Path(__file__).parent / "silent_job.py"


class HangPlace(Place):
    opted_in = False

    @property
    def settings(self):
        local = replace(super().settings.local, slots=16)
        hang = HangSettings(minutes=HANG_S / 60, requeue=self.opted_in)
        return replace(super().settings, hang=hang, local=local)

    def begin(self, kind, *, command=None, alone=True):
        """Start a job of this kind, in a directory of its own or in that of all the others."""
        workdir = self.root / f"work-{kind}" if alone else self.work
        workdir.mkdir(exist_ok=True)
        shutil.copy(JOB, workdir / "silent_job.py")
        own = (sys.executable, "silent_job.py", kind, str(LINES), str(SILENT_S))
        words = Submission(
            command=command or own, workdir=str(workdir), name=kind, request=Request(gpus=1)
        )
        return self.scheduler.submit(words)

    def follow(self, met):
        """Look as the daemon does until this is so; whether it was in time."""
        until = time.monotonic() + AT_MOST_S
        with assemble(self.settings) as daemon:
            while time.monotonic() < until:
                daemon.cycle(time.time())
                if met():
                    return True
                time.sleep(0.05)
        return False

    def why(self, job_id):
        with self.store() as store:
            view = job_view(self.scheduler, store, viewer_of(self.settings), job_id)
        return why_sentence(view, self.scheduler.jobs(), 0.0, str)

    def warned(self, job_id):
        return self.actions(job_id, "warn")


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")
    place = HangPlace(tmp_path)
    with place.store():
        pass
    yield place
    place.leave()


def test_healthy_jobs_with_long_silences_are_not_touched(place):
    work = place.root / "work-notebook"
    work.mkdir()
    notebook = work / "jupyter"
    notebook.write_text(f"#!/bin/sh\nexec {sys.executable} silent_job.py hang {LINES} 0\n")
    notebook.chmod(0o755)
    held = f"{sys.executable} silent_job.py none {LINES} 0; sleep infinity"
    ends = [place.begin(kind) for kind in ("checkpoint", "evaluation", "compile")]
    ends += [place.begin(kind) for kind in ("cpu", "child", "files")]
    ends += [place.begin(kind, alone=False) for kind in ("cpu", "child", "files")]
    stay = [
        place.begin("notebook", command=("./jupyter", "lab")),
        place.begin("shell", command=("bash", "-c", held)),
    ]

    assert place.follow(lambda: all(place.job(job).state.ended for job in ends))

    jobs = {job.name: job for job in place.scheduler.jobs([*ends, *stay])}
    assert {name: job.restarts for name, job in jobs.items()} == dict.fromkeys(jobs, 0)
    assert {place.job(job).state for job in ends} == {JobState.COMPLETED}
    assert {place.job(job).state for job in stay} == {JobState.RUNNING}
    assert place.actions() == []
    assert place.actions(None, "warn") == []


def test_jobs_that_only_wait_are_warned_of_and_go_on(place):
    """For items, for a child, for nobody knows what: nothing shows that they are blocked."""
    waiting = [place.begin(kind) for kind in ("consumer", "parent", "hang")]

    assert place.follow(lambda: all(place.warned(job) for job in waiting))

    for job in waiting:
        assert place.actions(job) == []
        assert place.warned(job) == [("warn", 0, "noted")]
        assert (place.job(job).state, place.job(job).restarts) == (JobState.RUNNING, 0)
        assert "it may only wait" in place.why(job)


@contextmanager
def dead_files(directory):
    """A file system whose server does not answer: FUSE's, with nobody who reads the requests."""
    directory.mkdir(parents=True)
    try:
        device = os.open("/dev/fuse", os.O_RDWR)
    except OSError as error:
        pytest.skip(f"/dev/fuse: {error.strerror}")
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
    if libc.mount(b"dead", os.fsencode(directory), b"fuse", 0, options):
        os.close(device)
        pytest.skip(f"mount: {os.strerror(ctypes.get_errno())}")
    try:
        yield
    finally:
        os.close(device)  # all that wait get an error
        libc.umount2(os.fsencode(directory), 2)


def test_a_job_in_a_dead_file_system_is_queued_again_exactly_once(place):
    with dead_files(place.root / "dead"):
        job = place.begin("dead files")
        assert place.follow(lambda: place.warned(job))
        assert place.actions(job) == [("requeue", 0, "done")]
        assert place.warned(job) == [("warn", 1, "noted")]


def test_a_true_hang_is_queued_again_exactly_once_and_warned_of_after_that(place):
    place.opted_in = True
    hangs = [place.begin("hang"), place.begin("hang", alone=False)]
    place.begin("writes beside them", command=STEADY, alone=False)

    assert place.follow(lambda: all(place.warned(job) for job in hangs))
    looked_at = time.monotonic()
    place.follow(lambda: time.monotonic() - looked_at > 3 * HANG_S)

    for job in hangs:
        assert place.actions(job) == [("requeue", 0, "done")]
        assert place.warned(job) == [("warn", 1, "noted")]
        assert (place.job(job).state, place.job(job).restarts) == (JobState.RUNNING, 1)
        assert place.why(job).startswith("hang: ")
        assert "left alone as long as it runs (hang: it was queued again" in place.why(job)


def test_in_mode_observe_a_hang_is_only_written_down(place):
    place.mode, place.opted_in = "observe", True
    job = place.begin("hang")

    assert place.follow(lambda: place.actions(job))

    assert place.actions(job) == [("requeue", 0, "observed")]
    assert place.job(job).restarts == 0
