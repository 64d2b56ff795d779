"""The parts of the live experiment that need no Slurm."""

from __future__ import annotations

import os
import subprocess
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench.datasets import data_dir
from bench.live import measures, programs, replayed_jobs
from bench.live.arm import ArmResult, Attempt, JobResult, first_predictions
from bench.live.comparing import Compared, report_all, what_was_shown
from bench.live.compressed_time import COMPRESSED
from bench.live.history_control import HistoryPredictor
from bench.live.replayed_jobs import ReplayedJob
from bench.live.simulated import HANG_S, Shown, reading_s, simulate
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
    programs.write([job], root)
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
    project = programs.Project.of(job.project)
    assert steps * project.step_s * job.pace == pytest.approx(job.sound_s)


def test_the_projects_of_a_user_have_different_programs():
    texts = {programs.Project.of(f"{user}-{n}").program for user in "abc" for n in (1, 8)}

    assert len(texts) == 3


@pytest.mark.processes
def test_a_mistake_ends_every_run_and_a_fault_only_the_first(tmp_path):
    mistake = a_job(fate="mistake", run_s=0.1, meant_s=2.0)
    fault = a_job(1, user="bin", fate="fault", run_s=0.1, meant_s=0.5)

    assert run_program(mistake, tmp_path)[1] == 1
    assert run_program(mistake, tmp_path)[1] == 1
    _, code, output = run_program(fault, tmp_path)
    assert code == 1
    assert "NCCL error" in output
    assert run_program(fault, tmp_path)[1] == 0


def test_code_is_older_than_the_runs_that_are_imported(tmp_path):
    programs.write([a_job()], tmp_path)

    assert (tmp_path / "daemon-8" / "train.py").stat().st_mtime < time.time() - 86_400


@pytest.mark.skipif(not TRACES.is_dir(), reason="needs the public traces")
def test_the_slice_is_as_its_rule_has_it():
    history, jobs = replayed_jobs.sliced(200, 100, load=1.0)

    assert (len(history), len(jobs)) == (100, 200)
    assert jobs == replayed_jobs.sliced(200, 100, load=1.0)[1]
    asked = sum(job.run_s * job.gpus for job in jobs)
    assert asked / (32 * (jobs[-1].at_s - jobs[0].at_s)) == pytest.approx(1.0)
    assert {job.gpus for job in jobs} <= {1, 2, 4, 8}
    assert all(3.0 <= job.run_s <= replayed_jobs.LONGEST_S for job in jobs)
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
    found = simulate(jobs, submitted, CONFIG, shown=Shown())
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
    plain = simulate(jobs, submitted, CONFIG, shown=Shown())
    ours = simulate(jobs, submitted, CONFIG, shown=Shown(), schedmate=an_arm("order", *results))

    assert plain.first_wait_s[4] < plain.first_wait_s[5]
    assert ours.first_wait_s[5] < ours.first_wait_s[4]


def test_runs_are_as_much_longer_than_their_steps_as_they_were():
    jobs = [a_job(0), a_job(1)]
    shown = Shown(overhead_s=1.0, overheads={0: 23.0})
    found = simulate(jobs, {0: 0.0, 1: 0.0}, CONFIG, shown=shown)

    assert found.jct_s.tolist() == [jobs[0].sound_s + 23.0, jobs[1].sound_s + 1.0]


def test_what_a_run_shows_of_its_machine():
    jobs = [a_job(0), a_job(1), a_job(2, fate="fault", run_s=5.0)]
    results = [
        JobResult(0, 0.0, [Attempt("1", 0.0, 0.0, 11.0, "COMPLETED")]),
        JobResult(1, 0.0, [Attempt("2", 0.0, 0.0, 13.0, "COMPLETED")]),
        JobResult(
            2,
            0.0,
            [Attempt("3", 0.0, 0.0, 6.0, "FAILED"), Attempt("3", 8.5, 9.0, 20.0, "COMPLETED")],
        ),
    ]
    arm = an_arm("order", *results)
    arm.cost |= {"poll_s": 1.5, "restart_s": 0.7}
    shown = what_was_shown(measures.Pair.of(jobs, [arm]), arm)

    longer = [11.0 - jobs[0].sound_s, 13.0 - jobs[1].sound_s]
    assert shown.overhead_s == pytest.approx(sum(longer) / 2)
    assert dict(shown.overheads) == pytest.approx({0: longer[0], 1: longer[1]})
    assert (shown.poll_s, shown.reaction_s, shown.restart_s) == (1.5, 2.5, 0.7)


@pytest.mark.processes
def test_a_program_that_resumes_goes_on_from_its_checkpoint(tmp_path):
    """It breaks once, after its first checkpoint; the mark of that outlasts the run."""
    job = a_job(fate="fault", run_s=0.3, meant_s=0.5, pace=0.05, resumes=True)
    project = programs.Project.of(job.project, resumes=True)
    at = f"{(project.save_every + 1) * project.step_s * job.pace:.3f}"
    replay = f"fault:{at}:{job.pace}:broken"
    job = replace(job, meant_s=2 * project.save_every * project.step_s)
    _, code, first = run_program(job, tmp_path, REPLAY=replay)
    _, again, second = run_program(job, tmp_path, REPLAY=replay)

    assert (code, again) == (1, 0)
    assert f"saved checkpoint checkpoints/0/last.pkl at step {project.save_every}" in first
    assert second.startswith(f"step {project.save_every + 1}/")


@pytest.mark.processes
def test_the_loss_of_a_doomed_run_stays_no_number_and_the_run_goes_on(tmp_path):
    job = a_job(fate="doomed", run_s=0.4, meant_s=8.0, pace=0.05)
    _, code, output = run_program(job, tmp_path)

    lost = ["loss nan" in line or "loss: nan" in line for line in output.splitlines()]
    assert code == 0
    assert "training finished" in output
    first = lost.index(True)
    assert 0 < first < len(lost) - 2
    assert all(lost[first:-1])


@pytest.mark.skipif(not TRACES.is_dir(), reason="needs the public traces")
def test_levers_have_their_share_of_jobs_and_of_gpu_time():
    history, jobs = replayed_jobs.sliced(250, 100, load=1.0, resumable=0.6, doomed=0.05)

    held = {job.number: job.gpus * job.run_s for job in jobs}
    for share, these in (
        (0.6, [job for job in jobs if job.resumes]),
        (0.05, [job for job in jobs if job.fate == "doomed"]),
    ):
        assert len(these) / len(jobs) == pytest.approx(share, abs=0.08)
        gpu_time = sum(held[job.number] for job in these) / sum(held.values())
        assert gpu_time == pytest.approx(share, abs=0.08)
    resuming = {job.project for job in (*history, *jobs) if job.resumes}
    assert not resuming & {job.project for job in (*history, *jobs) if not job.resumes}


def levers_of(*fates: tuple[str, float]) -> list[ReplayedJob]:
    usual = {"resumes": True, "limit_minutes": 60}
    return [
        a_job(number, fate=fate, run_s=seconds, meant_s=seconds, at_s=float(number), **usual)
        for number, (fate, seconds) in enumerate(fates)
    ]


def test_in_the_simulator_a_run_makes_way_at_a_checkpoint_and_goes_on():
    """Four nodes are taken by long runs; a short job comes, and one of them has just saved."""
    jobs = levers_of(*[("completes", 100.0)] * 4, ("completes", 4.0))
    submitted = {job.number: job.at_s for job in jobs}
    known = [JobResult(job.number, job.at_s, [], (job.sound_s,) * 3, "same_code") for job in jobs]
    shown = Shown(restart_s=1.0)
    order, stack = (
        simulate(jobs, submitted, CONFIG, shown=shown, schedmate=an_arm(name, *known))
        for name in ("order", "stack")
    )

    assert "preempt" not in order.actions
    assert (stack.actions["preempt"], stack.actions["release"]) == (1, 1)
    assert stack.first_wait_s[4] < 30.0 < order.first_wait_s[4]
    lost = stack.jct_s[:4].max() - jobs[0].sound_s
    assert 4.0 <= lost <= 4.0 + 25.0, "the short job, the restart and what was not saved"


def test_in_the_simulator_a_doomed_run_is_stopped_soon_after_its_sign():
    jobs = levers_of(("doomed", 100.0))
    known = JobResult(0, 0.0, [], (100.0,) * 3, "same_code")
    order, stack = (
        simulate(jobs, {0: 0.0}, CONFIG, shown=Shown(), schedmate=an_arm(name, known))
        for name in ("order", "stack")
    )

    assert order.jct_s[0] == pytest.approx(jobs[0].sound_s)
    assert stack.actions["cancel"] == 1
    assert 50.0 < stack.jct_s[0] < 50.0 + 10 * jobs[0].step_s + 5.0


def test_pairs_are_compared_together(capsys):
    """A gain is the geometric mean over pairs; an error that of the averages of all."""
    pairs = [
        Compared({"plain": 100.0, "stack": 50.0}, {"plain": [110.0], "stack": [55.0]}),
        Compared({"plain": 100.0, "stack": 200.0}, {"plain": [90.0], "stack": [195.0]}),
    ]
    report_all(pairs)

    shown = [line.replace("│", " ").split() for line in capsys.readouterr().out.splitlines()]
    [row] = [line for line in shown if line[:1] == ["stack"]]
    averages = ["125.0", "±", "75.0", "125.0", "±", "70.0", "+0.0%"]
    assert row[1:] == [*averages, "1.00", "2.00,", "0.50", "0.96", "-3.9%"]


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
    arm = an_arm("order", JobResult(0, 0.0, predicted=(20.0, 20.0, 20.0)))
    ours = simulate([job], {0: 0.0}, CONFIG, shown=Shown(reaction_s=3.0), schedmate=arm)
    plain = simulate([job], {0: 0.0}, CONFIG, shown=Shown())

    assert plain.jct_s[0] == pytest.approx(10.0 + 30.0 + job.sound_s, abs=2.0)
    assert ours.jct_s[0] == pytest.approx(10.0 + 3.0 + 2.0 + job.sound_s, abs=2.0)


def test_a_hang_is_ended_before_its_owner_does():
    job = a_job(fate="hangs", run_s=100.0, meant_s=150.0, limit_minutes=10)
    arm = an_arm("order", JobResult(0, 0.0, predicted=(150.0, 150.0, 150.0)))
    ours = simulate([job], {0: 0.0}, CONFIG, shown=Shown(reaction_s=3.0), schedmate=arm)

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
    (found,) = measures.measured([job], an_arm("order", JobResult(0, 0.0, runs)))

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
        cost = {"cpu_s": 1.0, "seconds": 2.0, "peak_mb": 3.0, "poll_s": 1.0, "slow_poll_s": 2.0}
        result = JobResult(0, 0.0, [attempt], predicted=(9.0, 10.0, 11.0), basis="history")
        return ArmResult(name, [result], CONFIG, cost, {})

    arms = [arm("plain", 90.0), arm("order", 10.0), arm("history", 40.0)]
    measures.report(measures.Pair.of([job], arms), {}, [])

    shown = [line.replace("│", " ").split() for line in capsys.readouterr().out.splitlines()]
    [row] = [line[3:] for line in shown if line[:3] == ["average", "JCT,", "s"]]
    assert row == ["100.0", "20.0", "(5.00)", "50.0", "(2.00)"]
