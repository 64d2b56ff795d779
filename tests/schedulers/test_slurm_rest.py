"""slurmrestd as the way to a real Slurm: the same jobs, the same contract, no silent failures."""

import os
import subprocess
import time
from dataclasses import fields, replace

import pytest

from schedmate.model import JobState, SchedulerUnreachable
from schedmate.schedulers.slurm import SlurmScheduler
from schedmate.schedulers.slurm.commands import SlurmCommands
from schedmate.schedulers.slurm.rest.access import RestAccess
from schedmate.testing.scheduler_bench import Bench
from schedmate.testing.scheduler_contract import SchedulerContract
from schedulers.slurm_site import LATER

pytestmark = pytest.mark.slurm

PATIENCE_S = 60.0


@pytest.fixture(scope="module")
def token_file(rest_cluster, tmp_path_factory):
    path = tmp_path_factory.mktemp("token") / "token"
    path.touch(0o600)
    path.write_text(rest_cluster.token())
    return path


@pytest.fixture
def rest(rest_cluster, token_file):
    return SlurmScheduler(rest=RestAccess(rest_cluster.rest_url, token_file))


@pytest.fixture
def bench(rest, tmp_path):
    bench = Bench(rest, tmp_path, patience_s=PATIENCE_S)
    yield bench
    subprocess.run(["scancel", "--user=root"], check=True)
    bench.clear()


class TestSlurmByRest(SchedulerContract):
    slots = 4
    restart_variable = "SLURM_RESTART_COUNT"
    shortest_limit_s = 60.0
    limit_patience_s = 110.0
    clock_slack_s = 2.0
    several_nodes = True
    test_the_time_limit_ends_a_job = None  # Slurm alone does it, whichever way it was set

    @pytest.fixture(scope="class")
    @classmethod
    def scheduler(cls, rest_cluster):
        """By its socket, with a token of its own."""
        return SlurmScheduler(rest=RestAccess(f"unix://{rest_cluster.rest_socket}"))


def test_both_ways_show_the_same(bench, rest, tmp_path):
    """Arrays as a whole and in pieces, a heterogeneous job, ended, held and requeued ones."""
    script = tmp_path / "train.sh"
    script.write_text("#!/bin/bash\n#SBATCH -o %x-%j.log\nexit 0\n")
    ended = bench.submit(str(script), "a b", script=str(script))
    killed = bench.shell("kill -9 $$", name="a,b=c é")
    again = bench.shell("exit 3")
    running = bench.shell("sleep 600")
    whole = bench.shell("sleep 600", passthrough=(LATER, "--array=0-10%3", "-o", "%A-%a.log"))
    pieces = bench.shell("sleep 600", passthrough=(LATER, "--array=1-4", "--exclude=node1"))
    parts = bench.shell("sleep 600", passthrough=(LATER, "-n1", ":", "-n2"))
    wishes = ("--time=UNLIMITED", "--nice=-5", "--comment=x y", "--hold", "--mem=200M")
    held = bench.shell("sleep 600", passthrough=(LATER, *wishes))
    bench.shell("sleep 600", passthrough=(LATER, f"--dependency=afternotok:{held}", "-N2"))
    bench.running(running)
    for job_id in (ended, killed, again):
        bench.ended(job_id)
    bench.requeue(again, exclude_nodes=["node0"], delay_s=3600)
    subprocess.run(["scontrol", "update", f"JobId={pieces}_2", "Nice=7"], check=True)

    by_commands = SlurmScheduler()
    expected = both_show(rest, by_commands)
    assert {whole, pieces, f"{pieces}_2", parts, held} <= expected.keys()
    assert expected[whole].tasks == 11
    for job_id in (ended, killed, again, whole, pieces, f"{pieces}_2", f"{whole}_4", parts):
        shown = [_as_rest_shows(one) for one in by_commands.jobs([job_id])]
        assert rest.jobs([job_id]) == shown, job_id
    assert rest.jobs([again])[0].request.exclude_nodes == ("node0",)
    assert [_without_marks(one) for one in rest.nodes()] == [
        _without_marks(one) for one in by_commands.nodes()
    ]


def both_show(rest, by_commands):
    """Slurm sets reasons and expected starts in between: until both looks fall together."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        one = {job.id: job for job in rest.jobs()}
        other = {job.id: _as_rest_shows(job) for job in by_commands.jobs()}
        if one == other or time.monotonic() > deadline:
            assert one.keys() == other.keys()
            differing = {
                name: (a, b) for key in one for name, a, b in differences(one[key], other[key])
            }
            assert differing == {}
            return one
        time.sleep(0.5)


def _as_rest_shows(job):
    """This version does not say where a job was submitted."""
    return replace(job, submit_host="", submit_session=None)


def differences(one, other):
    """The fields that tell two jobs apart, by name and both values."""
    names = [f"{one.id} {field.name}" for field in fields(one) if field.compare]
    values = ((getattr(job, name.split()[1]) for job in (one, other)) for name in names)
    return [(name, a, b) for name, (a, b) in zip(names, values, strict=True) if a != b]


def _without_marks(node):
    return replace(node, state=node.state.replace("mixed", "allocated"))


def test_a_drained_and_reserved_node(rest):
    reserve = ["scontrol", "create", "reservation", "ReservationName=held", "Users=root"]
    when = ["StartTime=now", "Duration=60", "Nodes=node1", "Flags=maint,ignore_jobs"]
    subprocess.run([*reserve, *when], check=True, capture_output=True)
    rest.drain("node1", "a bad disk")
    try:
        (node,) = rest.nodes(["node1"])
        (shown,) = SlurmScheduler().nodes(["node1"])
        assert (node.condition, node.reason, node.reservations) == (
            "drain",
            "a bad disk",
            ("held",),
        )
        assert (node.since, node.partitions) == (shown.since, shown.partitions)
    finally:
        rest.resume("node1", "a bad disk")
        subprocess.run(["scontrol", "delete", "ReservationName=held"], check=True)


def test_numbers_and_limits_of_many(bench):
    single = [bench.shell("sleep 600", passthrough=(LATER,)) for _ in range(3)]
    array = bench.shell("sleep 600", passthrough=(LATER, "--array=0-3"))
    scheduler = bench.scheduler
    scheduler.jobs()
    numbers = dict.fromkeys([*single, array, "7654321"], 9)
    answers = scheduler.set_nices(numbers)
    assert [one for one, objection in answers.items() if objection] == ["7654321"]
    assert {job.nice for one in (*single, array) for job in scheduler.jobs([one])} == {9}
    assert scheduler.jobs([array])[0].tasks == 4, "still one record"


def test_a_long_array_whose_list_of_tasks_is_cut(bench):
    """slurmrestd shows the first 64 letters of it."""
    tasks = ",".join(str(number) for number in range(0, 120, 3))
    array = bench.shell("true", passthrough=(LATER, f"--array={tasks}"))
    (job,) = bench.scheduler.jobs([array])
    assert job.tasks == 40
    assert [one.tasks for one in bench.scheduler.jobs() if one.id == array] == [40]


def test_every_task_of_an_array_with_steps(bench):
    """squeue of 22.05 leaves out the last one."""
    array = bench.shell("true", passthrough=(LATER, "--array=0-20:2%3"))
    assert [job.tasks for job in bench.scheduler.jobs([array])] == [11]


def test_a_token_that_expires_is_named_and_a_new_one_is_taken(rest_cluster, tmp_path):
    path = tmp_path / "token"
    path.write_text(rest_cluster.token(lifespan_s=1))
    scheduler = SlurmScheduler(rest=RestAccess(rest_cluster.rest_url, path))
    time.sleep(2.5)
    with pytest.raises(SchedulerUnreachable, match="the token has expired; renew it") as raised:
        scheduler.jobs()
    assert str(path) in str(raised.value)
    assert path.read_text() not in str(raised.value)
    path.write_text(f"SLURM_JWT={rest_cluster.token()}\n")
    scheduler.jobs()


def test_a_token_of_another_cluster(rest_cluster, tmp_path):
    head, claims, _ = rest_cluster.token().split(".")
    path = tmp_path / "token"
    path.write_text(f"{head}.{claims}.Zm9yZ2Vk")
    with pytest.raises(SchedulerUnreachable, match="not accept the token; renew it"):
        SlurmScheduler(rest=RestAccess(rest_cluster.rest_url, path)).jobs()


def test_no_output_shows_a_token(bench, token_file, monkeypatch, capfd):
    monkeypatch.setenv("SCHEDMATE_DEBUG", "1")
    assert bench.scheduler.jobs() is not None
    own = SlurmScheduler(rest=RestAccess(bench.scheduler._rest.api.client.place.url))
    own.jobs()
    shown = capfd.readouterr().err
    assert "/jobs" in shown
    assert "eyJ" not in shown, "every token begins with it"


def test_a_controller_that_is_away_is_no_empty_queue(rest_cluster, token_file, rest):
    rest_cluster.stop_daemon("slurmctld")
    try:
        with pytest.raises(SchedulerUnreachable):
            rest.jobs()
    finally:
        rest_cluster.start_controller()
    rest.jobs()


def test_slurmrestd_that_is_away_and_comes_back(rest_cluster, rest):
    rest.jobs()
    rest_cluster.stop_daemon("slurmrestd")
    try:
        with pytest.raises(SchedulerUnreachable, match="is it running"):
            rest.jobs()
    finally:
        rest_cluster.start_rest()
    rest.jobs()


def test_an_ordinary_user_by_rest_changes_own_jobs_only(rest_cluster, bench, tmp_path):
    job_id = bench.shell("sleep 600", passthrough=(LATER,))
    path = tmp_path / "token"
    path.write_text(rest_cluster.token(user="nobody"))
    other = SlurmScheduler(rest=RestAccess(rest_cluster.rest_url, path))
    with pytest.raises(Exception, match=r"[Aa]ccess|[Pp]ermission|user id"):
        other.set_nice(job_id, 5)
    assert bench.job(job_id).nice == 0


def test_doctor_names_the_version_and_what_stays_with_the_commands(bench):
    trial, *_ = bench.scheduler.try_rights()
    assert (trial.name, trial.allowed) == ("rest", True)
    assert "speaks v0.0." in trial.note
    assert "accounting" in trial.note


def test_a_token_file_of_another_account(rest_cluster, token_file):
    """An ordinary user of a machine whose daemon uses slurmrestd goes by the commands."""
    access = RestAccess(rest_cluster.rest_url, token_file)
    os.seteuid(65534)
    try:
        assert access.opened(SlurmCommands(), None, None) is None
    finally:
        os.seteuid(0)
    assert access.opened(SlurmCommands(), None, None) is not None


def test_cancelling_by_rest(bench):
    running, array = (
        bench.shell("sleep 600"),
        bench.shell("true", passthrough=(LATER, "--array=0-2")),
    )
    bench.running(running)
    for job_id in (running, array):
        bench.scheduler.cancel(job_id)
        assert bench.ended(job_id).state is JobState.CANCELLED
