"""What SchedMate does to jobs of a real Slurm leaves them startable, and users' wishes alone."""

import logging
import subprocess
import time
from contextlib import ExitStack, closing
from dataclasses import replace

import pytest

from schedmate.config import TimeLimitSettings
from schedmate.model import Action, JobState, PartlyKnown, Request, SchedulerError
from schedmate.schedulers.slurm import SlurmScheduler
from schedmate.schedulers.slurm.changes import CommandChanges
from schedmate.schedulers.slurm.commands import SlurmCommands
from schedmate.schedulers.slurm.source import CommandSource
from schedmate.service.actions import Actions
from schedmate.service.daemon.assembling import assemble
from schedmate.service.daemon.serving import look_once
from schedmate.service.usecases.submission import submission_of
from schedmate.service.usecases.submit import submit
from schedmate.service.views.job_view import job_view
from schedmate.service.views.sentences import why_sentence
from schedmate.service.visibility import Viewer
from schedmate.store import KeptAdvice
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import an_advice
from service.dying import Crash, Steps

pytestmark = pytest.mark.slurm
# no end may fall into the second in which the store was made
ECC = "sleep 1.5; echo 'RuntimeError: CUDA error: uncorrectable ECC error encountered'; exit 1"
PATIENCE_S = 60.0


def looks(settings, times=1):
    """Of daemons that know nothing but what is written down."""
    for _ in range(times):
        with assemble(settings) as daemon:
            daemon.cycle(time.time())


def shown(job_id, form):
    said = subprocess.check_output(["squeue", "-h", "-tall", "-j", job_id, "-o", form], text=True)
    return said.strip()


def held(job_id):
    return shown(job_id, "%Q") == "0"


def why(bench, store, job_id):
    view = job_view(bench.scheduler, store, Viewer(user="root", operator=True), job_id)
    return why_sentence(
        view, bench.scheduler.jobs(), time.time(), lambda seconds: f"{seconds:.0f} s"
    )


def requeue(job_id, *nodes, delay_s=0.0):
    return Action(
        kind="requeue", job_id=job_id, attempt=0, why="x", exclude_nodes=nodes, delay_s=delay_s
    )


# time limits


def test_a_lowered_limit_is_given_back_when_the_daemon_stops(bench, settings, store):
    lowering = replace(settings, time_limits=TimeLimitSettings(lower=True))
    job_id = waits(bench, "--time=10:00:00")
    store.keep_advice(job_id, KeptAdvice(an_advice(3600.0), None))

    looks(lowering)
    assert shown(job_id, "%l") == "5:30:00"

    look_once(lowering)
    assert shown(job_id, "%l") == "10:00:00"


# nice numbers


def ours_by_the_ledger(store, job_id):
    return store.actions(job_id=job_id)[-1].action.value


def waits(bench, *flags):
    return bench.shell("true", passthrough=("--begin=now+1hour", *flags))


def test_a_users_own_number_is_kept_and_ours_added_to_it(bench, settings, store):
    assist = replace(settings, mode="assist")
    before = waits(bench, "--nice=500")
    words = ["--begin=now+1hour", f"--chdir={bench.directory}", "--nice=500", "--", "true"]
    through_us = submit(assist, submission_of(assist, words)).job_id
    ours = submit(assist, submission_of(assist, [*words[:2], *words[3:]])).job_id
    taken = waits(bench)
    bench.submitted += [through_us, ours]
    assert bench.job(ours).nice == ours_by_the_ledger(store, ours)
    looks(assist)
    place = bench.job(taken).nice
    assert place == ours_by_the_ledger(store, taken) < 0
    subprocess.run(["scontrol", "update", f"JobId={taken}", "Nice=0"], check=True)
    looks(assist, 2)

    assert bench.job(taken).nice == place
    for job_id in (before, through_us):
        assert bench.job(job_id).nice == ours_by_the_ledger(store, job_id) < 500
        assert store.actions(job_id=job_id)[-1].action.reason.own_nice == 500
    assert [one.state for one in store.actions(job_id=ours)] == ["done"]


@pytest.mark.parametrize("weight", [0, 300])
def test_jobs_are_ordered_at_every_priority_and_what_is_new_stands_last(
    bench, settings, store, slurm_cluster, weight
):
    config = slurm_cluster.config.read_text()
    try:
        low = config.replace("PriorityWeightPartition=1000000", f"PriorityWeightPartition={weight}")
        slurm_cluster.config.write_text(low)
        subprocess.run(["scontrol", "reconfigure"], check=True)
        jobs = {seconds: waits(bench, "--time=50-0") for seconds in (1e9, 86400.0, 1.0)}
        for seconds, job_id in jobs.items():
            store.keep_advice(job_id, KeptAdvice(an_advice(seconds), None))
        looks(settings)
        new = waits(bench)

        points = [int(shown(job_id, "%Q")) for job_id in (*jobs.values(), new)]
        longest, day, short, unseen = points
        assert max(1, weight) == unseen == longest < day < short
    finally:
        slurm_cluster.config.write_text(config)
        subprocess.run(["scontrol", "reconfigure"], check=True)


def test_a_priority_that_was_set_by_hand_is_noticed_and_not_fought(bench, settings, store):
    job_id = waits(bench)
    subprocess.run(["scontrol", "update", f"JobId={job_id}", "Priority=777"], check=True)
    looks(settings, 3)
    records = store.actions(job_id=job_id)
    assert {(one.state, one.note) for one in records} - {("noted", "")} == {
        ("failed", "priority was set by hand: nice stays 0")
    }
    assert len(records) <= 2, "the middle and the place, and no more"
    assert shown(job_id, "%Q") == "777"


# accounting


def test_without_accounting_everything_else_goes_on(bench, settings, store, slurm_cluster, caplog):
    job_id = bench.shell("exit 3", request=Request(gpus=1))
    bench.ended(job_id)
    store.intend(requeue("7654321"), at=1.0)
    slurm_cluster.stop_daemon("slurmdbd")
    try:
        with caplog.at_level(logging.WARNING):
            looks(settings)
        assert "missing for now" in caplog.text
        assert store.run(job_id, 0) is not None, "it was seen, read and remembered"
        assert [one.state for one in store.actions(job_id="7654321")] == ["intended"]
        scheduler = SlurmScheduler()
        with pytest.raises(PartlyKnown, match="job 7654321 may be known to accounting") as raised:
            scheduler.jobs([job_id, "7654321"])
        assert [job.id for job in raised.value.found] == [job_id]
        assert [job.id for job in scheduler.jobs([job_id])] == [job_id]
        assert job_id in {job.id for job in scheduler.jobs()}
        assert caplog.text.count("missing for now") == 1, "it is left alone for a while"
    finally:
        slurm_cluster.start_accounting()
    assert SlurmScheduler().jobs(["7654321"]) == []
    looks(settings)
    assert [one.note for one in store.actions(job_id="7654321")] == ["the job is gone"]


# exclusion


def test_a_job_that_asks_for_the_sick_node_is_left_and_says_why(bench, settings, store):
    insists, free = bench.shell(ECC, passthrough=("-w", "node0")), bench.shell(ECC)
    bench.ended(insists)
    (sick,) = bench.ended(free).nodes

    looks(settings, 2)

    job = bench.job(insists)
    assert (job.state, job.restarts, job.request.exclude_nodes) == (JobState.FAILED, 0, ())
    assert job.request.required_nodes == ("node0",)
    [left] = store.actions(job_id=insists)
    assert (left.action.kind, left.action.reason.code) == ("leave", "nodes_required")
    assert "leave it no node but the one blamed" in why(bench, store, insists)
    assert bench.wait(free, lambda job: job.restarts == 1, what="the retry")
    assert bench.job(free).request.exclude_nodes == (sick,)


def test_a_reservation_of_one_node_is_respected(bench, settings, store):
    make = ["StartTime=now", "Duration=10", "Users=root", "Nodes=node1", "Flags=IGNORE_JOBS"]
    subprocess.run(["scontrol", "create", "reservation", "ReservationName=mine", *make], check=True)
    try:
        job_id = bench.shell(ECC, passthrough=("--reservation=mine",))
        assert bench.ended(job_id).nodes == ("node1",)
        looks(settings, 2)
        assert bench.job(job_id).restarts == 0
        assert "leave it no node but the one blamed" in why(bench, store, job_id)
    finally:
        bench.clear()
        subprocess.run(["scontrol", "delete", "ReservationName=mine"], check=True)


# a requeue at whose every step the daemon may die


class Dying:
    """Slurm's commands, of which the last is the daemon's last."""

    def __init__(self, inner, last, *, done):
        self.steps = Steps(last, done=done)
        self.ask = lambda *argv: self.steps.call(inner.ask, *argv)
        self.timeout_s, self.cluster = inner.timeout_s, inner.cluster


def dies(action, store, last, *, done):
    """Whether a daemon that carries it out had such a command at all."""
    scheduler = SlurmScheduler()
    slurm = Dying(SlurmCommands(), last, done=done)
    scheduler._source, scheduler._changes = CommandSource(slurm), CommandChanges(slurm)
    actions = Actions(scheduler, store, "act")
    try:
        actions.carry_out(action, 1.0)
        actions.finish_interrupted(2.0)
    except Crash:
        return True
    return False


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
def test_a_requeue_is_finished_wherever_the_daemon_dies(bench, tmp_path, done):
    """All at once: each job has a daemon that dies one command later."""
    jobs = [bench.shell("echo $SLURM_JOB_ID >> ran; exit 3") for _ in range(20)]
    for job_id in jobs:
        bench.ended(job_id)
    actions = [requeue(job_id, "node0", delay_s=3600) for job_id in jobs]
    with ExitStack() as stack:
        stores = [stack.enter_context(closing(SqliteStore(tmp_path / one))) for one in jobs]
        died = [
            dies(action, store, last, done=done)
            for last, (action, store) in enumerate(zip(actions, stores, strict=True), start=1)
        ]
        assert died == sorted(died, reverse=True)
        assert died[6], "there were commands to die at"
        assert not died[-1], "the last daemon came through"
        for store in stores:
            Actions(SlurmScheduler(), store, "act").finish_interrupted(3.0)
        assert [one.state for store in stores for one in store.actions()] == ["done"] * len(jobs)
    for job in bench.scheduler.jobs(jobs):
        assert (job.state, job.restarts) == (JobState.PENDING, 1)
        assert job.request.exclude_nodes == ("node0",)
        assert not held(job.id)
    assert sorted(bench.lines("ran")) == sorted(jobs), "none has run twice"


def test_a_run_that_is_hard_to_stop_does_not_hold_the_daemon_up(bench, store):
    job_id = bench.shell("trap '' TERM; echo $SLURM_RESTART_COUNT >> runs; sleep 600 & wait; wait")
    bench.wait_for_lines("runs", 1)
    (node,) = bench.running(job_id).nodes
    begun = time.monotonic()
    Actions(SlurmScheduler(), store, "act").carry_out(requeue(job_id, node), 1.0)
    assert time.monotonic() - begun < 10
    assert bench.job(job_id).state is JobState.PENDING, "it is not mistaken for a run"

    def finished(_):
        Actions(SlurmScheduler(), store, "act").finish_interrupted(2.0)
        return store.actions()[0].state == "done"

    bench.wait(job_id, finished, what="the requeue")
    again = bench.running(job_id)
    assert (again.restarts, node in again.nodes) == (1, False)


def test_a_hold_of_somebody_else_is_not_released(bench, store):
    before, during = bench.shell("sleep 1; exit 3"), bench.shell("exit 3")
    bench.running(before)
    subprocess.run(["scontrol", "hold", before], check=True)
    for job_id in (before, during):
        bench.ended(job_id)
    # somebody requeues and holds it while the daemon is away
    store.intend(requeue(during, "node0"), at=1.0)
    subprocess.run(["scontrol", "requeuehold", during], check=True)
    actions = Actions(SlurmScheduler(), store, "act")
    actions.carry_out(requeue(before, "node0"), 1.0)
    for _ in range(2):
        actions.finish_interrupted(2.0)

    assert [one.state for one in store.actions()] == ["done", "done"]
    for job_id in (before, during):
        assert bench.job(job_id).request.exclude_nodes == ("node0",)
        assert bench.job(job_id).state is JobState.PENDING
        assert held(job_id)


def test_what_slurm_refuses_does_not_leave_a_job_held(bench, store):
    job_id = bench.shell("exit 3")
    bench.ended(job_id)
    actions = Actions(SlurmScheduler(), store, "act")
    actions.carry_out(requeue(job_id, "no-such-node", delay_s=3600), 1.0)
    actions.finish_interrupted(2.0)

    (record,) = store.actions()
    assert record.state == "failed"
    assert record.note.startswith("it was queued again, but: ")
    assert bench.job(job_id).state is JobState.PENDING
    assert not held(job_id)


def test_what_slurm_does_not_requeue_is_said_in_a_sentence(bench):
    plain = bench.shell("exit 3", passthrough=("--no-requeue",))
    bench.ended(plain)
    with pytest.raises(SchedulerError, match="--no-requeue"):
        bench.requeue(plain, exclude_nodes=["node0"])
    assert bench.job(plain).state is JobState.FAILED


def test_a_part_of_a_heterogeneous_job_is_left_alone(bench):
    line = ["sbatch", "--parsable", "-n1", ":", "-n1", f"--chdir={bench.directory}"]
    job_id = subprocess.check_output([*line, "--wrap", "exit 3"], text=True).strip()
    part = f"{job_id}+0"
    bench.wait(part, lambda job: job.state.ended, what="the end")
    with pytest.raises(SchedulerError, match="as a whole"):
        bench.requeue(part, exclude_nodes=["node0"])


def test_one_task_of_an_array_goes_elsewhere(bench, store):
    array = bench.shell("exit 3", passthrough=("--array=0-1",))
    bench.submitted = [f"{array}_0", f"{array}_1"]
    for task in bench.submitted:
        bench.ended(task)
    actions = Actions(SlurmScheduler(), store, "act")
    actions.carry_out(requeue(f"{array}_1", "node0", delay_s=3600), 1.0)
    actions.finish_interrupted(2.0)
    jobs = {job.id: job for job in bench.scheduler.jobs([array])}
    assert [record.state for record in store.actions()] == ["done"]
    assert [jobs[task].restarts for task in bench.submitted] == [0, 1]
    assert jobs[f"{array}_1"].request.exclude_nodes == ("node0",)


def test_a_job_that_cannot_succeed_is_held_until_a_person_releases_it(
    bench, settings, store, tmp_path
):
    """The file that it starts is not there. Slurm's own command lifts the hold."""
    script = tmp_path / "job.sh"
    script.write_text("#!/bin/bash\npython3 train.py\n")
    asked = submission_of(settings, ["--begin=now+1hour", "-D", str(tmp_path), str(script)])
    job_id = submit(settings, asked).job_id
    bench.submitted.append(job_id)

    assert shown(job_id, "%r") == "JobHeldUser"
    assert "is held by SchedMate: train.py is not there" in why(bench, store, job_id)
    looks(settings)
    assert held(job_id)

    subprocess.run(["scontrol", "release", job_id], check=True)
    looks(settings, times=2)
    assert not held(job_id)
    holds = [record for record in store.actions(job_id=job_id) if record.action.kind == "hold"]
    assert [record.state for record in holds] == ["done"]


def test_a_held_job_that_was_mended_is_released_with_its_own_nice_number(
    bench, settings, store, tmp_path
):
    script = tmp_path / "job.sh"
    script.write_text("#!/bin/bash\npython3 train.py\n")
    words = ["--begin=now+1hour", "--nice=77", "-D", str(tmp_path), str(script)]
    job_id = submit(settings, submission_of(settings, words)).job_id
    bench.submitted.append(job_id)
    assert held(job_id)

    (tmp_path / "train.py").write_text("print(1)\n")
    with assemble(settings) as daemon:
        daemon.cycle(time.time())
        daemon.cycle(time.time() + 1000)

    assert not held(job_id)
    orders = [one.action for one in store.actions(job_id=job_id) if one.action.kind == "set_nice"]
    assert orders[-1].reason.own_nice == 77
    assert bench.job(job_id).nice == orders[-1].value < 77
