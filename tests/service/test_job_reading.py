import os
import time
from pwd import getpwuid

import pytest

from schedmate.advisor import Advisor
from schedmate.model import array_of
from schedmate.service.daemon.job_reading import JobReader
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_job
from schedmate.testing.scheduler import FakeScheduler


class CountingScheduler(FakeScheduler):
    def script(self, job_id):
        self.calls.append(("script", job_id))
        return super().script(job_id)


@pytest.fixture
def store(tmp_path):
    store = SqliteStore(tmp_path / "store")
    yield store
    store.close()


@pytest.fixture
def scheduler():
    return CountingScheduler()


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "job.sh"
    path.write_text("#!/bin/sh\nsleep 5\n")
    return path


def reader_of(scheduler, store, **parts):
    return JobReader(scheduler, store, Advisor(store, store), **parts)


def put(scheduler, script, job_id, *, submitted):
    user = getpwuid(os.getuid()).pw_name
    job = a_job(
        id=job_id,
        user=user,
        workdir=str(script.parent),
        command=(str(script),),
        script=str(script),
        submit_time=submitted,
    )
    scheduler.put(job)
    scheduler.scripts[job_id] = script.read_text()
    return job


def read(reader, *jobs):
    return [reader.read(job) for job in jobs]


def test_a_script_that_did_not_change_is_asked_for_once(scheduler, store, script):
    later = time.time() + 60
    jobs = [put(scheduler, script, str(number), submitted=later) for number in range(5)]
    assert None not in read(reader_of(scheduler, store), *jobs)
    assert scheduler.calls == [("script", "0")]


def test_a_script_that_was_written_since_is_asked_for_each_time(scheduler, store, script):
    earlier = time.time() - 60
    jobs = [put(scheduler, script, str(number), submitted=earlier) for number in range(3)]
    read(reader_of(scheduler, store), *jobs)
    assert len(scheduler.calls) == 3


def test_a_changed_script_with_its_old_time_is_asked_for_again(scheduler, store, script):
    later = time.time() + 60
    reader = reader_of(scheduler, store)
    first = put(scheduler, script, "1", submitted=later)
    read(reader, first)
    before = script.stat()
    script.write_text("#!/bin/sh\nsleep 6\n")
    os.utime(script, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert script.stat().st_mtime_ns == before.st_mtime_ns
    read(reader, put(scheduler, script, "2", submitted=later))
    assert scheduler.calls == [("script", "1"), ("script", "2")]


def test_copies_are_advised_once_a_look(scheduler, store, script):
    class CountingAdvisor(Advisor):
        asked = 0

        def advise(self, target):
            self.asked += 1
            return super().advise(target)

    advisor = CountingAdvisor(store, store)
    reader = JobReader(scheduler, store, advisor)
    copies = [put(scheduler, script, str(number), submitted=1200.0 + number) for number in range(4)]
    other = put(scheduler, script, "9", submitted=2400.0)
    read(reader, *copies, other)
    assert advisor.asked == 2
    assert store.advice("3") == store.advice("0")
    reader.begin_look()
    read(reader, copies[0])
    assert advisor.asked == 3


def test_a_look_asks_for_so_many_scripts(scheduler, store, script):
    reader = reader_of(scheduler, store, most_scripts=2)
    reader.begin_look()
    jobs = [put(scheduler, script, str(number), submitted=0.0) for number in range(2)]
    read(reader, jobs[0])
    assert not reader.is_spent
    read(reader, jobs[1])
    assert reader.is_spent
    reader.begin_look()
    assert not reader.is_spent


def test_a_long_look_still_reads_some(scheduler, store, monkeypatch):
    reader = reader_of(scheduler, store)
    reader.begin_look()
    later = time.monotonic() + 60
    monkeypatch.setattr("schedmate.service.daemon.job_reading.time.monotonic", lambda: later)
    assert reader.is_spent
    reader.begin_queue()
    assert not reader.is_spent


def test_tasks_share_what_was_read_of_one_of_them(scheduler, store, script):
    reader = reader_of(scheduler, store)
    first, second = (put(scheduler, script, one, submitted=0.0) for one in ("7_0", "7_1"))
    advice = reader.read(first)
    assert reader.kept(second).advice == advice
    assert store.advice("7_1").advice == advice


def test_only_a_task_has_an_array():
    assert [array_of(one) for one in ("12_3", "12", "12+1")] == ["12", None, None]
