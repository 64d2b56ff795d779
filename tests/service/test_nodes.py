"""What is known of the nodes, and what the daemon makes of it."""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from schedmate.cli import root
from schedmate.core import NodeChoice
from schedmate.handler import Handler
from schedmate.handler.suspects import Suspicion
from schedmate.model import JobState, NodeState, PastRun, Request, SchedulerUnreachable
from schedmate.model.account import account_name
from schedmate.service.records.nodes import NodeKnowledge, NodeView
from schedmate.service.views.node_answers import drain_command
from schedmate.service.visibility import Viewer
from schedmate.testing.builders import a_diagnosis, a_job
from schedmate.testing.scheduler import FakeScheduler
from service.dying import daemon_of, look

NOW = 5000.0


@pytest.fixture
def scheduler():
    scheduler = FakeScheduler()
    for number in range(6):
        name = f"n{number}"
        scheduler.node_states[name] = NodeState(name=name, condition="up", partitions=("gpu",))
    return scheduler


def fail(store, job_id, user, node, *, reason="gpu_ecc", at=NOW, by="scheduler"):
    job = a_job(
        id=job_id,
        user=user,
        state=JobState.FAILED,
        nodes=(node,),
        request=Request(gpus=8),
        start_time=at - 600,
        end_time=at,
    )
    store.keep_run(PastRun(job=job))
    store.keep_diagnosis(job_id, 0, a_diagnosis(reason, reported_by=by))


def a_failed_job(**parts):
    values = {"nodes": ("n1", "n2", "n3"), "end_time": NOW, "start_time": NOW - 600, **parts}
    return a_job(**{"state": JobState.FAILED, **values})


def test_nodes_on_which_others_failed_are_suspect(scheduler, store):
    for number, user in enumerate(["ada", "bob", "eve"]):
        fail(store, str(number), user, "n2")
    nodes = NodeKnowledge(scheduler, store)

    (suspect,) = nodes.suspects_among(("n1", "n2"), NOW)

    assert (suspect.node, suspect.failures, suspect.users) == ("n2", 3, 3)
    assert next(view.name for view in nodes.views(NOW)) == "n2"
    assert len(nodes.views(NOW)) == 6


def test_states_are_asked_for_once_in_a_while_and_only_of_runs_that_ended_just_now(
    scheduler, store, monkeypatch
):
    asked = []
    whole = FakeScheduler.nodes
    monkeypatch.setattr(FakeScheduler, "nodes", lambda self: asked.append(1) or whole(self))
    nodes = NodeKnowledge(scheduler, store)

    assert [node.name for node in nodes.states_of(a_failed_job(), NOW)] == ["n1", "n2", "n3"]
    assert nodes.states_of(a_failed_job(), NOW + 30)
    assert nodes.states_of(a_failed_job(end_time=NOW - 2000), NOW) == ()
    assert len(asked) == 1
    assert nodes.states_of(a_failed_job(), NOW + 61)
    assert len(asked) == 2


def test_a_scheduler_that_does_not_say_changes_nothing(scheduler, store):
    scheduler.trouble = SchedulerUnreachable("away")
    nodes = NodeKnowledge(scheduler, store)

    assert nodes.states_of(a_failed_job(), NOW) == ()
    assert nodes.choice_for(a_failed_job(), NOW) == NodeChoice(frozenset(), 1)


def test_only_nodes_of_its_partition_that_are_up_can_run_it_again(scheduler, store):
    scheduler.node_states["n0"] = NodeState(name="n0", condition="down", partitions=("gpu",))
    scheduler.node_states["n1"] = NodeState(name="n1", condition="up", partitions=("cpu",))
    job = a_failed_job(request=Request(nodes=3, partition="gpu"))

    choice = NodeKnowledge(scheduler, store).choice_for(job, NOW)

    assert choice == NodeChoice(frozenset({"n2", "n3", "n4", "n5"}), 3, picky=True)


def diagnosed_by_a_daemon(scheduler, store, tmp_path, text="", **parts):
    log = tmp_path / "log"
    log.write_text(text)
    job = a_failed_job(workdir=str(tmp_path), logs=(str(log),), signal=9, **parts)
    scheduler.put(job)
    look(scheduler, store, NOW + 1, handler=Handler(store))
    return store.diagnoses("1")[0], [
        one.action for one in store.actions(job_id="1") if one.action.kind == "requeue"
    ]


def test_a_run_that_was_killed_on_a_node_that_is_down_goes_elsewhere(scheduler, store, tmp_path):
    scheduler.node_states["n2"] = NodeState(name="n2", condition="down", reason="Not responding")

    diagnosis, (action,) = diagnosed_by_a_daemon(scheduler, store, tmp_path)

    assert (diagnosis.reason, diagnosis.decision.retry) == ("node_failure", "elsewhere")
    assert action.exclude_nodes == ("n2",)


def test_an_error_of_the_user_is_not_blamed_on_a_node_that_is_down(scheduler, store, tmp_path):
    scheduler.node_states["n2"] = NodeState(name="n2", condition="down", reason="Not responding")

    diagnosis, actions = diagnosed_by_a_daemon(
        scheduler, store, tmp_path, "Traceback (most recent call last):\nKeyError: 'missing'\n"
    )

    assert (diagnosis.reason, diagnosis.decision.retry, actions) == ("key_error", "no", [])


def test_where_nothing_says_which_node_it_was_the_suspect_is_avoided(scheduler, store, tmp_path):
    for number, user in enumerate(["bob", "eve", "joe"], start=7):
        fail(store, str(number), user, "n3")
    text = "RuntimeError: NCCL communicator was aborted on rank 3: remote process exited\n"

    diagnosis, (action,) = diagnosed_by_a_daemon(scheduler, store, tmp_path, text)

    assert diagnosis.decision.retry == "elsewhere"
    assert action.exclude_nodes == ("n3",)


XID = "NVRM: Xid (PCI:0000:3b:00): 79, pid=812, GPU has fallen off the bus. n3\n"


@pytest.mark.processes
@pytest.mark.parametrize("ids", ["{}", "500_{}"], ids=["jobs", "array"])
def test_one_users_many_lying_logs_take_no_node_from_others(scheduler, store, tmp_path, ids):
    log = tmp_path / "lies"
    log.write_text(XID)
    for number in range(40):
        job = a_failed_job(
            id=ids.format(500 + number),
            name=f"job{number}",
            user=account_name(),
            nodes=("n3",),
            workdir=str(tmp_path),
            logs=(str(log),),
            exit_code=1,
        )
        scheduler.put(job)
    worked = a_job(state=JobState.COMPLETED, id="400", nodes=("n0",), end_time=NOW)
    store.keep_run(PastRun(job=replace(worked, start_time=NOW - 6000)))
    look(scheduler, store, NOW + 1, handler=Handler(store))
    text = "RuntimeError: NCCL communicator was aborted on rank 3: remote process exited\n"

    with tempfile.TemporaryDirectory() as other:
        Path(other).chmod(0o755)
        diagnosis, (action,) = diagnosed_by_a_daemon(
            scheduler, store, Path(other), text, user="nobody"
        )

    assert store.diagnoses(ids.format(500))[0].reason == "gpu_lost"
    assert (diagnosis.decision.retry, action.exclude_nodes) == ("elsewhere", ())
    nodes = NodeKnowledge(scheduler, store)
    assert nodes.suspects_among(("n3",), NOW + 2) == ()
    (told,) = (one.suspicion for one in nodes.views(NOW + 2) if one.name == "n3")
    assert (told.failures, told.users) == (41, 2), "they are reported all the same"
    assert 0.01 < told.probability < 0.5


def test_a_log_cannot_turn_a_lost_node_against_another(scheduler, store, tmp_path):
    """The scheduler reports the loss, the job's log a name: the name counts for its own retry."""
    diagnosis, _ = diagnosed_by_a_daemon(
        scheduler, store, tmp_path, "srun: error: Node failure on n2\n", state=JobState.NODE_FAIL
    )
    assert (diagnosis.blame.nodes, diagnosis.blame.nodes_by) == (("n2",), "job")
    (run,) = store.node_runs(since=0.0)
    assert (run.reported_by, run.blamed) == ("scheduler", ())


def test_the_verb_lists_nodes_and_their_evidence(place, monkeypatch):
    settings = place.settings
    monkeypatch.setattr("schedmate.config.load", lambda: settings)
    with place.store() as store:
        for number, user in enumerate(["ada", "bob"], start=500):
            fail(store, str(number), user, "gpu041", at=time.time() - 60)

    shown = CliRunner().invoke(root, ["nodes"]).output
    told = json.loads(CliRunner().invoke(root, ["nodes", "--suspect", "--json"]).output)

    assert "gpu041" in shown.splitlines()[1]
    assert "gpu_ecc of bob, job 501, today" in shown
    assert told["schema"] == "schedmate.nodes/1"
    (node,) = told["nodes"]
    assert (node["name"], node["suspect"], node["failures"]) == ("gpu041", True, 2)
    assert node["command"] is None, "the local scheduler cannot drain"


@pytest.mark.parametrize(
    ("scheduler", "condition", "probability", "there"),
    [
        ("slurm", "up", 0.9, True),
        ("slurm", "drain", 0.9, False),
        ("slurm", "up", 0.3, False),
        ("local", "up", 0.9, False),
    ],
)
def test_what_an_operator_would_run_is_told(scheduler, condition, probability, there):
    view = NodeView(
        state=NodeState(name="n 1;x", condition=condition),
        suspicion=Suspicion(node="n 1;x", probability=probability, failures=3, users=2),
    )
    command = (
        "scontrol update 'NodeName=n 1;x' State=DRAIN "
        "Reason='suspect: 3 hardware-like failures of 2 users'"
    )
    assert drain_command(view, scheduler) == (command if there else None)


def test_another_user_gets_numbers_without_what_the_jobs_died_of(place, monkeypatch):
    settings = place.settings
    monkeypatch.setattr("schedmate.config.load", lambda: settings)
    monkeypatch.setattr(
        "schedmate.service.visibility.viewer_of", lambda _: Viewer(user="eve", operator=False)
    )
    with place.store() as store:
        for number, user in enumerate(["ada", "bob", "cyd", "ada"], start=500):
            fail(store, str(number), user, "gpu041", at=time.time() - 60)

        fail(store, "600", "ada", "gpu042", at=time.time() - 60)
        fail(store, "700", "eve", "gpu043", at=time.time() - 60)

    rows = {
        line.split()[0]: line
        for line in CliRunner().invoke(root, ["nodes"]).output.split("\n")
        if line
    }

    assert rows["gpu041"].split()[2:5] == ["4", "0", "3"]
    assert rows["gpu042"].split()[2:5] == ["0", "0", "0"], "it would be about ada's job"
    assert "gpu_ecc of eve, job 700, today" in rows["gpu043"]
    assert "gpu_ecc" not in rows["gpu041"] + rows["gpu042"]
    assert "scontrol" not in " ".join(rows.values())


@pytest.mark.parametrize("restarted_daemon", [True, False])
@pytest.mark.parametrize(("condition", "lost"), [("down", JobState.NODE_FAIL), ("up", None)])
def test_a_run_that_was_lost_with_its_node_is_known_by_polls_alone(
    scheduler, store, condition, lost, restarted_daemon
):
    """Where there is no accounting, the controller only counts that it was queued again."""
    running = a_job(state=JobState.RUNNING, nodes=("n1",), start_time=NOW)
    again = replace(running, state=JobState.PENDING, restarts=1, submit_time=NOW + 60)
    again = replace(again, start_time=None, nodes=())
    with daemon_of(scheduler, store) as daemon:
        scheduler.put(running)
        daemon.cycle(NOW + 30)
        if not restarted_daemon:
            scheduler.put(again)
            scheduler.node_states["n1"] = NodeState(name="n1", condition=condition)
            daemon.cycle(NOW + 62)
    scheduler.put(again)
    scheduler.node_states["n1"] = NodeState(name="n1", condition=condition)
    look(scheduler, store, NOW + 64)
    run = store.run("1", 0)
    assert (None if run is None else run.job.state) == lost
    against = [one for one in store.node_runs(since=NOW) if one.nodes == ("n1",)]
    assert len(against) == (lost is not None)
    if run is not None:
        assert (run.job.end_time, run.job.nodes) == (NOW + 60, ("n1",))
