"""Heterogeneous jobs on the private cluster: one job with its parts."""

import json
import os
import re
import subprocess
import sys
import time

import pytest

from schedmate.config import Settings
from schedmate.model import JobState, NotFound
from schedmate.service.daemon.assembling import assemble
from schedulers.local_site import wait_for
from schedulers.slurm_site import LATER

pytestmark = pytest.mark.slurm


@pytest.fixture
def settings(bench, tmp_path):
    return Settings(scheduler="slurm", mode="assist", state_dir=tmp_path / "state")


def two_parts(bench, text, *flags, output="%j-%A-%J-%2j.out"):
    """One CPU with a GPU, and two CPUs."""
    first = ["-n1", "--gres=gpu:1", "--requeue", "-o", output, *flags]
    words = ["sbatch", "--parsable", *first, ":", "-n2", "--wrap", text]
    job_id = subprocess.check_output(words, text=True, cwd=bench.directory).strip()
    bench.submitted.append(job_id)
    return job_id


def test_its_parts_are_one_job(bench):
    job_id = two_parts(bench, "true", LATER)
    (job,) = bench.scheduler.jobs([job_id])
    assert (job.id, job.state) == (job_id, JobState.PENDING)
    assert job.components == (f"{job_id}+0", f"{job_id}+1")
    assert (job.request.gpus, job.request.nodes, job.request.cpus) == (1, 2, 3)
    assert {one.id for one in bench.scheduler.jobs() if not one.state.ended} == {job_id}


def test_a_part_can_be_asked_for(bench):
    job_id = two_parts(bench, "true", LATER)
    (part,) = bench.scheduler.jobs([f"{job_id}+1"])
    assert (part.id, part.components, part.request.cpus) == (f"{job_id}+1", (), 2)


def test_it_ends_as_one_job_with_one_log(bench):
    job_id = two_parts(bench, "echo here; exit 3")
    job = bench.ended(job_id)
    assert (job.state, job.exit_code) == (JobState.FAILED, 3)
    assert len(job.nodes) == 2
    (log,) = job.logs
    assert bench.lines(log) == ["here"]
    assert bench.scheduler.script(job_id).endswith("echo here; exit 3\n")


def test_what_is_done_is_done_to_all_parts(bench):
    job_id = two_parts(bench, "true", LATER)
    bench.scheduler.set_nice(job_id, 7)
    bench.scheduler.set_time_limit(job_id, 1800)
    bench.scheduler.hold(job_id)
    parts = bench.scheduler.jobs([f"{job_id}+0", f"{job_id}+1"])
    assert [(one.nice, one.request.time_limit_s, one.held) for one in parts] == [
        (7, 1800, True)
    ] * 2
    bench.scheduler.release(job_id)
    assert not any(one.held for one in bench.scheduler.jobs([f"{job_id}+0", f"{job_id}+1"]))
    bench.scheduler.cancel(job_id)
    assert bench.ended(job_id).state is JobState.CANCELLED


def test_it_is_requeued_as_a_whole(bench):
    job_id = two_parts(bench, "echo run >> runs; sleep 600")
    bench.wait_for_lines("runs", 1)
    bench.running(job_id)
    bench.requeue(job_id, exclude_nodes=["node0"], delay_s=3600)
    job = bench.job(job_id)
    assert (job.state, job.restarts, job.request.exclude_nodes) == (JobState.PENDING, 1, ("node0",))


def test_the_daemon_reads_and_orders_it_once(bench, settings):
    job_id = two_parts(bench, "true", LATER)
    with assemble(settings) as daemon:
        subprocess.run(["sdiag", "--reset"], check=True)
        daemon.cycle(time.time())
    text = subprocess.check_output(["sdiag"], text=True)
    counts = {
        kind: int(found[1]) if (found := re.search(rf"{kind}\s.*?count:(\d+)", text)) else 0
        for kind in ("REQUEST_BATCH_SCRIPT", "REQUEST_UPDATE_JOB")
    }
    assert counts == {"REQUEST_BATCH_SCRIPT": 1, "REQUEST_UPDATE_JOB": 1}
    first, second = bench.scheduler.jobs([f"{job_id}+0", f"{job_id}+1"])
    assert 0 > first.nice == second.nice


def failed_in_accounting(job_id):
    """A controller that stops too early leaves a record without its parts."""
    form = ["-n", "-X", "-P", "-o", "JobID,State"]
    text = subprocess.check_output(["sacct", "-j", job_id, *form], text=True)
    return sum(line.endswith("|FAILED") and "+" in line for line in text.splitlines())


def test_it_is_one_job_in_accounting(bench, slurm_cluster):
    job_id = two_parts(bench, "sleep 1; exit 3")
    bench.ended(job_id)
    wait_for(lambda: failed_in_accounting(job_id) == 2, "the end of both parts")
    slurm_cluster.stop_daemon("slurmctld")
    slurm_cluster.start_controller(forgetful=True)
    bench.submitted.clear()
    (job,) = bench.scheduler.jobs([job_id])
    assert (job.id, job.state, job.components) == (
        job_id,
        JobState.FAILED,
        (f"{job_id}+0", f"{job_id}+1"),
    )
    (part,) = bench.scheduler.jobs([f"{job_id}+1"])
    assert part.id == f"{job_id}+1"
    with pytest.raises(NotFound):
        bench.scheduler.script(job_id)


def verb(settings, *words):
    env = {**os.environ, "SCHEDMATE_SCHEDULER": "slurm"}
    env["SCHEDMATE_STATE_DIR"] = str(settings.state_dir)
    command = [sys.executable, "-m", "schedmate", *words]
    return subprocess.check_output(command, text=True, env=env)


def test_verbs_show_the_whole_and_its_parts(bench, settings):
    job_id = two_parts(bench, "true", LATER)
    parts, first, *_ = verb(settings, "job", job_id).splitlines()
    assert parts == f"parts of {job_id}  2 PENDING: {job_id}+0, {job_id}+1"
    assert first.startswith(f"job {job_id}  wrap  PENDING")
    waits = f"2 PENDING: {job_id}+0, {job_id}+1: job {job_id} waits for its start"
    wait_for(lambda: verb(settings, "why", job_id).startswith(waits), "Slurm's next look at it", 90)
    (eta,) = verb(settings, "eta", job_id).splitlines()
    assert eta.startswith(f"2 PENDING: {job_id}+0, {job_id}+1: job {job_id} waits")
    assert json.loads(verb(settings, "job", job_id, "--json"))["job"]["id"] == job_id
