"""In the local queue waiting makes up for a nice number, and ended jobs leave the list."""

from __future__ import annotations

import time
from contextlib import closing

import pytest

from schedmate.config import LocalSettings
from schedmate.model import Submission
from schedmate.schedulers.local import LocalScheduler
from schedmate.schedulers.local.entry import SECONDS_A_NICE
from schedmate.schedulers.local.plan import in_order
from schedmate.schedulers.local.queue import QueueFile


def put(queue, name, *, nice, at):
    new = Submission(name=name, workdir="/", command=("true",), nice=nice)
    queue.add(new, "ada", at, spool=lambda _: [("/dev/null", "/dev/null")])


@pytest.mark.parametrize(
    ("waited", "first"), [(0.9, "new"), (1.1, "old")], ids=["too short", "long enough"]
)
def test_a_job_that_waited_long_enough_goes_before_a_new_one(tmp_path, waited, first):
    with closing(QueueFile(tmp_path / "queue")) as queue:
        put(queue, "old", nice=500, at=1000.0)
        put(queue, "new", nice=0, at=1000.0 + waited * 500 * SECONDS_A_NICE)
        assert in_order(queue.pending())[0].name == first


def test_the_whole_range_is_a_week(tmp_path):
    assert 10_000 * SECONDS_A_NICE == 7 * 86400.0


def test_only_the_newest_ended_jobs_are_listed(tmp_path, monkeypatch):
    """A sweep of thousands would fill the memory of all who look at the queue."""
    monkeypatch.setattr("schedmate.schedulers.local.adapter._MOST_REMEMBERED", 3)
    scheduler = LocalScheduler(tmp_path, LocalSettings(slots=1))
    with closing(QueueFile(tmp_path / "queue.sqlite3")) as queue:
        for number in range(1, 9):
            put(queue, f"job{number}", nice=0, at=time.time())
        for number in (8, 1, 5, 2, 7, 3):
            queue.cancel(str(number), time.time())
        for number in (4, 6):
            queue.hold(str(number))

    assert [job.id for job in scheduler.jobs()] == ["2", "3", "4", "6", "7"]
    assert [job.id for job in scheduler.jobs(["8", "1"])] == ["1", "8"]
