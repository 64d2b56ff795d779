"""The parts of the live experiment that need no Slurm."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from bench.datasets import data_dir
from bench.live import measures, replayed_jobs
from bench.live.arm import ArmResult, Attempt, JobResult, reading_s
from bench.live.replayed_jobs import ReplayedJob
from bench.live.simulated import RunTimes, simulate
from schedmate.store.base import KeptEvent

CONFIG = """\
PriorityType = priority/multifactor
PriorityWeightPartition = 100000
SchedulerParameters = bf_interval=5,sched_interval=5,batch_sched_delay=1,bf_resolution=5
"""
TRACES = data_dir() / "traces"


def a_job(number: int = 0, **values) -> ReplayedJob:
    usual = {
        "user": "daemon",
        "gpus": 8,
        "at_s": 0.0,
        "run_s": 10.0,
        "meant_s": 10.0,
        "fate": "completes",
        "pace": 1.0,
        "limit_minutes": 1,
        "back_after_s": 30.0,
    }
    return ReplayedJob(number=number, **usual | values)


def run_program(job: ReplayedJob, root: Path, **environment: str) -> tuple[float, int, str]:
    """Seconds, exit code and output of the job's own script."""
    replayed_jobs.write([job], root)
    place = root / job.project
    began = time.monotonic()
    ran = subprocess.run(
        ["bash", job.script],
        cwd=place,
        env={**os.environ, "REPLAY": job.environment(again=False), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return time.monotonic() - began, ran.returncode, ran.stdout + ran.stderr


@pytest.mark.parametrize("gpus", [1, 2, 4, 8])
def test_the_numbers_in_the_code_decide_how_long_it_runs(gpus, tmp_path):
    """Of each program: the projects of these sizes have all three kinds between them."""
    job = a_job(gpus=gpus, meant_s=2.0, pace=0.5)
    seconds, code, output = run_program(job, tmp_path)

    assert code == 0
    assert "training finished" in output
    assert seconds >= job.sound_s
    steps = output.count("\n") - 1
    project = replayed_jobs.Project.of(job.project)
    assert steps * project.step_s * job.pace == pytest.approx(job.sound_s)


def test_the_projects_of_a_user_have_different_programs():
    texts = {replayed_jobs.Project.of(f"{user}-{n}").program for user in "abc" for n in (1, 8)}

    assert len(texts) == 3


def test_a_mistake_ends_every_run_and_a_fault_only_the_first(tmp_path):
    mistake = a_job(fate="mistake", run_s=0.1, meant_s=2.0)
    fault = a_job(1, user="bin", fate="fault", run_s=0.1, meant_s=0.5)

    assert run_program(mistake, tmp_path)[1] == 1
    assert run_program(mistake, tmp_path, SLURM_RESTART_COUNT="1")[1] == 1
    _, code, output = run_program(fault, tmp_path)
    assert code == 1
    assert "NCCL error" in output
    assert run_program(fault, tmp_path, SLURM_RESTART_COUNT="1")[1] == 0


def test_code_is_older_than_the_runs_that_are_imported(tmp_path):
    replayed_jobs.write([a_job()], tmp_path)

    assert (tmp_path / "daemon-8" / "train.py").stat().st_mtime < time.time() - 86_400


@pytest.mark.skipif(not TRACES.is_dir(), reason="needs the public traces")
def test_the_slice_is_as_its_rule_has_it():
    history, jobs = replayed_jobs.sliced(200, 100, load=1.0)

    assert (len(history), len(jobs)) == (100, 200)
    assert jobs == replayed_jobs.sliced(200, 100, load=1.0)[1]
    asked = sum(job.run_s * job.gpus for job in jobs)
    assert asked / (32 * (jobs[-1].at_s - jobs[0].at_s)) == pytest.approx(1.0)
    assert {job.gpus for job in jobs} <= {1, 2, 4, 8}
    assert all(4.0 <= job.run_s <= 120.0 for job in jobs)
    assert all(max(job.sound_s, job.run_s) < 60 * job.limit_minutes for job in jobs)


@pytest.mark.skipif(not TRACES.is_dir(), reason="needs the public traces")
def test_shaking_moves_submissions_and_nothing_else():
    _, jobs = replayed_jobs.sliced(50, 10, load=1.0)
    shaken = {job.number: job for job in replayed_jobs.shaken(jobs, 1)}

    for job in jobs:
        moved = shaken[job.number]
        assert 0.0 <= moved.at_s - job.at_s <= 5.0
        assert (moved.run_s, moved.fate, moved.project) == (job.run_s, job.fate, job.project)


def an_arm(name: str, *results: JobResult) -> ArmResult:
    return ArmResult(name, list(results), CONFIG, {}, {})


def test_what_is_measured_of_a_job_that_came_back():
    job = a_job(fate="fault", gpus=2)
    attempts = [
        Attempt("1", 100.0, 105.0, 115.0, "FAILED"),
        Attempt("1", 120.0, 130.0, 150.0, "COMPLETED"),
    ]
    (found,) = measures.measured([job], an_arm("plain", JobResult(0, 100.0, attempts)))

    assert (found.jct_s, found.wait_s, found.first_wait_s) == (50.0, 20.0, 5.0)
    assert (found.wasted_gpu_s, found.retries, found.timed_out) == (20.0, 1, False)


def test_a_mistake_wastes_all_its_runs_and_a_cancelled_job_none():
    run = Attempt("1", 0.0, 0.0, 10.0, "FAILED")
    jobs = [a_job(fate="mistake", gpus=4), a_job(1, fate="cancelled", gpus=4)]
    arm = an_arm("plain", JobResult(0, 0.0, [run]), JobResult(1, 0.0, [run]))

    assert [each.wasted_gpu_s for each in measures.measured(jobs, arm)] == [40.0, 0.0]


def test_the_simulator_replays_jobs_that_come_back():
    """Four nodes of 8: the fifth job waits for the first; the fault's owner comes back later."""
    jobs = [a_job(0, fate="fault", meant_s=20.0), *(a_job(n, meant_s=40.0) for n in range(1, 5))]
    submitted = {job.number: float(job.number) for job in jobs}
    found = simulate(jobs, submitted, CONFIG, times=RunTimes(0.0))
    jct = dict(zip(found.numbers, found.jct_s.tolist(), strict=True))

    assert jct[4] == pytest.approx(10.0 - 4.0 + jobs[4].sound_s, abs=1.0)
    # it failed after 10 s, came back 30 s later, and the first node is free when the second is
    back = 1.0 + jobs[1].sound_s
    assert jct[0] == pytest.approx(max(40.0, back) + jobs[0].sound_s, abs=6.0)


def test_with_schedmate_the_shorter_of_two_waiting_jobs_goes_first():
    """One of four nodes is free after 30 s; by submission it would be the long job's."""
    lengths = (30.0, 200.0, 200.0, 200.0, 60.0, 4.0)
    jobs = [
        a_job(number, meant_s=seconds, at_s=float(number), limit_minutes=60)
        for number, seconds in enumerate(lengths)
    ]
    submitted = {job.number: job.at_s for job in jobs}
    results = [JobResult(job.number, job.at_s, [], (job.sound_s,) * 3, "same_code") for job in jobs]
    plain = simulate(jobs, submitted, CONFIG, times=RunTimes(0.0))
    ours = simulate(
        jobs, submitted, CONFIG, times=RunTimes(0.0), schedmate=an_arm("schedmate", *results)
    )

    assert plain.first_wait_s[4] < plain.first_wait_s[5]
    assert ours.first_wait_s[5] < ours.first_wait_s[4]


def test_measured_run_times_take_the_place_of_the_numbers():
    jobs = [a_job(0), a_job(1, fate="fault", meant_s=20.0)]
    times = RunTimes(0.0, {0: [33.0], 1: [5.0, 44.0]})
    found = simulate(jobs, {0: 0.0, 1: 0.0}, CONFIG, times=times)

    assert found.jct_s.tolist() == [33.0, pytest.approx(5.0 + 30.0 + 44.0, abs=2.0)]


def test_jobs_are_read_one_after_the_other():
    kinds = [
        ("JobSeen", "1", 0.0),
        ("JobSeen", "2", 0.0),
        ("JobAdvised", "1", 3.0),
        ("JobAdvised", "2", 5.0),
        ("JobSeen", "3", 60.0),
        ("JobAdvised", "3", 61.0),
    ]
    events = [KeptEvent(at=at, kind=kind, job_id=job, body="") for kind, job, at in kinds]

    assert reading_s(events) == {"1": 3.0, "2": 2.0, "3": 1.0}
