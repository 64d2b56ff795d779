"""What only Slurm has, on the private cluster. The last tests stop the controller."""

import subprocess
import time

import pytest

from schedmate.model import JobState, Request, SchedulerError, SchedulerUnreachable
from schedmate.schedulers.slurm import SlurmScheduler
from schedmate.service.views.job_view import JobView
from schedmate.service.views.sentences import why_sentence
from schedmate.testing.slurm_config import GPU_TYPE

pytestmark = pytest.mark.slurm


@pytest.fixture
def two_partitions(slurm_cluster):
    """Both take jobs and start none."""
    for name in ("one", "two"):
        words = [f"PartitionName={name}", "Nodes=node0", "State=DOWN"]
        subprocess.run(["scontrol", "create", *words], check=True)
    yield
    for name in ("one", "two"):
        subprocess.run(["scontrol", "delete", f"PartitionName={name}"], check=True)


def test_a_job_waits_behind_those_of_its_partition_by_priority(two_partitions, bench):
    elsewhere = [bench.shell("true", passthrough=("--partition=two",)) for _ in range(2)]
    first, second = [bench.shell("true", passthrough=("--partition=one",)) for _ in range(2)]
    raised = 2 * bench.job(first).priority
    subprocess.run(["scontrol", "update", f"JobId={second}", f"Priority={raised}"], check=True)

    def why(job_id):
        view = JobView(job=bench.job(job_id), diagnoses={})
        return why_sentence(view, bench.scheduler.jobs(), time.time(), str)

    assert why(first).startswith(f"job {first} waits behind 0 running and 1 waiting jobs (")
    assert why(second).startswith(f"job {second} is next: no job runs or waits before it (")
    assert why(elsewhere[1]).startswith(f"job {elsewhere[1]} waits behind 0 running and 1 waiting")


def test_when_a_job_may_start_is_read(bench):
    job = bench.job(bench.shell("true", passthrough=("--begin=now+1hour",)))
    assert job.eligible_time == pytest.approx(job.submit_time + 3600, abs=5)


def test_an_array_is_its_tasks(bench):
    array = bench.shell("exit $SLURM_ARRAY_TASK_ID", passthrough=("--array=0-2",))
    bench.submitted.remove(array)
    tasks = [f"{array}_{number}" for number in range(3)]
    ends = [bench.ended(task) for task in tasks]
    assert {job.id for job in bench.scheduler.jobs([array])} == set(tasks)
    assert [job.exit_code for job in ends] == [0, 1, 2]
    assert all(bench.directory.joinpath(job.logs[0]).exists() for job in ends)
    assert bench.scheduler.script(tasks[1])
    bench.scheduler.cancel(array)


def test_what_gpus_a_job_had(bench):
    job = bench.ended(bench.shell("true", request=Request(gpus=1)))
    assert (job.request.gpus, job.request.gpu_type) == (1, GPU_TYPE)
    assert bench.scheduler.gpu_use(job) is None  # nothing measures here


def test_log_patterns_lead_to_real_files(bench):
    job_id = bench.shell("echo here", name="a b", stdout="%x-%6j-%%-%u.log")
    (log,) = bench.ended(job_id).logs
    assert log == str(bench.directory / f"a b-{int(job_id):06}-%-root.log")
    assert bench.lines(log) == ["here"]


def test_every_pattern_of_a_file_name_is_filled_in_as_slurm_does(bench):
    """%N is left out: all nodes of the private cluster are one host."""
    pattern = "%A_%a_%j_%x_%u_%n_%s_%t_%J_%%_%4j_%04a_%12j_%9x_%3s_%b_%q.log"
    single = bench.shell("echo one", name="12", stdout=pattern)
    array = bench.shell("echo two", stdout=pattern, passthrough=("--array=3,12",))
    bench.submitted.remove(array)
    tasks = [f"{array}_3", f"{array}_12"]
    for job_id, words in [(single, "one"), *((task, "two") for task in tasks)]:
        (log,) = bench.ended(job_id).logs
        assert bench.lines(log) == [words]


def test_the_users_settings_do_not_change_what_is_seen(bench, monkeypatch):
    monkeypatch.setenv("SQUEUE_FORMAT", "%i")
    monkeypatch.setenv("SQUEUE_USERS", "nobody")
    monkeypatch.setenv("SLURM_TIME_FORMAT", "relative")
    job_id = bench.shell("true")
    assert bench.ended(job_id).submit_time > 1e9


def test_a_name_cannot_forge_a_job(bench):
    forged = "x\x1f\n999\x1f999\x1f999\x1fN/A\x1fFAILED\x1f"
    job_id = bench.shell("true", name=forged)
    assert {job.id for job in bench.scheduler.jobs()} >= {job_id}
    assert bench.scheduler.jobs(["999", "998"]) == []


def test_the_next_run_does_not_run_while_the_last_one_is_being_stopped(bench):
    job_id = bench.shell("trap '' TERM; echo run >> runs; sleep 600 & wait; sleep 600")
    bench.wait_for_lines("runs", 1)
    bench.running(job_id)
    subprocess.run(["scontrol", "requeue", job_id], check=True)
    seen = [bench.job(job_id) for _ in range(5)]
    assert {(job.state, job.restarts) for job in seen} == {(JobState.PENDING, 1)}


def test_excluded_nodes_add_up(bench, slurm_cluster):
    job_id = bench.shell("exit 3")
    (first,) = bench.ended(job_id).nodes
    bench.requeue(job_id, exclude_nodes=[first])
    (second,) = bench.ended(job_id, restarts=1).nodes
    bench.requeue(job_id, exclude_nodes=[first, second], delay_s=3600)
    said = subprocess.check_output(["squeue", "-h", "-j", job_id, "-o", "%x"], text=True)
    assert said.strip() == "node[0-1]"


def test_a_node_that_was_taken_out_says_why(bench):
    reason = "Xid 79: GPU has fallen off | State=IDLE"
    update = ["scontrol", "update", "NodeName=node1"]
    subprocess.run([*update, "State=DRAIN", f"Reason={reason}"], check=True)
    try:
        (node,) = bench.scheduler.nodes(["node1"])
    finally:
        subprocess.run([*update, "State=RESUME"], check=True)
    assert (node.condition, node.reason) == ("drain", reason)
    assert abs(node.since - time.time()) < 30
    (node,) = bench.scheduler.nodes(["node1"])
    assert node.reason == ""


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"request": Request(partition="nowhere")}, "nowhere"),
        ({"request": Request(gpus=100)}, "not available"),
        ({"passthrough": ("--no-such-flag",)}, "--no-such-flag"),
        ({"script": "gone.sh"}, "gone.sh"),
    ],
)
def test_refusals_are_told_in_slurms_words(bench, parts, words):
    with pytest.raises(SchedulerError, match=words):
        bench.submit("gone.sh", **parts)
    assert bench.submitted == []


def test_a_text_that_is_no_script(bench):
    (bench.directory / "x.sh").write_text("echo no interpreter\n")
    with pytest.raises(SchedulerError, match="does not look like a batch script"):
        bench.submit("x.sh", script="x.sh")


def test_what_has_ended_or_waits_can_not_be_changed_at_will(bench):
    ended = bench.shell("true")
    bench.ended(ended)
    with pytest.raises(SchedulerError):
        bench.scheduler.set_time_limit(ended, 60)
    waiting = bench.shell("true", passthrough=("--hold",))
    with pytest.raises(SchedulerError, match="pending"):
        bench.requeue(waiting)


def test_a_controller_that_is_down_is_unreachable(bench, slurm_cluster, tmp_path, monkeypatch):
    text = slurm_cluster.config.read_text().replace("MessageTimeout=10", "MessageTimeout=1")
    port = next(line for line in text.splitlines() if line.startswith("SlurmctldPort"))
    impatient = tmp_path / "slurm.conf"
    impatient.write_text(text.replace(port, "SlurmctldPort=1"))
    monkeypatch.setenv("SLURM_CONF", str(impatient))
    scheduler = SlurmScheduler(timeout_s=5)
    calls = [scheduler.jobs, lambda: scheduler.cancel("1"), lambda: scheduler.set_nice("1", 2)]
    calls += [
        scheduler.nodes,
        lambda: scheduler.script("1"),
        lambda: scheduler.requeue("1", run=0),
        lambda: bench.shell(""),
    ]
    for call in calls:
        with pytest.raises(SchedulerUnreachable):
            call()


def test_accounting_remembers_what_the_controller_forgot(bench, slurm_cluster):
    again = bench.shell("exit 4")
    bench.ended(again)
    bench.requeue(again)
    killed = bench.shell("kill -9 $$")
    before = {job_id: bench.ended(job_id, restarts=r) for job_id, r in ((again, 1), (killed, 0))}
    wait_for_accounting(before)

    slurm_cluster.stop_daemon("slurmctld")
    slurm_cluster.start_controller(forgetful=True)

    after = {job.id: job for job in bench.scheduler.jobs([again, killed])}
    assert set(after) == set(before)
    for job_id, job in after.items():
        for part in ("name", "state", "exit_code", "signal", "restarts", "request", "nodes"):
            assert getattr(job, part) == getattr(before[job_id], part), part
    assert {again, killed} <= {job.id for job in bench.scheduler.jobs()}
    assert after[again].state is JobState.FAILED
    bench.scheduler.cancel(again)


def wait_for_accounting(ended):
    """The controller tells accounting a little later, and forgets what it has not told."""
    question = ["sacct", "-n", "-X", "-P", "-j", ",".join(ended), "-o", "JobName,State"]
    deadline = time.monotonic() + 60
    while subprocess.check_output(question, text=True).split() != ["bench|FAILED"] * len(ended):
        assert time.monotonic() < deadline
        time.sleep(0.2)
