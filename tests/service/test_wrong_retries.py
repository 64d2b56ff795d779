"""Runs that must not be repeated, whatever ended them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schedmate.cli.job import job_lines
from schedmate.core import DecisionLimits
from schedmate.model import JobState, Request
from schedmate.service.views.job_view import job_view
from schedmate.service.visibility import Viewer
from schedmate.testing.builders import a_job
from schedmate.testing.scheduler import FakeScheduler
from service.dying import daemon_of, look

NCCL = (
    "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1970, remote process "
    "exited or there was a network error, NCCL version 2.19.3\n"
)
RESUMING = """
import os, torch
model = torch.nn.Linear(1, 1)
start = 0
if os.path.exists("last.pt"):
    state = torch.load("last.pt")
    model.load_state_dict(state["model"])
    start = state["epoch"] + 1
for epoch in range(start, 100):
    torch.save({"model": model.state_dict(), "epoch": epoch}, "last.pt")
"""


def decided(store):
    """The last decision about the failure of job 1: what, and why."""
    [*_, last] = [one.action for one in store.actions(job_id="1") if one.action.failure]
    return last.kind, last.why


def runs(tmp_path, **parts):
    (tmp_path / "log").touch()
    job = a_job(state=JobState.RUNNING, workdir=str(tmp_path), logs=(str(tmp_path / "log"),))
    return replace(job, start_time=100.0, request=Request(time_limit_s=3600.0), **parts)


EPOCHS = [f"epoch {number + 1}/10 loss 1.{number}\n" for number in range(10)]
BAR = [f"\r{n:3}%|{'#' * (n // 10):<10}| {n}/100 [00:04<00:00, 9.1it/s]" for n in range(0, 101, 10)]


@pytest.mark.parametrize("seen_running", [True, False])
@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        (EPOCHS, "leave"),
        (EPOCHS[:9], "requeue"),
        ([*BAR, "\n"], "leave"),
        ([*BAR[:9], "\n"], "requeue"),
        (["stage 1 of 2\n", *BAR, "\n"], "requeue"),
    ],
    ids=["epochs", "not all epochs", "bar", "not all of a bar", "one of two stages"],
)
def test_finished_work_is_not_run_again(store, tmp_path, lines, kind, seen_running):
    scheduler, job = FakeScheduler(), runs(tmp_path)
    scheduler.put(job)
    if seen_running:
        look(scheduler, store, 150.0)
    (tmp_path / "log").write_text("".join(lines) + NCCL)
    scheduler.put(replace(job, state=JobState.FAILED, exit_code=1, end_time=200.0))
    look(scheduler, store, 201.0)
    assert decided(store)[0] == kind, decided(store)[1]
    assert ("requeue", "1") not in scheduler.calls or kind == "requeue"


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        (RESUMING, "requeue", "go on from the last checkpoint"),
        ("for step in range(100): pass\n", "leave", "resume"),
        (None, "leave", "resume"),
    ],
)
def test_the_code_of_a_job_that_met_its_limit_is_read_before_deciding(
    store, tmp_path, code, kind, words
):
    """The job had ended when it was first seen."""
    scheduler, script = FakeScheduler(), tmp_path / "job.sh"
    if code is not None:
        (tmp_path / "train.py").write_text(code)
        script.write_text("#!/bin/sh\npython train.py\n")
        scheduler.scripts["1"] = script.read_text()
    job = runs(tmp_path, command=(str(script),), script=str(script))
    scheduler.put(replace(job, state=JobState.TIMEOUT, end_time=3700.0))
    look(scheduler, store, 3701.0)
    assert decided(store)[0] == kind
    assert words in decided(store)[1]


ECC = "RuntimeError: CUDA error: uncorrectable ECC error encountered\n"


@pytest.mark.parametrize(
    ("beside", "script", "kind"),
    [
        ({"dependency": "afternotok:1(unfulfilled)", "workdir": "/else"}, "python a.py", "leave"),
        ({"dependency": "afterok:1(failed)", "workdir": "/else"}, "python a.py", "requeue"),
        ({"submit_time": 199.0}, "python a.py", "leave"),
        ({"submit_time": 50.0}, "python a.py", "requeue"),
        ({"submit_time": 50.0}, "python a.py || sbatch a.sh", "leave"),
    ],
)
def test_all_jobs_are_seen_before_a_failure_is_decided_upon(store, tmp_path, beside, script, kind):
    """One that waits is listed after one that has ended."""
    scheduler, job = FakeScheduler(), runs(tmp_path)
    (tmp_path / "log").write_text(ECC)
    scheduler.scripts["1"] = f"#!/bin/sh\n{script}\n"
    scheduler.put(replace(job, state=JobState.FAILED, exit_code=1, end_time=200.0))
    scheduler.put(a_job(**{"id": "2", "workdir": str(tmp_path), **beside}))
    look(scheduler, store, 201.0)
    assert decided(store)[0] == kind, decided(store)[1]


class Remembering(FakeScheduler):
    """Knows how jobs were submitted."""

    lines = {"2": "sbatch -d afterany:1 a.sh", "3": "sbatch -d afterany:9 a.sh"}  # noqa: RUF012

    def submit_lines(self, ids):
        return {one: self.lines[one] for one in ids if one in self.lines}


@pytest.mark.parametrize(("other", "kind"), [("2", "leave"), ("3", "requeue"), ("4", "leave")])
def test_a_dependant_that_was_never_seen_to_wait(store, tmp_path, other, kind):
    """Between two looks the run ended, and what waited for it began; of `4` nothing is known."""
    scheduler, job = Remembering(), runs(tmp_path)
    (tmp_path / "log").write_text(ECC)
    scheduler.put(replace(job, state=JobState.FAILED, exit_code=1, end_time=200.0))
    freed = a_job(id=other, state=JobState.RUNNING, submit_time=90.0, freed_time=201.0)
    scheduler.put(replace(freed, start_time=202.0, workdir="/else"))
    look(scheduler, store, 203.0)
    assert decided(store)[0] == kind, decided(store)[1]


def test_what_a_run_wrote_last_outlives_its_retry(store, tmp_path):
    """Slurm overwrites the log of a job that is queued again, unless it is told not to."""
    scheduler, job, log = FakeScheduler(), runs(tmp_path), tmp_path / "log"
    lines = [f"step {number}/1000 loss 2.5\n" for number in range(100)]
    log.write_text("".join(lines) + "password=hunter2 host=db\n" + ECC + "rank 0 gives up\n")
    scheduler.put(replace(job, state=JobState.FAILED, exit_code=1, end_time=200.0))
    look(scheduler, store, 201.0)
    assert ("requeue", "1") in scheduler.calls
    log.write_text("step 1/1000 loss 9.5\n")
    scheduler.put(replace(scheduler.known["1"], state=JobState.RUNNING, start_time=300.0))
    look(scheduler, store, 301.0)

    view = job_view(scheduler, store, Viewer(user=job.user, operator=False), "1")
    shown = "\n".join(job_lines(view))
    assert "uncorrectable ECC error" in shown
    assert "step 99/1000" in shown
    assert "rank 0 gives up" in shown
    assert "hunter2" not in shown
    assert "step 10/1000" not in shown, "its end is bounded"
    others = job_view(scheduler, store, Viewer(user="bob", operator=False), "1")
    assert "step 99/1000" not in "\n".join(job_lines(others))


def test_nothing_is_kept_of_what_is_not_queued_again(store, tmp_path):
    scheduler, job = FakeScheduler(), runs(tmp_path)
    (tmp_path / "log").write_text("ImportError: no module named x\n")
    scheduler.put(replace(job, state=JobState.FAILED, exit_code=1, end_time=200.0))
    look(scheduler, store, 201.0)
    assert store.diagnoses("1")[0].last_lines == ()


def test_a_dependant_is_repaired_exactly_once_whichever_daemon_looks(store, tmp_path):
    scheduler, job = FakeScheduler(), runs(tmp_path)
    (tmp_path / "log").write_text(ECC)
    scheduler.put(replace(job, state=JobState.FAILED, exit_code=1, end_time=200.0))
    waits = a_job(id="2", workdir="/else", dependency="afterok:1(failed)", submit_time=50.0)
    scheduler.put(waits)
    look(scheduler, store, 201.0, looks=2)
    again = scheduler.known["1"]
    scheduler.put(replace(again, state=JobState.COMPLETED, start_time=300.0, end_time=310.0))
    for at in (311.0, 320.0, 330.0):
        look(scheduler, store, at, looks=2)
    assert [one for one in scheduler.calls if one[1] == "2" and one[0] == "set_dependency"] == [
        ("set_dependency", "2", "afterok:1")
    ]
    [record] = [one for one in store.actions(job_id="2") if one.action.kind == "set_dependency"]
    assert record.state == "done"


RESUBMITS = 'import subprocess\nsubprocess.run(["sbatch", "/x/again.sh"], cwd="/")\n'


@pytest.mark.parametrize(
    ("code", "beside", "kind"),
    [
        (RESUBMITS, {}, "leave"),
        ("import subprocess\n", {}, "requeue"),
        ("", {"script": "#!/bin/sh\n#SBATCH -J x\npython a.py\n"}, "leave"),
        ("", {"script": "#!/bin/sh\nsleep 9\n"}, "requeue"),
    ],
    ids=["code submits", "code", "a copy", "another script"],
)
def test_who_goes_on_elsewhere_is_known_by_code_and_scripts(store, tmp_path, code, beside, kind):
    scheduler, job = FakeScheduler(), runs(tmp_path, command=("/x/a.sh",))
    (tmp_path / "log").write_text(ECC)
    (tmp_path / "a.py").write_text(code)
    scheduler.scripts["1"] = "#!/bin/sh\npython a.py\n"
    scheduler.put(replace(job, state=JobState.FAILED, exit_code=1, end_time=200.0))
    if beside:
        scheduler.scripts["2"] = beside["script"]
        scheduler.put(a_job(id="2", name="x", workdir="/else", submit_time=201.0, command=("y",)))
    look(scheduler, store, 202.0)
    assert decided(store)[0] == kind, decided(store)[1]


def test_what_is_submitted_again_before_a_retry_is_decided_goes_first(store, tmp_path):
    """Also where another daemon began to wait."""
    scheduler, job, limits = FakeScheduler(), runs(tmp_path), DecisionLimits(settle_s=60.0)
    (tmp_path / "log").write_text(ECC)
    scheduler.scripts["1"] = scheduler.scripts["3"] = "#!/bin/sh\npython a.py\n"
    failed = replace(job, state=JobState.FAILED, exit_code=1, end_time=200.0)
    scheduler.put(failed)
    (tmp_path / "log of 2").write_text(ECC)
    logs = (str(tmp_path / "log of 2"),)
    scheduler.put(replace(failed, id="2", name="other", workdir=f"{tmp_path}/else", logs=logs))
    look(scheduler, store, 201.0, limits=limits)
    assert not [one for one in scheduler.calls if one[0] == "requeue"]
    with daemon_of(scheduler, store, limits=limits) as daemon:
        daemon.cycle(230.0)
        scheduler.put(a_job(id="3", workdir=str(tmp_path), submit_time=231.0))
        daemon.cycle(259.0)
        assert not [one for one in scheduler.calls if one[0] == "requeue"]
        daemon.cycle(261.0)
    assert decided(store)[0] == "leave"
    assert [one for one in scheduler.calls if one[0] == "requeue"] == [("requeue", "2")]


@pytest.mark.parametrize(
    ("neighbour", "script", "kind"),
    [
        ("cd /third && sbatch next.sh", "/third/next.sh", "requeue"),
        ("cd /third && sbatch --wrap 'sleep 9'", None, "requeue"),
        ("sbatch --wrap 'sleep 9'", None, "leave"),
        ("sbatch next.sh", "/third/next.sh", "leave"),
        ("cd /third && sbatch other.sh", "/third/next.sh", "leave"),
        ("python b.py", "/third/next.sh", "leave"),
        ("", "/third/next.sh", "leave"),
    ],
)
def test_a_child_of_one_of_two_runs_on_a_node(store, tmp_path, neighbour, script, kind):
    """It is the doing of the one that shows how it submits it, else perhaps of each."""
    place = {"nodes": ("n1",), "submit_host": "login"}
    scheduler, job = FakeScheduler(), runs(tmp_path, **place)
    (tmp_path / "log").write_text(ECC)
    scheduler.scripts["1"] = "#!/bin/sh\npython a.py\n"
    scheduler.put(replace(job, state=JobState.FAILED, exit_code=1, end_time=200.0))
    if neighbour:
        scheduler.scripts["2"] = f"#!/bin/sh\n{neighbour}\n"
        other = {"id": "2", "workdir": "/else", "submit_time": 90.0, "start_time": 95.0}
        scheduler.put(a_job(state=JobState.RUNNING, **{**place, **other}))
    child = {"id": "3", "submit_time": 150.0, "submit_host": "n1", "submit_session": 7}
    scheduler.scripts["3"] = "#!/bin/sh\nsleep 9\n"
    scheduler.put(a_job(name="x", workdir="/third", script=script, **child))
    look(scheduler, store, 201.0)
    assert decided(store)[0] == kind, decided(store)[1]


def test_what_ended_before_our_time_is_not_compared_with_others(store, tmp_path, monkeypatch):
    """Each script costs the scheduler a request, and a site has thousands of failed jobs."""
    place = {"nodes": ("n1",), "submit_host": "login"}
    scheduler, asked = FakeScheduler(), []
    (tmp_path / "log").write_text(ECC)
    failed = replace(runs(tmp_path, **place), state=JobState.FAILED, exit_code=1, end_time=200.0)
    scheduler.put(replace(failed, logs=(str(tmp_path / "log"),)))
    child = {"submit_host": "n1", "submit_session": 7, "nodes": ("n1",)}
    for number in range(2, 30):
        parts = {"id": str(number), "submit_time": 150.0, "start_time": 151.0, "end_time": 190.0}
        scheduler.put(a_job(state=JobState.COMPLETED, workdir="/else", **parts, **child))
    monkeypatch.setattr(FakeScheduler, "script", lambda _, job_id: asked.append(job_id))
    look(scheduler, store, 201.0, limits=DecisionLimits(act_since=300.0))
    before = len(asked)
    look(scheduler, store, 202.0, limits=DecisionLimits(act_since=0.0))

    assert (before, bool(asked)) == (0, True)


def test_failures_that_come_together_ask_for_each_script_once(store, tmp_path, monkeypatch):
    scheduler, asked = FakeScheduler(), []
    for number in range(1, 21):
        place = tmp_path / str(number)
        place.mkdir()
        log = place / "log"
        log.write_text(ECC)
        job = a_job(id=str(number), name=f"job{number}", workdir=str(place), logs=(str(log),))
        times = {"submit_time": 150.0 + number / 10, "start_time": 150.0, "end_time": 156.0}
        scheduler.put(replace(job, state=JobState.FAILED, exit_code=1, **times))
    monkeypatch.setattr(FakeScheduler, "script", lambda _, job_id: asked.append(job_id))
    with daemon_of(scheduler, store) as daemon:
        daemon.cycle(221.0)
        read = {one: asked.count(one) for one in asked}

    assert len(read) == 20
    assert sum(read.values()) <= 3 * 20, "its code, what it submits, and once to compare it"
