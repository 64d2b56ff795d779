import os
import time
from dataclasses import replace
from pwd import getpwuid

import pytest

from schedmate.advisor import Advisor, Target
from schedmate.advisor.predict.without_runs import UNLIKE_ANY
from schedmate.core import DecisionEngine, JobAdvised, JobSeen
from schedmate.model import Fingerprint, JobState, Workload, array_of
from schedmate.policies import ordering
from schedmate.service.daemon.job_reading import JobReader
from schedmate.testing.builders import a_job, a_past_run
from schedmate.testing.scheduler import FakeScheduler


class CountingScheduler(FakeScheduler):
    def script(self, job_id):
        self.calls.append(("script", job_id))
        return super().script(job_id)


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
    reader.write_down()
    assert store.advice("3") == store.advice("0") is not None
    reader.begin_poll()
    read(reader, copies[0])
    assert advisor.asked == 3


def test_a_look_asks_for_so_many_scripts(scheduler, store, script):
    reader = reader_of(scheduler, store, most_scripts=2)
    reader.begin_poll()
    jobs = [put(scheduler, script, str(number), submitted=0.0) for number in range(2)]
    read(reader, jobs[0])
    assert not reader.is_spent
    read(reader, jobs[1])
    assert reader.is_spent
    reader.begin_poll()
    assert not reader.is_spent


def burn(reader, seconds):
    with reader.spending():
        until = time.thread_time() + seconds
        while time.thread_time() < until:
            pass


def test_a_backlog_is_read_little_by_little(scheduler, store, monkeypatch):
    monkeypatch.setattr("schedmate.service.daemon.job_reading._AT_ONCE_S", 0.06)
    monkeypatch.setattr("schedmate.service.daemon.job_reading._LATER_S", 0.02)
    reader = reader_of(scheduler, store)
    reader.begin_poll()
    burn(reader, 0.04)
    assert not reader.is_spent
    burn(reader, 0.03)
    assert reader.is_spent
    reader.begin_poll()
    assert not reader.is_spent, "some is read in every poll"
    burn(reader, 0.03)
    assert reader.is_spent
    reader.begin_poll()
    reader.begin_poll()
    burn(reader, 0.04)
    assert not reader.is_spent, "what was not spent was no backlog"


def test_waiting_for_a_slow_disk_ends_a_poll_too(scheduler, store, monkeypatch):
    monkeypatch.setattr("schedmate.service.daemon.job_reading._MOST_S", 0.05)
    reader = reader_of(scheduler, store)
    reader.begin_poll()
    with reader.spending():
        time.sleep(0.1)
    assert reader.is_spent


def test_what_was_read_is_written_down_together(scheduler, store, script):
    reader = reader_of(scheduler, store)
    jobs = [put(scheduler, script, str(number), submitted=0.0) for number in range(3)]
    read(reader, *jobs)
    assert store.advice("2") is None
    assert reader.kept(jobs[2]) is not None
    reader.write_down()
    assert store.advice("2") == reader.kept(jobs[2])


def test_tasks_share_what_was_read_of_one_of_them(scheduler, store, script):
    reader = reader_of(scheduler, store)
    first, second = (put(scheduler, script, one, submitted=0.0) for one in ("7_0", "7_1"))
    advice = reader.read(first)
    assert reader.kept(second).advice == advice
    reader.write_down()
    assert store.advice("7_1").advice == advice


@pytest.mark.parametrize(("seen_before", "told"), [(True, ["1"]), (False, [])])
def test_a_queue_goes_by_what_runs_of_the_same_code_took(store, script, seen_before, told):
    """It lets a job past others by that: what its user's other jobs took is no reason."""
    predicted = []

    class Taking(FakeScheduler):
        def set_predictions(self, predictions):
            predicted.extend(predictions)

    scheduler = Taking()
    reader = reader_of(scheduler, store)
    job = put(scheduler, script, "1", submitted=9e9)
    for number in range(4):
        mark = Fingerprint(code=f"other{number}", arguments="a")
        if seen_before:
            mark = Advisor(store, store).advise(reader.target(job)).fingerprint
        past = a_job(id=f"past{number}", user=job.user, state=JobState.COMPLETED)
        past = replace(past, start_time=0.0, end_time=90.0)
        store.keep_run(a_past_run(job=past, fingerprint=mark))

    advice = reader.read(job)
    reader.write_down()

    assert advice.prediction.basis == ("identical" if seen_before else "history")
    assert advice.prediction.duration_s is not None
    assert predicted == told


def test_only_a_task_has_an_array():
    assert [array_of(one) for one in ("12_3", "12", "12+1")] == ["12", None, None]


def test_no_file_of_a_job_that_has_opted_out_is_opened(scheduler, store, script, monkeypatch):
    """Its user's past and its request are what it is predicted by."""
    for number in range(4):
        job = a_job(id=f"before{number}", user="ada", state=JobState.COMPLETED)
        store.keep_run(a_past_run(job=replace(job, start_time=0.0, end_time=3600.0)))
    job = replace(put(scheduler, script, "1", submitted=9e9), comment="schedmate=off", user="ada")
    monkeypatch.setattr(Target, "files", property(lambda _: pytest.fail("a file was looked for")))

    reader = reader_of(scheduler, store)
    [advice] = read(reader, job)
    reader.write_down()

    assert scheduler.calls == []
    assert advice.workload == Workload()
    assert advice.prediction.duration_s.p90 >= 3600.0
    assert store.advice("1").fingerprint is None


SHORT_S, LONG_S = 60.0, 14_400.0


def keep_past(store, user, durations_s, *, state=JobState.COMPLETED, first=0):
    for number, duration_s in enumerate(durations_s, first):
        job = a_job(id=f"past{number}", user=user, state=state, start_time=0.0, end_time=duration_s)
        store.keep_run(a_past_run(job=job))


def place(job, advice):
    engine = DecisionEngine(ordering("sjf"))
    engine.handle(JobSeen(9e9, replace(job, most_nice=1000)))
    engine.handle(JobAdvised(9e9 + 1, job.id, advice))
    return engine.known[job.id].job.nice, engine.due(job.id)


@pytest.mark.parametrize("limit_s", [None, LONG_S, 30 * 86400.0])
@pytest.mark.parametrize("ended", [JobState.COMPLETED, JobState.TIMEOUT])
def test_hiding_a_long_job_among_short_ones_gains_nothing(scheduler, store, script, ended, limit_s):
    """The honest twin is known by its own record; the hidden one may be that."""
    job = put(scheduler, script, "1", submitted=9e9)
    job = replace(job, request=replace(job.request, time_limit_s=limit_s))
    keep_past(store, job.user, [SHORT_S] * 40)
    prints = Advisor(store, store).advise(Target.from_job(job, script.read_text())).fingerprint
    for number in ("long1", "long2"):
        past = replace(job, id=number, state=ended, start_time=0.0, end_time=LONG_S)
        store.keep_run(a_past_run(job=past, fingerprint=prints))
    hidden = replace(job, id="2", comment="schedmate=off")

    advice, of_hidden = read(reader_of(scheduler, store), job, hidden)

    assert advice.prediction.duration_s.p50 == pytest.approx(LONG_S, rel=0.2), advice.prediction
    nice, due = place(job, advice)
    hidden_nice, hidden_due = place(hidden, of_hidden)
    assert hidden_nice >= nice > -1000
    assert hidden_due >= due, "it is out of turn no sooner"
    assert f"the longest of {job.user}'s last 42 runs" in of_hidden.prediction.explanation


def test_a_hidden_job_is_not_taken_for_a_run_that_its_limit_does_not_allow(
    scheduler, store, script
):
    job = replace(put(scheduler, script, "1", submitted=9e9), comment="schedmate=off")
    job = replace(job, request=replace(job.request, time_limit_s=1800.0))
    keep_past(store, job.user, [SHORT_S] * 40 + [LONG_S])
    [advice] = read(reader_of(scheduler, store), job)
    assert advice.prediction.duration_s.p90 == 1.25 * 1800.0
    assert advice.prediction.explanation.endswith("41 runs, within its limit")


@pytest.mark.parametrize("limit_s", [None, 60.0, 6 * 86400.0])
def test_a_hidden_job_of_a_new_user_goes_by_its_limit(scheduler, store, script, limit_s):
    """What others' jobs take says nothing of it."""
    job = replace(put(scheduler, script, "1", submitted=9e9), comment="schedmate=off")
    job = replace(job, request=replace(job.request, time_limit_s=limit_s))
    keep_past(store, "somebody", [SHORT_S] * 40)
    [advice] = read(reader_of(scheduler, store), job)
    unknown = replace(job, id="2", comment="")
    middle, _ = place(unknown, replace(advice, prediction=UNLIKE_ANY))
    nice, _ = place(job, advice)
    assert nice == middle if limit_s == 60.0 else nice > middle
