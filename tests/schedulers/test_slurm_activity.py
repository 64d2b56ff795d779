"""What sstat tells of running jobs: in its own words, and on the private cluster."""

import socket

import pytest

from schedmate.model import Activity, JobState, NodeState
from schedmate.schedulers.base import MeasuresActivity
from schedmate.schedulers.slurm import SlurmScheduler, activity, parsing
from schedmate.schedulers.slurm.own_node import with_waiting
from schedmate.testing.builders import a_job
from schedmate.testing.scheduler_bench import Bench
from schedulers.local_site import wait_for

TRES = "cpu={cpu},energy=0,fs/disk=46513,mem=10032K,pages=0,vmem=15108K"
BURN = "exec python3 -c 'while True: pass'"


def told(*steps: tuple[str, str]) -> str:
    return "\n".join(
        f"{step}|{TRES.format(cpu=cpu)}|{TRES.format(cpu=cpu)}|energy=0,fs/disk=70|"
        for step, cpu in steps
    )


def read(text: str, **job):
    numbers = {"7": a_job(id="7", state=JobState.RUNNING, **job)}
    return activity.activities(parsing.records(text, activity.FIELDS, "|"), numbers)


def test_the_cpu_time_of_all_steps_but_slurms_own():
    text = told(("7.extern", "09:00:00"), ("7.batch", "00:00:05"), ("7.0", "1-02:00:10"))

    assert read(text, nodes=("n1", "n2"))["7"].cpu_s == 5 + 26 * 3600 + 10


def test_ranks_that_may_run_outside_of_all_steps_leave_it_unknown():
    """mpirun by ssh: the batch step is idle on the first node whatever the others do."""
    text = told(("7.extern", "00:00:00"), ("7.batch", "00:00:05"))

    assert read(text, nodes=("n1", "n2"))["7"].cpu_s is None
    assert read(text, nodes=("n1",))["7"].cpu_s == 5


def test_a_step_that_was_not_measured_leaves_it_unknown():
    assert read("7.batch||||\n7.0|cpu=00:00:05|cpu=00:00:05||")["7"].cpu_s is None
    assert read("") == {}


def test_how_much_it_has_read_and_written():
    found = read(told(("7.extern", "00:00:01"), ("7.batch", "00:00:05"), ("7.0", "00:00:05")))["7"]
    assert (found.read, found.written) == (2 * 46513, 140)


def test_how_busy_its_gpus_are():
    text = "7.0|cpu=00:00:05|cpu=00:00:05,gres/gpumem=1G,gres/gpuutil=97||"

    assert read(text)["7"] == Activity(cpu_s=5.0, gpu=0.97)


@pytest.mark.parametrize("nothing", ["jobacct_gather/none", "(null)"])
def test_where_nothing_is_gathered_nothing_is_asked(nothing):
    asked = []

    def ask(*words):
        asked.append(words[0])
        return f"JobAcctGatherType       = {nothing}\n"

    assert activity.measured(ask, [a_job()]) == {}
    assert activity.measured(ask, []) == {}
    assert asked == ["scontrol"]


@pytest.mark.slurm
def test_a_job_that_computes_and_one_that_sleeps_on_a_real_cluster(slurm_cluster, tmp_path):
    bench = Bench(SlurmScheduler(), tmp_path, patience_s=60)
    assert isinstance(bench.scheduler, MeasuresActivity)
    busy, still = bench.shell(BURN), bench.shell("sleep 600")
    array = bench.shell(
        "[ $SLURM_ARRAY_TASK_ID = 1 ] || sleep 600; " + BURN, passthrough=("--array=0-1",)
    )
    bench.submitted.remove(array)
    ids = [busy, still, f"{array}_0", f"{array}_1"]
    try:
        wait_for(
            lambda: [job.state for job in bench.scheduler.jobs(ids)] == [JobState.RUNNING] * 4,
            patience_s=60,
        )
        jobs = bench.scheduler.jobs(ids)

        def seen():
            found = bench.scheduler.activity(jobs)
            return len(found) == 4 and (found[busy].cpu_s or 0) > 1 and found

        found = wait_for(seen, patience_s=60)
        wait_for(
            lambda: (bench.scheduler.activity(jobs)[f"{array}_1"].cpu_s or 0) > 1, patience_s=60
        )
        assert found[still].cpu_s == found[f"{array}_0"].cpu_s == 0
        assert None not in (found[still].read, found[still].written)
        assert bench.scheduler.activity([*jobs, a_job(id="99999")]).keys() == found.keys()
    finally:
        bench.scheduler.cancel(array)
        bench.clear()


@pytest.mark.slurm
def test_the_kernel_is_asked_about_jobs_on_this_machine(slurm_cluster, tmp_path):
    """One that was stopped goes on when it is let to; one that waits for a socket may hang."""
    bench = Bench(SlurmScheduler(), tmp_path, patience_s=60)
    stopped, waits = bench.shell("kill -STOP $$"), bench.shell("exec sleep 600")
    try:
        jobs = [
            bench.wait(one, lambda job: job.state is JobState.RUNNING, what="the runs")
            for one in (stopped, waits)
        ]
        wait_for(lambda: bench.scheduler.activity(jobs)[stopped].blocked, patience_s=60)
        found = bench.scheduler.activity(jobs)
        assert (found[waits].blocked, found[waits].stuck) == (False, "")
    finally:
        bench.clear()


def test_jobs_on_other_machines_are_not_looked_at():
    asked = []

    def ask(*words):
        asked.append(words)
        return "PID JOBID STEPID\n1 7 batch\n"

    numbers = {"7": a_job(id="7", nodes=("n1",)), "8": a_job(id="8", nodes=("n1", "n2"))}
    nodes = [NodeState(name="n1", hosts=(socket.gethostname(),)), NodeState(name="n2")]
    assert with_waiting(ask, {}, numbers, nodes) == {"7": Activity()}
    assert asked == [("scontrol", "listpids", "7", "n1")]
