"""Which GPUs real runs get, on a machine with a stand-in nvidia-smi."""

from __future__ import annotations

import fcntl
import os
import socket
import time
from dataclasses import replace
from pathlib import Path

import pytest

from schedmate.config import LocalSettings
from schedmate.disk.lock import lock_holder
from schedmate.model import (
    BadInput,
    JobState,
    NotFound,
    Request,
    SchedMateError,
    SchedulerError,
)
from schedmate.model.account import account_name
from schedmate.schedulers.local import gpu_record
from schedmate.schedulers.local import inventory as inventory_module
from schedmate.schedulers.local.runner import _open_lock
from schedulers.gpu_box import GpuBox
from schedulers.local_site import LocalSite, wait_for

pytestmark = pytest.mark.processes

HOST = socket.gethostname()
SAY = 'echo "$SCHEDMATE_JOB_ID:${CUDA_VISIBLE_DEVICES-unset}" >> ran'
GATE = "; while [ ! -e go ]; do sleep 0.05; done"


@pytest.fixture
def box(tmp_path, monkeypatch):
    box = GpuBox(tmp_path / "box", count=3)
    monkeypatch.setenv("PATH", box.path)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    (tmp_path / "locks").mkdir()
    return box


@pytest.fixture
def site(box, tmp_path):
    settings = LocalSettings(lock_dir=str(tmp_path / "locks"), kill_wait_s=0.3, poll_s=0.02)
    site = LocalSite(tmp_path, settings, real=False)
    yield site
    site.leave()


def test_gpus_are_handed_out_without_overlap(site):
    two, one = site.shell(SAY + GATE, gpus=2), site.shell(SAY + GATE, gpus=1)
    site.until(lambda: len(site.lines()) == 2)
    none = site.shell(SAY, request=Request(no_gpus=True))
    site.ended(none)
    default = site.shell(SAY, request=Request())
    for _ in range(5):
        site.daemon.cycle(time.time())
    assert site.job(default).state is JobState.PENDING, "a GPU where nothing is said of any"
    (site.work / "go").touch()
    site.ended(default)

    assert set(site.lines()[:2]) == {f"{two}:0,1", f"{one}:2"}
    assert site.lines()[2] == f"{none}:", "no GPU is seen, and none is taken"
    assert site.job(two).nodes == (f"{HOST}:gpu0", f"{HOST}:gpu1")
    assert site.job(none).nodes == (HOST,)
    assert site.job(default).request.gpus == 1
    with pytest.raises(SchedulerError, match="asks for 4 GPUs, this machine hands out 3"):
        site.submit("true", gpus=4)
    with pytest.raises(SchedulerError, match=r"1 GPU of type l4, this machine hands out 0 \(N"):
        site.submit("true", request=Request(gpus=1, gpu_type="l4"))


@pytest.mark.parametrize("stated", [("none",), ("11",)])
def test_a_machine_whose_gpus_are_not_handed_out_hides_them(site, tmp_path, stated):
    """Whether that is meant or mistyped: a job must not find others' GPUs."""
    settings = replace(site.settings, gpus=stated)
    closed = LocalSite(tmp_path / "closed", settings, real=False)
    job = closed.shell(SAY, request=Request(no_gpus=True))
    closed.ended(job)
    assert closed.lines() == [f"{job}:"]
    for request in (Request(gpus=1), *([Request()] * (stated != ("none",)))):
        with pytest.raises(SchedMateError, match=r"hands out 0|local\.gpus names 11, which this"):
            closed.submit("true", request=request)
    closed.leave()


def test_a_gpu_that_is_not_there_cannot_be_named(site):
    for wanted in ({"required_nodes": (f"{HOST}:gpu33",)}, {"exclude_nodes": (f"{HOST}:gpu33",)}):
        with pytest.raises(
            NotFound, match=f"there is no GPU {HOST}:gpu33 here; there are: {HOST}:g"
        ):
            site.submit("true", request=Request(gpus=1, **wanted))


def test_the_callers_variable_is_a_bound(site, monkeypatch):
    bound = {**os.environ, "CUDA_VISIBLE_DEVICES": "2"}
    jobs = [site.shell(SAY, env=bound) for _ in range(2)]
    for job_id in jobs:
        site.ended(job_id)

    assert site.lines() == [f"{job_id}:2" for job_id in jobs]
    with pytest.raises(SchedulerError, match="asks for 2 GPUs, CUDA_VISIBLE_DEVICES allows 1"):
        site.shell(SAY, gpus=2, env=bound)
    hidden = {**bound, "CUDA_VISIBLE_DEVICES": ""}
    with pytest.raises(BadInput, match="shows none of this machine's"):
        site.shell(SAY, gpus=1, env=hidden)
    assert site.job(site.shell(SAY, request=Request(), env=hidden)).request.gpus == 0
    mistyped = {**bound, "CUDA_VISIBLE_DEVICES": "9"}
    with pytest.raises(BadInput, match="CUDA_VISIBLE_DEVICES=9 shows none of this machine's GPUs"):
        site.shell(SAY, request=Request(), env=mistyped)
    assert site.job(site.shell(SAY, request=Request(no_gpus=True), env=mistyped)).request.no_gpus
    within = site.shell(SAY, env={**bound, "SCHEDMATE_JOB_ID": "7"})
    assert site.job(within).request.exclude_nodes == (), "what a job of ours sees binds no other"


def test_a_job_is_queued_again_on_another_gpu(site):
    job_id = site.shell(f"{SAY}; exit 3")
    first = site.ended(job_id)
    assert site.scheduler.requeue(job_id, run=0, exclude_nodes=first.nodes)
    again = site.ended(job_id, restarts=1)

    assert first.nodes == (f"{HOST}:gpu0",)
    assert again.nodes == (f"{HOST}:gpu1",)
    assert again.request.exclude_nodes == first.nodes
    others = [f"{HOST}:gpu1", f"{HOST}:gpu2"]
    with pytest.raises(SchedulerError, match="needs 1 GPUs and would have 0 left without"):
        site.scheduler.requeue(job_id, run=1, exclude_nodes=others)
    states = {one.name: one for one in site.scheduler.nodes()}
    assert [site.scheduler.may_run_on(again, states[name]) for name in states] == [
        *(False, False, True, True)
    ]


def test_who_came_after_the_last_answer_is_seen_before_the_start(site, box, monkeypatch):
    monkeypatch.setattr(inventory_module, "_EVERY_S", 3600.0)
    monkeypatch.setattr(inventory_module, "_FRESH_S", 3600.0)
    monkeypatch.setattr(inventory_module, "_NEW_S", 0.0)
    site.ended(site.shell(SAY))  # all GPUs are known to be free
    box.show(busy={0: [os.getpid()]})
    job_id = site.shell(SAY)
    site.ended(job_id)

    assert site.lines()[1:] == [f"{job_id}:1"], "not beside them, and not at the cost of a restart"
    assert site.job(job_id).restarts == 0


@pytest.mark.parametrize("script", ["exec sleep 1000", "exit 9", "echo nonsense, 1"])
def test_a_tool_that_fails_before_a_start_holds_no_run_up(site, box, monkeypatch, script):
    monkeypatch.setattr(inventory_module, "_FRESH_S", 3600.0)
    monkeypatch.setattr(inventory_module, "_NEW_S", 0.0)
    site.ended(site.shell(SAY))
    box.fail(script)

    assert site.ended(site.shell(SAY)).state is JobState.COMPLETED


def test_a_run_holds_its_locks_until_it_has_ended(site, tmp_path, monkeypatch):
    job_id = site.shell(SAY + GATE, gpus=2)
    site.until(site.lines)
    locks = sorted((tmp_path / "locks").iterdir())
    assert len(locks) == 2
    assert all(path.stat().st_mode & 0o777 == 0o644 for path in locks), "for every account"
    assert not any(free(path) for path in locks)
    site.daemon.close()
    site.new_daemon()
    assert not any(free(path) for path in locks), "a daemon's death frees nothing"
    (site.work / "go").touch()
    site.ended(job_id)
    wait_for(lambda: all(free(path) for path in locks), "free locks")


def free(path: Path) -> bool:
    with path.open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def test_a_run_whose_gpu_another_account_was_given_waits_on(site, box, tmp_path, monkeypatch):
    """As if the other had locked it between our look and our lock."""
    monkeypatch.setattr(gpu_record, "read_holders", lambda _: {})
    monkeypatch.setattr(inventory_module, "_REFUSED_S", 0.5)
    box.show(count=1)
    lock = _open_lock(str(tmp_path / "locks" / f"schedmate-{box.uuid(0)}.lock"))
    fcntl.flock(lock, fcntl.LOCK_EX)
    job_id = site.shell(SAY)
    tries = set()

    def tried_twice():
        if (folder := site.attempt(job_id).folder).exists():
            tries.add(folder.stat().st_ino)
        return len(tries) > 1

    site.until(tried_twice, "a second try")
    job = site.until(lambda: site.job(job_id).state is JobState.PENDING and site.job(job_id))
    assert (job.restarts, job.start_time, site.lines()) == (0, None, [])
    assert "locked by another" in site.scheduler.obstacle(job).text
    site.scheduler.cancel(job_id)
    other = site.shell(SAY)
    os.close(lock)

    assert site.ended(other).state is JobState.COMPLETED
    assert site.ended(job_id).state is JobState.CANCELLED
    assert site.lines() == [f"{other}:0"]


@pytest.mark.parametrize("kind", ["link", "pipe", "directory"])
def test_what_is_no_lock_is_not_opened(tmp_path, kind):
    path, target = tmp_path / "lock", tmp_path / "target"
    if kind == "link":
        path.symlink_to(target)
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()

    with pytest.raises(OSError, match=r"symbolic links|no plain file"):
        _open_lock(str(path))
    assert not target.exists()


def test_gpus_of_others_are_waited_for_in_words(site, box):
    box.show(count=2, busy={0: [os.getpid()], 1: [os.getpid()]})
    job_id = site.shell(SAY)
    site.until(lambda: site.scheduler.obstacle(site.job(job_id)))

    found = site.scheduler.obstacle(site.job(job_id))
    words = found.text
    assert words == f"waits: 2 of 2 GPUs are used by others (pid {os.getpid()}, {account_name()})"
    assert site.lines() == []
    states = {one.name: one for one in site.scheduler.nodes()}
    assert states[f"{HOST}:gpu1"].state == "up, 97%"
    assert "used by others" in states[f"{HOST}:gpu1"].reason
    box.show(busy={1: [os.getpid()]})
    assert site.ended(job_id).nodes == (f"{HOST}:gpu0",)
    site.started(site.shell(SAY + GATE))
    another = site.shell(SAY)
    both = "waits: 1 of 2 GPUs is held by running jobs, 1 of 2 GPUs is used by others (pid "
    site.until(lambda: (site.scheduler.obstacle(site.job(another)) or found).text.startswith(both))
    (site.work / "go").touch()
    site.ended(another)


def test_who_uses_the_gpus_is_shown_though_no_daemon_has_looked(site, box, monkeypatch, tmp_path):
    monkeypatch.setattr("schedmate.schedulers.local.gpu_nodes._MEASURED_S", 0.0)

    def withheld():
        return [one.name[-1] for one in site.scheduler.nodes() if one.reason]

    box.show(busy={1: [os.getpid()]})
    assert withheld() == ["1"]
    box.show(busy={2: [os.getpid()]})
    assert withheld() == ["2"], "who has gone is forgotten"
    ours = site.shell(SAY + GATE)
    site.until(lambda: len(site.lines()) == 1)
    box.show(busy={0: [os.getpid()]}, memory={1: 50_000})
    assert withheld() == ["1"], "the first one is our own job's"
    [used] = [one.reason for one in site.scheduler.nodes() if one.name == f"{HOST}:gpu1"]
    assert used == "used by others (a process that is not listed)"
    (site.work / "go").touch()
    site.ended(ours)


def test_a_failing_gpu_is_left_out_until_it_is_released(site, box):
    box.show(ecc={0: 1})
    job_id = site.shell(SAY)
    assert site.ended(job_id).nodes == (f"{HOST}:gpu1",)
    bad = next(one for one in site.scheduler.nodes() if one.condition != "up")
    assert (bad.name, bad.condition) == (f"{HOST}:gpu0", "drain")
    assert bad.reason.startswith("ECC: 1 error")

    site.scheduler.resume(bad.name, bad.reason)
    assert site.ended(site.shell(SAY)).nodes == (f"{HOST}:gpu0",)
    with pytest.raises(SchedulerError, match="not left out"):
        site.scheduler.resume(bad.name, bad.reason)


def test_settings_are_read_again_when_their_file_changes(box, tmp_path, monkeypatch):
    file = tmp_path / "config.toml"
    file.write_text("")
    monkeypatch.setenv("SCHEDMATE_CONFIG", str(file))
    settings = LocalSettings(gpus=("0",), lock_dir=str(tmp_path / "locks"), poll_s=0.02)
    site = LocalSite(tmp_path, settings)
    job_id = site.shell("true")
    assert site.ended(job_id).nodes == (f"{HOST}:gpu0",)
    daemon = lock_holder(site.layout.lock)
    locks = tmp_path / "locks"
    file.write_text(f'[local]\ngpus = ["1:fast", "2"]\nlock_dir = "{locks}"\n')
    site.scheduler._settings = replace(settings, gpus=("1:fast", "2"))
    job_id = site.shell("true", request=Request(gpus=1, gpu_type="fast"))

    assert site.ended(job_id).nodes == (f"{HOST}:gpu1",)
    assert lock_holder(site.layout.lock) == daemon, "the same daemon"
    site.leave()
