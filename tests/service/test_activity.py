"""What suspects do, put together from the scheduler, their files and their kind."""

from __future__ import annotations

import os

import pytest

from schedmate.model import Activity, JobState, SchedulerError, SchedulerUnreachable
from schedmate.service.daemon.activity import Activities, newest_change
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

    assert newest_change(tmp_path, tmp_path / "state") == 200
    assert newest_change(tmp_path / "nowhere") is None


def test_all_suspects_are_one_question(tmp_path):
    scheduler = Measuring(job1=Activity(cpu_s=1.0), job2=Activity(cpu_s=2.0))
    jobs = [running(scheduler, name, tmp_path / name) for name in ("1", "2", "3")]

    found = Activities(scheduler).of(jobs, jobs)

    assert scheduler.asked == [["1", "2", "3"]]
    assert [found[name].cpu_s for name in ("1", "2", "3")] == [1.0, 2.0, None]


def test_files_that_may_be_anybodys_count_only_where_no_cpu_time_is_known(tmp_path):
    scheduler = Measuring(job1=Activity(cpu_s=1.0))
    write(tmp_path / "log", 100)
    measured, other = (running(scheduler, name, tmp_path) for name in ("1", "2"))
    activities = Activities(scheduler)

    assert activities.of([measured], [measured])["1"].files_at == 100
    assert activities.of([measured], [measured, other])["1"].files_at is None
    assert activities.of([other], [measured, other])["2"].files_at == 100


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
