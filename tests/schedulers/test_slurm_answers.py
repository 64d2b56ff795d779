"""Answers of Slurm's commands that are empty, cut or no answer: none of them means "no jobs"."""

import os
import shutil
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest

from schedmate.model import JobState, SchedulerUnreachable
from schedmate.schedulers.slurm import SlurmScheduler
from schedmate.service.daemon.assembling import assemble
from schedulers.local_site import wait_for
from schedulers.slurm_site import LATER

pytestmark = pytest.mark.slurm

NO_ANSWERS = {
    "nothing": "exit 0",
    "an error text": "echo 'slurm_load_jobs error: Unable to contact slurm controller'",
    "cut in a line": 'REAL "$@" | head -c -30',
    "no line of titles": 'REAL "$@" | tail -n +2',
}


@pytest.fixture
def daemon(bench, settings):
    with assemble(replace(settings, mode="assist")) as daemon:
        yield daemon


@pytest.fixture
def wrapped(tmp_path, monkeypatch):
    """Put a program before one of Slurm's; REAL in its text is the real one."""
    before = os.environ["PATH"]

    def wrap(name, text):
        directory = tmp_path / "wrappers"
        directory.mkdir(exist_ok=True)
        program = directory / name
        program.write_text(
            f"#!/bin/bash\n{text.replace('REAL', shutil.which(name, path=before))}\n"
        )
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{directory}:{before}")

    yield wrap
    monkeypatch.setenv("PATH", before)


def waiting(bench, count=3):
    return [bench.shell("sleep 600", passthrough=(LATER,)) for _ in range(count)]


@pytest.mark.parametrize("kind", NO_ANSWERS)
def test_what_is_no_answer_is_never_an_empty_queue(bench, daemon, wrapped, kind):
    ids = waiting(bench)
    daemon.cycle(time.time())
    known = set(daemon._engine.known)
    assert known >= set(ids)
    wrapped("squeue", NO_ANSWERS[kind])
    for asked in (None, ids, ids[:1]):
        with pytest.raises(SchedulerUnreachable):
            bench.scheduler.jobs(asked)
    with pytest.raises(SchedulerUnreachable):
        daemon.cycle(time.time())
    assert set(daemon._engine.known) == known


def test_an_empty_queue_is_believed(slurm_cluster, wrapped):
    wrapped("squeue", 'REAL "$@" | head -n 1')
    assert [job for job in SlurmScheduler().jobs() if not job.state.ended] == []


def test_jobs_that_an_answer_leaves_out_are_asked_for_before_they_count_as_gone(bench, wrapped):
    ids = waiting(bench)
    assert {job.id for job in bench.scheduler.jobs()} >= set(ids)
    whole_lists_are_cut = '[[ " $* " == *" -j "* ]] || exec REAL "$@" -w node1; exec REAL "$@"'
    wrapped("squeue", whole_lists_are_cut)
    for _ in range(2):
        with pytest.raises(SchedulerUnreachable, match="jobs that Slurm still has"):
            bench.scheduler.jobs()
    wrapped("squeue", 'exec REAL "$@"')
    assert {job.id for job in bench.scheduler.jobs()} >= set(ids)


def test_jobs_that_the_controller_does_not_know_any_more_are_gone(bench, slurm_cluster):
    ids = waiting(bench)
    assert {job.id for job in bench.scheduler.jobs()} >= set(ids)
    slurm_cluster.stop_daemon("slurmctld")
    slurm_cluster.start_controller(forgetful=True)
    wait_for(lambda: len(bench.scheduler.nodes()) == len(slurm_cluster.nodes), "the nodes")
    listed = {job.id for job in bench.scheduler.jobs() if job.state is JobState.PENDING}
    assert listed.isdisjoint(ids)


@pytest.mark.parametrize("kind", ["nothing", "cut in a line"])
def test_accounting_that_gives_no_answer_ends_no_job(bench, wrapped, kind):
    (job_id,) = waiting(bench, 1)
    wrapped("sacct", NO_ANSWERS[kind])
    assert job_id in {job.id for job in bench.scheduler.jobs()}
    with pytest.raises(SchedulerUnreachable, match="accounting"):
        bench.scheduler.jobs([job_id, "7654321"])


@pytest.mark.parametrize(
    "question",
    [
        lambda scheduler, _: scheduler.nodes(),
        lambda scheduler, job_id: scheduler.script(job_id),
        lambda *_: SlurmScheduler().jobs(),  # which needs the site's configuration
    ],
    ids=["nodes", "script", "configuration"],
)
def test_a_silent_scontrol_is_no_answer(bench, wrapped, question):
    (job_id,) = waiting(bench, 1)
    wrapped("scontrol", "exit 0")
    with pytest.raises(SchedulerUnreachable):
        question(bench.scheduler, job_id)


def test_a_controller_that_hangs_is_unreachable_within_the_deadline(bench, daemon, slurm_cluster):
    ids = waiting(bench)
    daemon.cycle(time.time())
    known = set(daemon._engine.known)
    controller = slurm_cluster.running["slurmctld"]
    os.kill(controller.pid, signal.SIGSTOP)
    try:
        begun = time.monotonic()
        with pytest.raises(SchedulerUnreachable):
            SlurmScheduler(timeout_s=2.0).jobs()
        assert time.monotonic() - begun < 20
    finally:
        os.kill(controller.pid, signal.SIGCONT)
    daemon.cycle(time.time())
    assert set(daemon._engine.known) == known
    assert known >= set(ids)


def test_a_command_and_its_children_end_at_the_deadline(wrapped, tmp_path):
    wrapped("squeue", f"sleep 300 & echo $! > {tmp_path}/child; wait")
    with pytest.raises(SchedulerUnreachable, match="no answer in 1 s"):
        SlurmScheduler(timeout_s=1.0).jobs()
    child = int((tmp_path / "child").read_text())
    wait_for(lambda: not Path(f"/proc/{child}").exists(), "the end of the child")


def test_a_requeue_does_not_wait_for_the_old_run(bench):
    stubborn = "trap '' TERM; echo run >> runs; while :; do sleep 1; done"
    job_id = bench.shell(stubborn)
    bench.wait_for_lines("runs", 1)
    begun = time.monotonic()
    bench.scheduler.requeue(job_id, run=0, exclude_nodes=["node0"], delay_s=60)
    assert time.monotonic() - begun < 10
