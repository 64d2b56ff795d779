"""What a run may take of the machine: memory and cores, and what becomes of its logs."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from schedmate.config import LocalSettings
from schedmate.handler.rules import RULES
from schedmate.handler.rules.rule_set import RuleSet
from schedmate.model import JobState, Request
from schedmate.schedulers.local import memory_bound
from schedmate.schedulers.local.attempt import RunFiles, RunSpec
from schedmate.schedulers.local.devices import choose, make_slots
from schedmate.schedulers.local.entry import QueueEntry
from schedmate.schedulers.local.memory_bound import MemoryBound, delegated_cgroup
from schedmate.schedulers.local.plan import Machine, plan
from tests.schedulers.local_site import LocalSite, wait_for

EATS = "import time; taken = bytearray(300 << 20); print('ate', flush=True); time.sleep({seconds})"
FORKS = """
import os, time
shared = bytearray(b'x') * (80 << 20)
for _ in range(3):
    if os.fork() == 0:
        sum(shared[::4096])
        time.sleep(1.5)
        os._exit(0)
for _ in range(3):
    os.wait()
"""


def run(folder, *command, **parts):
    files = RunFiles(folder / "attempt-0")
    log = str(folder / "log")
    spec = RunSpec(
        command=command, workdir=str(folder), env=dict(os.environ), stdout=log, stderr=log, **parts
    )
    process = files.start(spec)
    end = wait_for(files.end, "its end")
    process.wait()
    return end


@pytest.mark.processes
class TestRuns:
    def test_what_takes_more_memory_than_it_asked_for_is_ended(self, tmp_path):
        eats = EATS.format(seconds=60)

        end = run(tmp_path, "sh", "-c", f'{sys.executable} -c "{eats}"; exit 0', memory_mb=100)

        assert (end.out_of_memory, end.reason) == (True, "it exceeded its memory limit of 100 MB")

    def test_what_stays_below_runs_to_its_own_end(self, tmp_path):
        end = run(tmp_path, sys.executable, "-c", EATS.format(seconds=1.2), memory_mb=500)

        assert (end.out_of_memory, end.code, end.signal) == (False, 0, 0)

    def test_memory_that_processes_share_counts_once(self, tmp_path):
        end = run(tmp_path, sys.executable, "-c", FORKS, memory_mb=200)

        assert (end.out_of_memory, end.code, end.signal) == (False, 0, 0)

    def test_a_run_stays_on_its_cores(self, tmp_path):
        core = min(os.sched_getaffinity(0))

        run(
            tmp_path,
            sys.executable,
            "-c",
            "import os; print(os.sched_getaffinity(0))",
            cores=(core,),
        )

        assert (tmp_path / "log").read_text() == f"{{{core}}}\n"

    def test_a_log_is_begun_anew_or_gone_on_with(self, tmp_path):
        (tmp_path / "log").write_text("before\n")
        run(tmp_path, "echo", "again", append=True)
        assert (tmp_path / "log").read_text() == "before\nagain\n"


@pytest.fixture
def cgroups(tmp_path, monkeypatch):
    """A tree as the kernel would show it to a user whose session is delegated."""
    proc, mount = tmp_path / "proc", tmp_path / "cgroup"
    own = mount / "user.slice" / "app.slice" / "schedmate.service"
    own.mkdir(parents=True)
    (proc / "self").mkdir(parents=True)
    (proc / "self" / "cgroup").write_text("0::/user.slice/app.slice/schedmate.service\n")
    (mount / "cgroup.controllers").write_text("cpu memory\n")
    (own / "cgroup.subtree_control").write_text("\n")
    (own.parent / "cgroup.subtree_control").write_text("memory pids\n")
    (own.parent / "cgroup.procs").write_text("")
    monkeypatch.setattr(memory_bound, "_PROC", proc)
    monkeypatch.setattr(memory_bound, "_MOUNT", mount)
    monkeypatch.setattr(memory_bound, "_SYSTEMD", tmp_path / "nowhere")
    return own.parent


def test_a_delegated_cgroup_bounds_a_run_by_the_kernel(cgroups):
    bound = MemoryBound(64, "schedmate-12-0")

    assert delegated_cgroup() == cgroups
    assert memory_bound.is_enforced()
    assert bound.prepare(["train"]) == ["train"]
    made = cgroups / "schedmate-12-0"
    assert (made / "memory.max").read_text() == str(64 << 20)
    assert (made / "memory.swap.max").read_text() == "0"
    bound.enter()
    assert (made / "cgroup.procs").read_text() == "0"
    assert not bound.is_watched
    for events, exceeded in (("oom 0\noom_kill 0\n", False), ("oom 1\noom_kill 1\n", True)):
        (made / "memory.events").write_text(events)
        assert bound.was_exceeded() is exceeded


def test_without_the_memory_controller_a_run_is_watched(cgroups):
    (cgroups / "cgroup.subtree_control").write_text("pids\n")
    bound = MemoryBound(64, "schedmate-12-0")

    assert bound.prepare(["train"]) == ["train"]
    assert bound.is_watched
    assert not memory_bound.is_enforced()


@pytest.mark.processes
def test_a_scope_of_systemd_bounds_a_run(cgroups, tmp_path, monkeypatch):
    (cgroups / "cgroup.subtree_control").write_text("\n")
    (tmp_path / "systemd").mkdir()
    monkeypatch.setattr(memory_bound, "_SYSTEMD", tmp_path / "systemd")
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    private = tmp_path / "runtime" / "systemd" / "private"
    private.parent.mkdir(parents=True)
    private.touch()
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in (
        ("systemd-run", "exit 0"),
        ("systemctl", 'echo "$@" >> asked; echo oom-kill'),
    ):
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.chdir(tmp_path)
    bound = MemoryBound(64, "schedmate-12-0")

    command = bound.prepare(["train", "-v"])

    assert command[:4] == ["systemd-run", "--user", "--scope", "--quiet"]
    assert command[-3:] == ["--", "train", "-v"]
    assert f"MemoryMax={64 << 20}" in command
    assert bound.was_exceeded()
    assert Path("asked").read_text() == "--user show -p Result --value schedmate-12-0.scope\n"


@pytest.fixture
def site(tmp_path):
    yield (site := LocalSite(tmp_path, LocalSettings(slots=4, kill_wait_s=0.3, poll_s=0.05)))
    site.scheduler.stop()


def asked(**parts):
    return {"request": Request(**parts)}


@pytest.mark.processes
class TestJobs:
    def test_a_job_that_takes_too_much_memory_ends_as_that(self, site):
        job = site.submit(sys.executable, "-c", EATS.format(seconds=60), **asked(memory_mb=100))

        ended = site.ended(job)

        assert ended.state is JobState.OUT_OF_MEMORY
        assert ended.reason == "it exceeded its memory limit of 100 MB"
        rule = RuleSet(RULES).for_line(ended.reason)
        assert rule is not None, "a diagnosis quotes it"
        assert rule.reason == "host_oom"

    def test_jobs_get_cores_of_their_own(self, site):
        if len(os.sched_getaffinity(0)) < 2:
            pytest.skip("there is one core")
        shows = "import os, time; print(os.sched_getaffinity(0), flush=True); time.sleep(30)"
        jobs = [site.submit(sys.executable, "-c", shows, **asked(cpus=1)) for _ in range(2)]

        def logs():
            paths = [Path(site.job(job).logs[0]) for job in jobs]
            return all(one.exists() and one.read_text() for one in paths) and [
                one.read_text() for one in paths
            ]

        shown = wait_for(logs, "their cores")
        for job in jobs:
            site.scheduler.cancel(job)
        assert len(set(shown)) == 2

    @pytest.mark.parametrize(
        ("stated", "script", "got"),
        [
            ("USR1@58", True, "child usr1\n"),
            ("B:USR1@58", True, "shell usr1\n"),
            ("USR1@58", False, "child usr1\n"),
        ],
    )
    def test_a_signal_comes_before_the_limit(self, site, stated, script, got):
        child = site.work / "child.py"
        child.write_text(
            "import signal, sys, time\n"
            "def got(*_):\n    print('child usr1', flush=True)\n    sys.exit(0)\n"
            "signal.signal(signal.SIGUSR1, got)\n"
            "print('up', flush=True)\ntime.sleep(50)\n"
        )
        shell = site.work / "job.sh"
        shell.write_text(
            f"#!/bin/bash\ntrap 'echo shell usr1; kill $!; exit 0' USR1\n"
            f"{sys.executable} {child} &\nwait\n"
        )
        command = (str(shell),) if script else (sys.executable, str(child))
        job = site.submit(
            *command,
            script=str(shell) if script else None,
            options={"signal": stated},
            **asked(time_limit_s=62.0),
        )

        ended = site.ended(job)

        assert ended.state is JobState.COMPLETED
        assert got in site.log(job)
        assert site.log(job).count("usr1") == 1

    def test_a_run_that_a_reboot_ended_is_told_from_others(self, site):
        job = site.shell("sleep 60")
        site.started(job)
        attempt = site.attempt(job)
        claim = attempt.folder / "claim"
        before = json.loads(claim.read_text())
        os.kill(before["pid"], signal.SIGSTOP)  # after a reboot it would write nothing either
        claim.write_text(json.dumps({**before, "boot": "another"}))

        ended = site.ended(job)

        assert ended.state is JobState.NODE_FAIL
        assert ended.reason == "the machine was restarted while the job ran"
        os.kill(before["pid"], signal.SIGKILL)


def an_entry(number, *, gpus=1, exclusive=False, memory_mb=None, limit=None, start=None, slots=()):
    return QueueEntry(
        id=number,
        name="job",
        user="ada",
        workdir="/",
        command=("true",),
        script=None,
        request=Request(gpus=gpus, memory_mb=memory_mb, time_limit_s=limit),
        stdout="",
        stderr="",
        nice=0,
        state=JobState.PENDING if start is None else JobState.RUNNING,
        submit_time=float(number),
        eligible_time=0.0,
        start_time=start,
        end_time=None,
        exit_code=None,
        signal=None,
        restarts=0,
        slots=slots,
        ending=None,
        signalled_at=None,
        reason="",
        held=False,
        options={"exclusive": "1"} if exclusive else {},
    )


def starts(waiting, running=(), memory_mb=1000):
    slots = make_slots(4)

    def choose_slots(entry, free):
        return choose(entry.request, free, slots, "box")

    machine = Machine(slots, slots, 8, choose_slots, memory_mb)
    return [one.entry.id for one in plan(waiting, running, machine, 100.0)]


def test_an_exclusive_job_runs_alone():
    alone, after = an_entry(1, exclusive=True), an_entry(2)
    assert starts([alone, after]) == [1]
    assert starts([after], [an_entry(1, exclusive=True, start=50.0, slots=("0",))]) == []


def test_an_exclusive_job_at_the_head_is_not_delayed():
    running = [an_entry(1, start=50.0, limit=200.0, slots=("0",))]
    head, short, long = (
        an_entry(2, exclusive=True),
        an_entry(3, limit=60.0),
        an_entry(4, limit=900.0),
    )
    assert starts([head, short, long], running) == [3]


def test_no_more_memory_is_promised_than_there_is():
    running = [an_entry(1, memory_mb=600, start=50.0, limit=200.0, slots=("0",))]
    assert starts([an_entry(2, memory_mb=300), an_entry(3, memory_mb=300)], running) == [2]
    assert starts(
        [an_entry(2, memory_mb=500), an_entry(3, memory_mb=300, limit=10.0)], running
    ) == [3]
