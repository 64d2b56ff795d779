"""Arrays and many jobs on the private cluster: what a daemon sees, asks for and writes."""

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from schedmate.model import Action, JobState
from schedmate.schedulers.slurm import SlurmScheduler
from schedmate.service.actions import Actions
from schedmate.service.daemon.assembling import assemble
from schedmate.service.wiring import open_store
from schedulers.local_site import wait_for
from schedulers.slurm_site import LATER, scontrol

pytestmark = pytest.mark.slurm


@pytest.fixture
def settings(bench, settings):
    return replace(settings, mode="assist")


@pytest.fixture
def daemon(settings):
    with assemble(settings) as daemon:
        yield daemon


def array(bench, tasks, *flags):
    job_id = bench.shell("sleep 600", passthrough=(f"--array={tasks}", *flags))
    bench.submitted.remove(job_id)
    return job_id


def records(array_id):
    """Of slurmctld, which squeue shows merged."""
    text = subprocess.check_output(["scontrol", "-o", "show", "job", array_id], text=True)
    return len(text.splitlines())


def nice_of_tasks(array_id):
    form = ["-O", "JobArrayID,Nice"]
    text = subprocess.check_output(["squeue", "-h", "-r", "-j", array_id, *form], text=True)
    return {job_id: int(nice) for job_id, nice in map(str.split, text.splitlines())}


def asked(kind):
    text = subprocess.check_output(["sdiag"], text=True)
    found = re.search(rf"{kind}\s.*?count:(\d+)", text)
    return int(found[1]) if found else 0


def listed(bench):
    return {job.id: job for job in bench.scheduler.jobs() if not job.state.ended}


def test_tasks_that_wait_are_one_job(bench):
    array_id = array(bench, "0-99%4", LATER)
    (job,) = bench.scheduler.jobs([array_id])
    assert (job.id, job.tasks, job.state) == (array_id, 100, JobState.PENDING)
    assert listed(bench)[array_id].tasks == 100
    (task,) = bench.scheduler.jobs([f"{array_id}_50"])
    assert (task.id, task.tasks) == (f"{array_id}_50", 1)


def test_tasks_that_run_are_jobs_of_their_own(bench):
    array_id = array(bench, "0-3%1")
    bench.running(f"{array_id}_0")
    jobs = {job.id: job for job in bench.scheduler.jobs([array_id])}
    assert jobs[array_id].tasks == 3
    assert jobs[f"{array_id}_0"].state is JobState.RUNNING


def test_tasks_that_were_cancelled_before_they_ran_are_one_job(bench):
    array_id = array(bench, "0-9", LATER)
    bench.scheduler.cancel(array_id)
    (job,) = bench.scheduler.jobs([array_id])
    assert (job.id, job.tasks, job.state) == (array_id, 10, JobState.CANCELLED)


def test_an_array_is_changed_as_one_record(bench):
    array_id = array(bench, "0-9,20-30:5", LATER)
    scheduler = bench.scheduler
    scheduler.set_nice(array_id, 7)
    scheduler.set_time_limit(array_id, 1800)
    scheduler.hold(array_id)
    (job,) = scheduler.jobs([array_id])
    assert (job.nice, job.request.time_limit_s, job.held) == (7, 1800, True)
    scheduler.release(array_id)
    (job,) = scheduler.jobs([array_id])
    assert (job.tasks, job.held) == (13, False)
    assert records(array_id) == 1


def test_a_running_task_keeps_its_limit_when_the_waiting_ones_change(bench):
    array_id = array(bench, "0-3%1", "--time=60")
    bench.running(f"{array_id}_0")
    bench.scheduler.set_time_limit(array_id, 1800)
    limits = {job.id: job.request.time_limit_s for job in bench.scheduler.jobs([array_id])}
    assert limits == {array_id: 1800, f"{array_id}_0": 3600}


def at_rest(daemon):
    """It has read and ordered what other tests have left in the queue."""

    def asks_nothing():
        subprocess.run(["sdiag", "--reset"], check=True)
        daemon.cycle(time.time())
        return (asked("REQUEST_BATCH_SCRIPT"), asked("REQUEST_UPDATE_JOB")) == (0, 0)

    wait_for(asks_nothing, "a look without a request")


def test_the_daemon_reads_and_orders_an_array_once(bench, daemon, settings):
    at_rest(daemon)
    array_id = array(bench, "0-299", LATER)
    subprocess.run(["sdiag", "--reset"], check=True)
    daemon.cycle(time.time())
    assert (asked("REQUEST_BATCH_SCRIPT"), asked("REQUEST_UPDATE_JOB")) == (1, 1)
    (job,) = bench.scheduler.jobs([array_id])
    assert job.nice < 0
    assert set(nice_of_tasks(array_id).values()) == {job.nice}
    assert records(array_id) == 1
    subprocess.run(["sdiag", "--reset"], check=True)
    daemon.cycle(time.time())
    assert (asked("REQUEST_BATCH_SCRIPT"), asked("REQUEST_UPDATE_JOB")) == (0, 0)
    assert asked("REQUEST_JOB_INFO") == 1


def test_tasks_share_the_advice_of_their_array(bench, daemon, settings):
    at_rest(daemon)
    array_id = array(bench, "0-5%2")
    tasks = [f"{array_id}_{number}" for number in range(2)]
    for task in tasks:
        bench.running(task)
    subprocess.run(["sdiag", "--reset"], check=True)
    daemon.cycle(time.time())
    assert asked("REQUEST_BATCH_SCRIPT") == 1
    store = open_store(settings)
    assert store.advice(array_id) is not None
    assert all(store.advice(task) == store.advice(array_id) for task in tasks)


def test_ours_is_added_to_the_nice_number_that_a_task_s_user_set(bench, daemon):
    array_id = array(bench, "0-9", LATER)
    scontrol("update", f"JobId={array_id}_7", "Nice=99999")
    daemon.cycle(time.time())
    numbers = nice_of_tasks(array_id)
    own = numbers.pop(f"{array_id}_7")
    assert own == 99999 + max(numbers.values())
    assert -1000 <= min(numbers.values()) == max(numbers.values()) < 0


def test_what_people_set_is_kept(bench, daemon, settings):
    ours, nice, limit, held, raised = [
        bench.shell("sleep 600", passthrough=(LATER,)) for _ in range(5)
    ]
    scontrol("update", f"JobId={nice}", "Nice=44")
    scontrol("update", f"JobId={limit}", "TimeLimit=17")
    scontrol("hold", held)
    priority = bench.job(raised).priority - 5
    scontrol("update", f"JobId={raised}", f"Priority={priority}")
    for _ in range(3):
        daemon.cycle(time.time())
    assert bench.job(ours).nice < 0
    [*_, placed] = open_store(settings).actions(job_id=nice)
    assert placed.action.reason.own_nice == 44
    assert bench.job(nice).nice == placed.action.value < 44
    assert bench.job(limit).request.time_limit_s == 17 * 60
    assert bench.job(held).held
    assert (bench.job(raised).nice, bench.job(raised).priority) == (0, priority)
    kept = [one for one in open_store(settings).actions(job_id=raised) if one.state == "failed"]
    assert [one.note for one in kept] == ["priority was set by hand: nice stays 0"]


def test_a_number_that_did_not_take_is_not_asked_for_again(bench, daemon):
    job_id = bench.shell("sleep 600", passthrough=(LATER,))
    scontrol("update", f"JobId={job_id}", f"Priority={bench.job(job_id).priority - 5}")
    daemon.cycle(time.time())
    subprocess.run(["sdiag", "--reset"], check=True)
    for _ in range(2):
        daemon.cycle(time.time())
    assert asked("REQUEST_UPDATE_JOB") == 0


def test_many_numbers_are_set_within_the_budget_and_the_rest_later(bench, settings):
    ids = [bench.shell("sleep 600", passthrough=(LATER,)) for _ in range(5)]
    scheduler = SlurmScheduler(updates_a_minute=6)
    first = scheduler.set_nices(dict.fromkeys(ids, 9))
    assert list(first) == ids[:3]
    assert [bench.job(job_id).nice for job_id in ids] == [9, 9, 9, 0, 0]


def test_an_objection_belongs_to_its_job(bench):
    first, second = [bench.shell("sleep 600", passthrough=(LATER,)) for _ in range(2)]
    answers = bench.scheduler.set_nices({first: 3, "99999": 4, second: 5})
    assert answers == {first: "", "99999": "Invalid job id specified", second: ""}
    assert (bench.job(first).nice, bench.job(second).nice) == (3, 5)


def verb(settings, *words):
    env = {**os.environ, "SCHEDMATE_SCHEDULER": "slurm"}
    env["SCHEDMATE_STATE_DIR"] = str(settings.state_dir)
    command = [sys.executable, "-m", "schedmate", *words]
    return subprocess.check_output(command, text=True, env=env)


def test_job_and_why_show_all_parts_of_an_array(bench, settings):
    array_id = array(bench, "0-3%1")
    bench.running(f"{array_id}_0")
    waits, runs, first, *_ = verb(settings, "job", array_id).splitlines()
    assert waits == f"parts of {array_id}  3 PENDING: {array_id}"
    assert runs == f"parts of {array_id}  1 RUNNING: {array_id}_0"
    assert first.startswith(f"job {array_id} ")
    waits, runs = verb(settings, "why", array_id).splitlines()
    assert waits.startswith(f"3 PENDING: {array_id}: job {array_id} ")
    assert runs.startswith(f"1 RUNNING: {array_id}_0: job {array_id}_0 runs")
    parts = json.loads(verb(settings, "why", array_id, "--json"))["parts"]
    assert [(part["state"], part["tasks"]) for part in parts] == [("PENDING", 3), ("RUNNING", 1)]


def test_job_shows_all_parts_of_a_heterogeneous_job(bench, settings):
    words = ["sbatch", "--parsable", LATER, "-o", "/dev/null", "--wrap", "true"]
    words[3:3] = ["-n1", ":", "-n1"]
    job_id = subprocess.check_output(words, text=True, cwd=bench.directory).strip()
    line, *_ = verb(settings, "job", job_id).splitlines()
    assert line == f"parts of {job_id}  2 PENDING: {job_id}+0, {job_id}+1"


def test_a_refused_provisional_number_is_the_last(bench, settings):
    job_id = bench.shell("sleep 600", passthrough=(LATER,))
    scontrol("update", f"JobId={job_id}", f"Priority={bench.job(job_id).priority - 5}")
    store = open_store(settings)
    actions = Actions(bench.scheduler, store, "assist")
    middle = Action(kind="set_nice", job_id=job_id, attempt=0, why="", value=500, provisional=True)
    for number, action in enumerate((middle, replace(middle, value=248, provisional=False))):
        actions.carry_out(action, float(number))
        actions.finish_interrupted(float(number))
    assert [one.state for one in store.actions(job_id=job_id)] == ["failed", "noted"]
