"""Slurm's words on the local queue: arrays, dependencies, begin, hold, top."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing

import pytest

from schedmate.model import BadInput, JobState, NotFound, SchedulerError
from schedmate.model.job import ArrayTask
from schedmate.schedulers.local.attempt import RunEnd
from schedmate.schedulers.local.queue import QueueFile
from schedmate.schedulers.local.tables import MIGRATIONS
from schedulers.local_site import LocalSite


@pytest.fixture
def site(tmp_path):
    """Jobs are queued, and the test says how they end: nothing runs."""
    site = LocalSite(tmp_path, real=False)
    yield site
    site.queue.close()


@pytest.fixture
def running_site(tmp_path):
    site = LocalSite(tmp_path, real=False)
    yield site
    site.leave()


def tasks(*indices):
    return tuple(map(ArrayTask, indices))


def end(site, job_id, code=0):
    for entry in site.queue.named(job_id):
        site.queue.begin(entry.id, (), time.time())
        how = RunEnd(code=code, signal=0, reason="", end=time.time())
        site.queue.finish(site.queue.entry(entry.id), how)


def ready(site, now=None):
    now = now or time.time()
    found = site.daemon._ready(site.queue.pending(), site.queue.running(), now)
    return [entry.job_id for entry in found]


def test_the_tasks_of_an_array_that_wait_are_one_job(site):
    array = site.submit("true", tasks=tasks(0, 4, 8))

    (job,) = site.scheduler.jobs([array])
    (task,) = site.scheduler.jobs([f"{array}_4"])

    assert (job.id, job.tasks, job.state) == (array, 3, JobState.PENDING)
    assert (task.id, task.tasks) == (f"{array}_4", 1)
    assert [one.id for one in site.scheduler.jobs()] == [array]
    assert task.logs == (str(site.work / f"schedmate-{array}_4.out"),)


def test_a_long_array_that_has_ended_is_listed_whole_and_hides_no_job(site, monkeypatch):
    monkeypatch.setattr("schedmate.schedulers.local.adapter._MOST_REMEMBERED", 3)
    first, job = site.submit("true", tasks=tasks(0, 1, 2)), site.submit("true")
    older, newer = (site.submit("true", tasks=tasks(*range(5))) for _ in range(2))
    for one in (first, job, older, newer):
        end(site, one)
    under_way = site.submit("true", tasks=tasks(*range(9)))
    for task in range(7):
        end(site, f"{under_way}_{task}")

    listed = [one.id for one in site.scheduler.jobs()]

    assert [one for one in listed if "_" not in one] == [job, under_way]
    counts = {array: sum(one.startswith(f"{array}_") for one in listed) for array in (newer, older)}
    assert counts == {newer: 5, older: 0}, "there is no room for another one"
    assert sum(one.startswith(f"{under_way}_") for one in listed) == 7


def test_tasks_that_differ_are_jobs_of_their_own(site):
    array = site.submit("true", tasks=tasks(*range(6)))
    site.scheduler.hold(f"{array}_1")
    site.scheduler.cancel(f"{array}_2")
    end(site, f"{array}_3")

    listed = {job.id: (job.tasks, job.state, job.held) for job in site.scheduler.jobs([array])}

    assert listed == {
        array: (3, JobState.PENDING, False),
        f"{array}_1": (1, JobState.PENDING, True),
        f"{array}_2": (1, JobState.CANCELLED, False),
        f"{array}_3": (1, JobState.COMPLETED, False),
    }


def test_an_array_is_changed_as_a_whole(site):
    array = site.submit("true", tasks=tasks(1, 2, 3))
    other = site.submit("true")
    assert int(other) == int(array) + 3, "each task has a number of its own"
    end(site, f"{array}_1")

    site.scheduler.set_nice(array, 7)
    site.scheduler.set_time_limit(array, 60)
    site.scheduler.hold(array)
    site.scheduler.cancel(array)

    states = [entry.state for entry in site.queue.named(array)]
    assert states == [JobState.COMPLETED, JobState.CANCELLED, JobState.CANCELLED]
    assert [entry.request.time_limit_s for entry in site.queue.named(array)] == [None, 60, 60]
    assert site.job(other).state is JobState.PENDING


def test_of_a_throttled_array_so_many_run_at_once(site):
    array = site.submit("true", tasks=tasks(*range(5)), most_tasks=2)
    later = site.submit("true")
    assert ready(site) == [f"{array}_0", f"{array}_1", later]

    site.queue.begin(int(array), ("0",), time.time())

    assert ready(site) == [f"{array}_1", later]


@pytest.mark.processes
def test_tasks_run_with_their_numbers_and_logs(running_site):
    site = running_site
    names = ("ARRAY_JOB_ID", "ARRAY_TASK_ID", "ARRAY_TASK_COUNT", "ARRAY_TASK_MAX")
    say = " ".join(f"$SLURM_{name}/$SCHEDMATE_{name}" for name in (*names, "JOB_ID"))
    array = site.shell(f"echo {say}", tasks=tasks(3, 5), stdout="%x-%A_%3a-%j-%u%%.txt")
    site.ended(f"{array}_5")
    site.ended(f"{array}_3")

    user = site.job(f"{array}_3").user
    for index, number in ((3, array), (5, str(int(array) + 1))):
        words = [f"{one}/{one}" for one in (array, index, 2, 5, number)]
        assert site.lines(f"job-{array}_00{index}-{number}-{user}%.txt") == [" ".join(words)]


@pytest.mark.processes
def test_tasks_with_commands_of_their_own(running_site):
    site = running_site
    own = (ArrayTask(0, ("sh", "-c", "echo zero >> ran")), ArrayTask(1, ("sh", "-c", "exit 4")))
    array = site.submit("unused", tasks=own)

    assert site.ended(f"{array}_0").state is JobState.COMPLETED
    assert site.ended(f"{array}_1").exit_code == 4
    assert site.lines() == ["zero"]


@pytest.mark.parametrize(
    ("kind", "code", "outcome"),
    [
        ("afterok", 0, "ready"),
        ("afterok", 1, "failed"),
        ("afternotok", 1, "ready"),
        ("afternotok", 0, "failed"),
        ("afterany", 0, "ready"),
        ("afterany", 1, "ready"),
        ("after", 0, "ready"),
    ],
)
def test_what_comes_after_another_job(site, kind, code, outcome):
    first = site.submit("true")
    second = site.submit("true", dependency=f"{kind}:{first}")
    assert ready(site) == [first]
    assert site.job(second).dependency == f"{kind}:{first}(unfulfilled)"

    end(site, first, code)

    assert ready(site) == ([second] if outcome == "ready" else [])
    waits_for = "" if outcome == "ready" else f"{kind}:{first}(failed)"
    assert site.job(second).dependency == waits_for
    obstacle = site.scheduler.obstacle(site.job(second))
    assert (obstacle is not None and "never" in obstacle.text) == (outcome == "failed")


def test_a_retry_is_waited_for(site):
    first = site.submit("true")
    second = site.submit("true", dependency=f"afterok:{first}")
    end(site, first, code=1)
    assert ready(site) == []

    site.scheduler.requeue(first, run=0)
    end(site, first)

    assert ready(site) == [second]


def test_what_can_never_be_is_cancelled_where_that_was_asked_for(site):
    first = site.submit("true")
    parts = {"dependency": f"afterok:{first}"}
    kept = site.submit("true", **parts)
    given_up = site.submit("true", **parts, options={"kill-on-invalid-dep": "yes"})
    end(site, first, code=1)

    ready(site)

    assert site.job(kept).state is JobState.PENDING
    assert (site.job(given_up).state, site.job(given_up).reason) == (
        JobState.CANCELLED,
        "its dependency can never be satisfied",
    )


def test_all_of_several_or_any_of_them(site):
    one, two = site.submit("true"), site.submit("true")
    every = site.submit("true", dependency=f"afterok:{one},afterany:{two}")
    some = site.submit("true", dependency=f"afterok:{one}?afterok:{two}")
    end(site, two, code=1)
    assert ready(site) == [one]

    end(site, one)

    assert ready(site) == [every, some]


def test_corresponding_tasks_and_whole_arrays(site):
    first = site.submit("true", tasks=tasks(0, 1))
    each = site.submit("true", tasks=tasks(0, 1), dependency=f"aftercorr:{first}")
    whole = site.submit("true", dependency=f"afterok:{first}")
    end(site, f"{first}_1")
    assert ready(site) == [f"{first}_0", f"{each}_1"]

    end(site, f"{first}_0")

    assert ready(site) == [f"{each}_0", f"{each}_1", whole]


def test_a_singleton_waits_for_earlier_ones_of_its_name(site):
    first = site.submit("true", name="one")
    second = site.submit("true", name="one", dependency="singleton")
    third = site.submit("true", name="one", dependency="singleton")
    other = site.submit("true", name="other", dependency="singleton")
    assert ready(site) == [first, other]
    end(site, first)
    assert ready(site) == [second, other]
    end(site, second)
    assert ready(site) == [third, other]


def test_minutes_after_a_start(site):
    first = site.submit("true")
    second = site.submit("true", dependency=f"after:{first}+10")
    site.queue.begin(int(first), (), time.time())

    assert ready(site) == []
    assert 590 < site.daemon.due_in(time.time()) <= 600
    assert ready(site, time.time() + 601) == [second]


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("afterok:99", NotFound, "job 99, which is not known"),
        ("aftersome:1", BadInput, "is not understood at 'aftersome:1'"),
        ("afterok", BadInput, "write for example afterok:12:13"),
        ("afterok:1,afterany:1?afterok:1", BadInput, "mixes"),
        ("expand:1", BadInput, "is not understood"),
    ],
)
def test_a_dependency_that_means_nothing_is_refused(site, text, kind, words):
    site.submit("true")
    with pytest.raises(kind, match=words):
        site.submit("true", dependency=text)
    assert len(site.scheduler.jobs()) == 1


def test_begin_and_hold(site):
    now = time.time()
    later = site.submit("true", begin=now + 1000)
    held = site.submit("true", held=True)
    assert ready(site) == []
    assert site.job(later).eligible_time == now + 1000
    assert site.job(held).held
    assert 990 < site.daemon.due_in(now) <= 1000

    site.scheduler.release(held)

    assert ready(site) == [held]
    assert ready(site, now + 1001) == [later, held]


def test_what_is_put_on_top_goes_first(site):
    first, second, third = (site.submit("true") for _ in range(3))
    end(site, first)

    site.scheduler.move_to_top(third)
    assert ready(site) == [third, second]
    site.scheduler.move_to_top(second)
    assert ready(site) == [second, third]
    with pytest.raises(SchedulerError, match="does not wait any more: COMPLETED"):
        site.scheduler.move_to_top(first)


def test_a_queue_file_of_an_earlier_version_is_brought_up_to_date(tmp_path):
    path = tmp_path / "queue.sqlite3"
    with closing(sqlite3.connect(path)) as old:
        for migration in MIGRATIONS[:2]:
            for statement in migration:
                old.execute(statement)
        old.execute(
            "INSERT INTO jobs (name, user, workdir, command, request, nice, state, submit_time,"
            " eligible_time, slots, start_time) VALUES ('a', 'u', '/', '[\"true\"]',"
            " '{\"gpus\": 2}', 0, 'RUNNING', 1.0, 1.0, '[0, 1]', 2.0)"
        )
        old.execute("PRAGMA user_version = 2")
        old.commit()

    with closing(QueueFile(path)) as queue:
        (entry,) = queue.running()

    assert (entry.job_id, entry.slots, entry.request.gpus) == ("1", ("0", "1"), 2)
    assert (entry.array_id, entry.dependency, entry.options) == (None, "", {})
