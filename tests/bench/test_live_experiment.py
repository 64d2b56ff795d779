"""The parts of the live experiment that need no Slurm."""

from __future__ import annotations

import os
import subprocess
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from bench.datasets import data_dir
from bench.live import measures, replayed_jobs
from bench.live.arm import ArmResult, Attempt, JobResult, first_predictions
from bench.live.compressed_time import COMPRESSED
from bench.live.history_control import HistoryPredictor
from bench.live.replayed_jobs import ReplayedJob
from bench.live.simulated import HANG_S, RunTimes, reading_s, simulate
from schedmate.advisor import Target
from schedmate.core import JobAdvised
from schedmate.model import (
    Advice,
    Finding,
    JobState,
    PastRun,
    Prediction,
    Request,
    Spread,
    Workload,
)
from schedmate.model.wire import dumps
from schedmate.policies import Candidate, nice_of
from schedmate.store.base import KeptEvent
from schedmate.store.sqlite import SqliteStore
from schedmate.testing import builders

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
@pytest.mark.processes
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


@pytest.mark.processes
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
    assert all(4.0 <= job.run_s <= replayed_jobs.LONGEST_S for job in jobs)
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


def test_nice_numbers_come_as_late_as_they_came():
    """Half a look until the first is seen; the second waits for the reader, the third does not."""
    results = [
        JobResult(1, 0.0, placed_s=3.0),
        JobResult(2, 0.5, placed_s=4.5),
        JobResult(3, 60.0, placed_s=2.0),
        JobResult(4, 61.0),
    ]

    assert reading_s(results, look_s=1.0) == {1: 2.5, 2: 2.0, 3: 1.5}


def test_a_fault_is_queued_again_on_another_node_before_its_owner_comes_back():
    job = a_job(fate="fault", meant_s=20.0)
    arm = an_arm("schedmate", JobResult(0, 0.0, predicted=(20.0, 20.0, 20.0)))
    ours = simulate([job], {0: 0.0}, CONFIG, times=RunTimes(0.0), reaction_s=3.0, schedmate=arm)
    plain = simulate([job], {0: 0.0}, CONFIG, times=RunTimes(0.0))

    assert plain.jct_s[0] == pytest.approx(10.0 + 30.0 + job.sound_s, abs=2.0)
    assert ours.jct_s[0] == pytest.approx(10.0 + 3.0 + 2.0 + job.sound_s, abs=2.0)


def test_a_hang_is_ended_before_its_owner_does():
    job = a_job(fate="hangs", run_s=100.0, meant_s=150.0, limit_minutes=10)
    arm = an_arm("schedmate", JobResult(0, 0.0, predicted=(150.0, 150.0, 150.0)))
    ours = simulate([job], {0: 0.0}, CONFIG, times=RunTimes(0.0), reaction_s=3.0, schedmate=arm)

    assert ours.jct_s[0] == pytest.approx(50.0 + HANG_S + 5.0 + job.sound_s, abs=3.0)


def test_waits_beyond_the_bound_are_counted_in_one_direction():
    first, second = {1: 0.0, 2: 100.0, 3: 0.0}, {1: 181.0, 2: 0.0, 3: 179.0}
    bounds = dict.fromkeys(first, 180.0)

    assert (measures.beyond(first, second, bounds), measures.beyond(second, first, bounds)) == (
        1,
        0,
    )


def test_what_a_hung_run_held_is_the_avoidable_part():
    job = a_job(fate="hangs", gpus=2, run_s=100.0, meant_s=150.0)
    runs = [
        Attempt("1", 0.0, 0.0, 62.0, "CANCELLED"),
        Attempt("1", 65.0, 65.0, 215.0, "COMPLETED"),
    ]
    (found,) = measures.measured([job], an_arm("schedmate", JobResult(0, 0.0, runs)))

    assert (found.wasted_gpu_s, found.hung_gpu_s) == (124.0, 24.0)


def test_the_first_prediction_is_the_one_that_placed_a_job():
    advised = [
        JobAdvised(at, "7", Advice(workload=Workload(), prediction=a_prediction(seconds)))
        for at, seconds in ((1.0, 230.0), (400.0, 115.0))
    ]
    rows = [
        KeptEvent(at=each.at, kind="JobAdvised", job_id="7", body=dumps(each)) for each in advised
    ]

    found = first_predictions(rows)["7"]

    assert found is not None
    assert found.duration_s == Spread(230.0, 230.0, 230.0)


def a_prediction(seconds: float) -> Prediction:
    return Prediction(
        basis="same_code", duration_s=Spread(seconds, seconds, seconds), explanation="a test"
    )


def test_unread_jobs_stand_in_the_middle_of_compressed_costs():
    """A second here is eight minutes of the trace: a job of 4 s is before one that is unread."""
    ssf = COMPRESSED["ssf"]()
    job = builders.a_job()
    short, long = (
        nice_of(ssf, Candidate(job, a_prediction(seconds)), 40_000) for seconds in (4.0, 160.0)
    )

    assert short < nice_of(ssf, Candidate(job, None), 40_000) < long


@pytest.mark.skipif(not TRACES.is_dir(), reason="needs the public traces")
def test_limits_are_habits_of_projects_and_tell_nothing_of_a_job():
    history, jobs = replayed_jobs.sliced(300, 600, load=1.0)
    everything = [*history, *jobs]
    of_project: dict[str, set[int]] = {}
    for job in everything:
        of_project.setdefault(job.project, set()).add(job.limit_minutes)

    assert all(len(limits) <= 2 for limits in of_project.values())
    assert len({job.limit_minutes for job in everything}) >= 5
    logs = np.log([(job.limit_minutes, job.first_s) for job in everything])
    assert np.corrcoef(logs.T)[0, 1] ** 2 < 0.02


def test_the_control_knows_history_and_no_code(tmp_path):
    """Runs of a user of one name: their mean, whatever their code states."""
    predict = HistoryPredictor()
    asked = Target(workdir=tmp_path, command=("a", "1"), user="ann", name="run-9.sh",
                   request=Request(gpus=2), submitted_at=5000.0)  # fmt: skip
    stated = Workload(epochs=Finding(value=500, source="code"))
    with closing(SqliteStore(tmp_path / "store.db")) as store:
        unknown = predict(store, asked, None, stated)
        store.keep_runs([a_past_run(number, 100.0) for number in range(20)])
        first = predict(store, asked, None, stated)
        store.keep_run(a_past_run(20, 1100.0))
        second = predict(store, asked, None, Workload())

    assert unknown.duration_s is None
    assert (first.basis, first.duration_s.p50) == ("history", pytest.approx(100.0))
    assert second.duration_s.p50 == pytest.approx(300.0, rel=0.02)  # a fifth is of the newest
    assert second.duration_s.p10 <= second.duration_s.p50 <= second.duration_s.p90


def a_past_run(number: int, ran_s: float) -> PastRun:
    job = builders.a_job(
        id=str(number),
        user="ann",
        name=f"run-{number}.sh",
        state=JobState.COMPLETED,
        request=Request(gpus=2),
        submit_time=100.0 * number,
        start_time=100.0 * number,
        end_time=100.0 * number + ran_s,
    )
    return PastRun(job=job)


def test_a_control_stands_beside_the_other_arms(capsys):
    """Every figure of three arms, each compared with Slurm alone."""
    job = a_job(gpus=1, run_s=10.0)

    def arm(name, waited):
        attempt = Attempt("1", 0.0, waited, waited + 10.0, "COMPLETED")
        cost = {"cpu_s": 1.0, "seconds": 2.0, "peak_mb": 3.0}
        result = JobResult(0, 0.0, [attempt], predicted=(9.0, 10.0, 11.0), basis="history")
        return ArmResult(name, [result], CONFIG, cost, {})

    arms = [arm("plain", 90.0), arm("schedmate", 10.0), arm("history", 40.0)]
    measures.report([job], arms, {}, replicas=2)

    shown = [line.replace("│", " ").split() for line in capsys.readouterr().out.splitlines()]
    [row] = [line[3:] for line in shown if line[:3] == ["average", "JCT,", "s"]]
    assert row == ["100.0", "20.0", "5.00", "50.0", "2.00"]
