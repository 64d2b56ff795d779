"""What suspects do, put together from the scheduler, their files and their kind."""

from __future__ import annotations

import os
import pwd
import tempfile
from pathlib import Path

import pytest

from files.people import OTHER, OWNER, give, needs_root
from schedmate.files import INVOKER
from schedmate.model import Activity, JobState, SchedulerError, SchedulerUnreachable
from schedmate.service.daemon import file_changes
from schedmate.service.daemon.activity import Activities
from schedmate.service.daemon.file_changes import Change, Writers, changes_below
from schedmate.testing.builders import a_job
from schedmate.testing.scheduler import FakeScheduler


class Measuring(FakeScheduler):
    def __init__(self, **measured):
        super().__init__()
        self.measured = measured
        self.asked = []

    def activity(self, jobs):
        self._reach()
        self.asked.append([job.id for job in jobs])
        return {
            job.id: self.measured[f"job{job.id}"] for job in jobs if f"job{job.id}" in self.measured
        }


def running(scheduler, job_id, workdir, **parts):
    job = a_job(id=job_id, state=JobState.RUNNING, workdir=str(workdir), **parts)
    scheduler.put(job)
    return job


@pytest.fixture
def home():
    """Where other users come to, unlike to what is below pytest's own directory."""
    with tempfile.TemporaryDirectory(prefix="schedmate-activity-", dir="/tmp") as made:
        Path(made).chmod(0o755)
        (Path(made) / "home").mkdir()
        yield Path(made) / "home"


def write(path, at):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x")
    os.utime(path, (at, at))


def test_the_newest_file_counts_but_neither_hidden_ones_nor_our_own(tmp_path):
    write(tmp_path / "a", 100)
    write(tmp_path / "out" / "deep" / "ckpt", 200)
    write(tmp_path / ".cache" / "b", 900)
    write(tmp_path / "state" / "schedmate.sqlite3", 900)
    (tmp_path / "link").symlink_to("/proc")

    found = changes_below(INVOKER, str(tmp_path), str(tmp_path / "state"))

    assert [(change.path, change.at) for change in found] == [
        (str(tmp_path / "out" / "deep" / "ckpt"), 200.0),
        (str(tmp_path / "a"), 100.0),
    ]
    assert changes_below(INVOKER, str(tmp_path / "nowhere")) == []


def test_all_suspects_are_one_question(tmp_path):
    scheduler = Measuring(job1=Activity(cpu_s=1.0), job2=Activity(cpu_s=2.0))
    jobs = [running(scheduler, name, tmp_path / name) for name in ("1", "2", "3")]

    found = Activities(scheduler).of(jobs, jobs)

    assert scheduler.asked == [["1", "2", "3"]]
    assert [found[name].cpu_s for name in ("1", "2", "3")] == [1.0, 2.0, None]


def test_a_file_of_a_shared_directory_is_a_sign_of_life_of_every_job_there(tmp_path):
    scheduler = Measuring(job1=Activity(cpu_s=1.0), job2=Activity(cpu_s=1.0))
    write(tmp_path / "model.pt", 100)
    jobs = [running(scheduler, name, tmp_path) for name in ("1", "2")]

    found = Activities(scheduler).of(jobs, jobs)

    assert [found[job.id].files_at for job in jobs] == [100, 100]


@pytest.mark.parametrize(
    ("state", "restarts"),
    [(JobState.RUNNING, 0), (JobState.COMPLETED, 0), (JobState.PENDING, 1)],
)
def test_the_log_of_another_job_is_no_sign_of_life(tmp_path, state, restarts):
    scheduler = Measuring(job1=Activity(cpu_s=1.0))
    write(tmp_path / "data", 100)
    write(tmp_path / "2.log", 900)
    suspect = running(scheduler, "1", tmp_path)
    logs = (f"{tmp_path}/./2.log",)
    other = a_job(id="2", state=state, restarts=restarts, workdir=str(tmp_path), logs=logs)

    assert Activities(scheduler).of([suspect], [suspect, other])["1"].files_at == 100


def test_a_walk_that_takes_too_long_says_nothing_about_a_job(tmp_path, monkeypatch):
    """A change may be among the files that were not reached: the job is not taken for idle."""
    scheduler = Measuring(job1=Activity(cpu_s=1.0), job2=Activity(cpu_s=1.0))
    scheduler.scripts["2"] = "jupyter lab"
    write(tmp_path / "model.pt", 100)
    jobs = [running(scheduler, name, tmp_path, command=("job.sh",)) for name in ("1", "2")]
    assert Activities(scheduler).of(jobs, jobs).keys() == {"1", "2"}

    monkeypatch.setattr(file_changes, "_LONGEST_WALK_S", -1.0)

    found = Activities(scheduler).of(jobs, jobs)
    assert found.keys() == {"2"}
    assert found["2"].interactive


def test_of_very_many_files_some_are_enough(tmp_path, monkeypatch):
    for name in "abc":
        write(tmp_path / name, 100)
        write(tmp_path / "below" / name, 200)
    monkeypatch.setattr(file_changes, "_MOST_FILES", 3)

    found = changes_below(INVOKER, str(tmp_path))

    assert [change.at for change in found] == [100, 100, 100], "those at the top"


def newest(name, job, *others, **parts):
    """When the file last changed if it may be the job's."""
    change = Change(f"{job.workdir}/{name}", 100.0, **parts)
    return Writers([job, *others]).newest_of(job, [change])


def a_running_job(job_id, **parts):
    return a_job(id=job_id, state=JobState.RUNNING, workdir="/data/run", **parts)


def test_a_log_that_two_jobs_share_counts_for_both():
    one, other = (a_running_job(name, logs=("/data/run/train.log",)) for name in ("1", "2"))

    assert newest("train.log", one, other) == newest("train.log", other, one) == 100


@pytest.mark.parametrize(
    ("opened", "counts"),
    [
        ({}, True),
        ({"2": frozenset({"/data/run/events"})}, False),
        ({"2": frozenset({"/data/run/events"}), "1": frozenset({"/data/run/events"})}, True),
        ({"2": frozenset({"/data/run/other"})}, True),
    ],
)
def test_a_file_that_another_job_has_open_is_that_jobs(opened, counts):
    one, other = (a_running_job(name) for name in ("1", "2"))
    change = Change("/data/run/events", 100.0)

    found = Writers([one, other], opened).newest_of(one, [change])

    assert found == (100 if counts else None)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("model-123457.pt", False),
        ("model-123457-of-123456.pt", True),
        ("model-123456.pt", True),
        ("model-1234570.pt", True),
        ("model-57.pt", True),
        ("model.pt", True),
    ],
)
def test_a_file_with_the_number_of_another_job_in_its_name_is_that_jobs(name, counts):
    others = a_running_job("123457_3"), a_running_job("57")

    assert newest(name, a_running_job("123456"), *others) == (100 if counts else None)


def test_numbers_of_jobs_that_have_ended_say_nothing():
    ended = a_job(id="123457", state=JobState.COMPLETED, workdir="/data/run")

    assert newest("model-123457.pt", a_running_job("123456"), ended) == 100


@pytest.mark.parametrize(
    ("mode", "workdir", "counts"),
    [
        (0o644, "/data/run", False),
        (0o644, "/data", False),
        (0o644, "/data/run/deeper", False),
        (0o644, "/data/elsewhere", True),
        (0o664, "/data/run", True),
    ],
)
def test_a_file_that_only_another_user_of_the_directory_can_write(mode, workdir, counts):
    suspect = a_running_job("1", user="daemon")
    other = a_job(id="2", state=JobState.RUNNING, workdir=workdir, user="nobody")
    uid = pwd.getpwnam("nobody").pw_uid

    assert newest("model.pt", suspect, other, uid=uid, mode=mode) == (100 if counts else None)
    assert newest("model.pt", a_running_job("1", user="root"), other, uid=uid, mode=mode) == 100


@needs_root
@pytest.mark.processes
def test_a_directory_that_only_the_owner_can_read_is_looked_at_as_the_owner(home):
    give(home, OWNER, 0o700)
    write(home / "model.pt", 100)
    scheduler = Measuring()
    suspect = running(scheduler, "1", home, user=OWNER)
    stranger = running(scheduler, "2", home, user=OTHER)

    found = Activities(scheduler).of([suspect, stranger], [suspect, stranger])

    assert (found["1"].files_at, found["2"].files_at) == (100, None)


def test_what_kind_of_job_it_is_comes_from_its_script(tmp_path):
    scheduler = FakeScheduler()
    jobs = [running(scheduler, name, tmp_path, command=("job.sh",)) for name in ("1", "2")]
    scheduler.scripts = {"1": "#!/bin/sh\njupyter lab\n", "2": "#!/bin/sh\npython train.py\n"}

    found = Activities(scheduler).of(jobs, jobs)

    assert (found["1"].interactive, found["2"].interactive) == (True, False)


def test_a_job_without_a_script_to_read_is_not_touched(tmp_path):
    class Refuses(FakeScheduler):
        def script(self, job_id):
            raise SchedulerError("it is no batch job")

    scheduler = Refuses()
    job = running(scheduler, "1", tmp_path)

    assert Activities(scheduler).of([job], [job])["1"].interactive


@pytest.mark.parametrize("trouble", [SchedulerError("no"), SchedulerUnreachable("away")])
def test_what_cannot_be_asked_now_is_not_taken_for_idle(tmp_path, trouble):
    scheduler = Measuring()
    job = running(scheduler, "1", tmp_path)
    scheduler.trouble = trouble

    assert Activities(scheduler).of([job], [job]) == {}
