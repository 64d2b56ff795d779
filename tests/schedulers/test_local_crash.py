"""Daemons and runners of the local scheduler are killed: no job is lost or run twice."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import random
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from files.people import needs_root
from schedmate.disk.lock import hold, lock_holder
from schedmate.model import JobState, SchedulerError, StoreUnavailable
from schedmate.model.job import ArrayTask
from schedmate.schedulers.local import daemon as daemons
from schedmate.schedulers.local.attempt import RunEnd, RunSpec
from schedmate.schedulers.local.runner import _WRITE_AGAIN_S, _born
from schedulers.local_site import LocalSite, processes_of, wait_for

pytestmark = pytest.mark.processes

FORK = multiprocessing.get_context("fork")
RUN = 'echo "$SCHEDMATE_JOB_ID $SCHEDMATE_RESTART_COUNT" >> ran'


@pytest.fixture
def site(tmp_path):
    """With its real daemon process."""
    site = LocalSite(tmp_path)
    yield site
    site.leave()


@pytest.fixture
def still(tmp_path):
    """Without one: the test turns the crank."""
    site = LocalSite(tmp_path, real=False)
    yield site
    site.leave()


KILLS = 10


@pytest.mark.parametrize("seed", [1, 2])
def test_a_daemon_killed_at_random_moments_neither_loses_nor_doubles_a_job(site, seed):
    chance = random.Random(seed)
    good = [site.shell(f"{RUN}; sleep {chance.uniform(0, 0.3):.2f}") for _ in range(9)]
    array = site.shell(RUN, tasks=tuple(map(ArrayTask, range(4))), most_tasks=1)
    after = site.shell(RUN, dependency=f"afterok:{array}")
    good += [after, *(str(int(array) + place) for place in range(4))]
    bad = [site.shell(f"{RUN}; exit 3") for _ in range(2)]
    killed = [site.shell(f"{RUN}; kill -9 $$") for _ in range(2)]
    again = [
        site.shell(f'{RUN}; [ "$SCHEDMATE_RESTART_COUNT" = 1 ] || exec sleep 60') for _ in range(2)
    ]
    requeued = set()

    def step():
        for job in site.scheduler.jobs(again):
            if f"{job.id} 0" in site.lines() and job.id not in requeued:
                site.scheduler.requeue(job.id, run=0)
                requeued.add(job.id)
        return all(job.state.ended for job in site.scheduler.jobs())

    for _ in range(KILLS):
        step()
        time.sleep(chance.uniform(0, 0.4))
        site.kill_daemon()
    wait_for(step, "the end of all jobs")

    runs = [f"{job_id} 0" for job_id in (*good, *bad, *killed, *again)]
    assert sorted(site.lines()) == sorted([*runs, *(f"{job_id} 1" for job_id in again)])
    assert site.lines().index(f"{after} 0") > site.lines().index(f"{int(array) + 3} 0")
    jobs = {str(entry.id): entry for entry in site.queue.entries(ended_since=0.0, most_ended=1000)}
    assert all(jobs[one].state is JobState.COMPLETED for one in (*good, *again))
    assert all((jobs[one].state, jobs[one].exit_code) == (JobState.FAILED, 3) for one in bad)
    assert all((jobs[one].state, jobs[one].signal) == (JobState.FAILED, 9) for one in killed)
    assert [jobs[one].restarts for one in again] == [1, 1]


GATED = f"{RUN}; while [ ! -e go ]; do sleep 0.05; done"


def test_the_end_of_a_run_starts_a_daemon_that_was_killed(site):
    """Nobody looks: the waiting job is started all the same."""
    first, second = site.shell(GATED, gpus=2), site.shell(RUN, gpus=2)
    wait_for(lambda: len(site.lines()) == 1, "the first")
    site.kill_daemon()

    (site.work / "go").touch()

    wait_for(lambda: site.lines() == [f"{first} 0", f"{second} 0"], "the second")


def test_a_state_directory_that_is_away_for_a_while(site, monkeypatch):
    first, second = site.shell(GATED), site.shell(RUN, gpus=2)
    wait_for(lambda: len(site.lines()) == 1, "the first")
    away = site.root / "away"
    site.layout.root.rename(away)

    (site.work / "go").touch()
    with pytest.raises(StoreUnavailable, match="is gone: is its disk mounted"):
        site.shell("true")
    time.sleep(1)  # for a daemon that would start a second run
    assert not site.layout.root.exists()
    away.rename(site.layout.root)

    assert site.ended(first).state is JobState.COMPLETED
    assert site.ended(second).state is JobState.COMPLETED
    assert site.lines() == [f"{first} 0", f"{second} 0"]


def test_a_job_that_is_due_while_the_state_directory_is_away_waits_for_it(site):
    """What was saved of it is away too: it must not count as lost."""
    job_id = site.shell(RUN, begin=time.time() + 1.0)
    wait_for(lambda: lock_holder(site.layout.lock) is not None, "the daemon")
    away = site.root / "away"
    site.layout.root.rename(away)
    time.sleep(2.5)  # it is due, and the daemon looks every moment
    away.rename(site.layout.root)

    assert site.ended(job_id).state is JobState.COMPLETED
    assert site.lines() == [f"{job_id} 0"]


def test_a_state_directory_that_goes_while_a_daemon_begins(still, monkeypatch):
    """It would take the absence for its home, and what was saved of a job for lost."""
    job_id = still.shell(RUN)
    away = still.root / "away"
    with monkeypatch.context() as during:
        identify = daemons._identity

        def identify_too_late(path):
            still.layout.root.rename(away)
            return identify(path)

        during.setattr(daemons, "_identity", identify_too_late)
        with pytest.raises(StoreUnavailable, match="is gone: is its disk mounted"):
            still.new_daemon()
    away.rename(still.layout.root)

    assert still.ended(job_id).state is JobState.COMPLETED


def submit_many(site):
    """What is free in pages that are there may suffice for some."""
    for _ in range(100):
        site.shell(RUN, held=True)


@needs_root
def test_a_disk_that_is_full(tmp_path):
    """A real one, of two megabytes."""
    disk = tmp_path / "local"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk]
    if subprocess.run(mount, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        site = LocalSite(tmp_path)
        first, second = site.shell(f"{GATED}; touch over"), site.shell(RUN, gpus=2)
        fills = site.shell("touch filling; sleep 600", gpus=0)
        wait_for(lambda: len(site.lines()) == 1, "the first")
        wait_for((site.work / "filling").exists, "the one that fills it")
        with contextlib.suppress(OSError), (disk / "filler").open("wb", buffering=0) as filler:
            while filler.write(bytes(4096)):
                pass

        (site.work / "go").touch()
        with pytest.raises(StoreUnavailable, match=r"full|no space left"):
            submit_many(site)
        with pytest.raises(StoreUnavailable, match=f"sent SIGTERM, so that job {fills} will count"):
            site.scheduler.cancel(fills)
        wait_for((site.work / "over").exists, "the end of the first")
        time.sleep(2 * _WRITE_AGAIN_S)  # its end cannot be written down, and is not given up
        (disk / "filler").unlink()

        assert site.ended(first).state is JobState.COMPLETED
        assert site.ended(second).state is JobState.COMPLETED
        assert (site.ended(fills).state, site.job(fills).signal) == (JobState.FAILED, 15)
        assert site.lines() == [f"{first} 0", f"{second} 0"]
        site.leave()
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


def submit_one(root, start, ids):
    site = LocalSite(root)
    start.wait()
    ids.put(site.shell(RUN))


def test_jobs_submitted_by_many_processes_at_once_all_run(site):
    start, ids = FORK.Barrier(8), FORK.Queue()
    workers = [FORK.Process(target=submit_one, args=(site.root, start, ids)) for _ in range(8)]
    for worker in workers:
        worker.start()
    given = {ids.get(timeout=60) for _ in workers}
    for worker in workers:
        worker.join()

    assert len(given) == 8
    assert {site.ended(job_id).state for job_id in given} == {JobState.COMPLETED}
    assert sorted(site.lines()) == sorted(f"{job_id} 0" for job_id in given)


def test_a_daemon_killed_between_taking_a_job_and_starting_it(still):
    job_id = still.shell(RUN)
    still.queue.begin(int(job_id), ["0"], time.time())

    still.new_daemon()

    assert still.ended(job_id).state is JobState.COMPLETED
    assert still.lines() == [f"{job_id} 0"]


def test_a_daemon_killed_between_sending_a_runner_and_its_claim(still):
    """The next daemon knows of no runner and sends another one: one of the two runs."""
    job_id = still.shell(f"{RUN}; sleep 0.3")
    for _ in range(3):
        still.new_daemon().cycle(time.time())

    assert still.ended(job_id).state is JobState.COMPLETED
    assert still.lines() == [f"{job_id} 0"]


def test_of_many_runners_one_runs(still):
    job_id = still.shell(RUN)
    still.queue.begin(int(job_id), ["0"], time.time())
    submission = still.layout.read_submission(int(job_id))
    spec = RunSpec(
        command=submission.command,
        workdir=str(still.work),
        env=submission.env,
        stdout=str(still.work / "out"),
        stderr=str(still.work / "out"),
    )

    runners = [still.attempt(job_id).start(spec) for _ in range(6)]

    assert [runner.wait(60) for runner in runners] == [0] * 6
    assert len(still.lines()) == 1
    assert still.ended(job_id).state is JobState.COMPLETED


FAMILY = "sleep 600 & setsid sleep 600 & (setsid setsid sleep 600 &) ; exec sleep 600"


def test_the_death_of_a_runner_is_a_node_failure_and_its_orphans_die(still):
    job_id = still.shell(FAMILY)
    still.started(job_id)
    wait_for(lambda: len(processes_of(still.root)) == 5, "the family")

    os.kill(still.attempt(job_id).claimed_by().pid, signal.SIGKILL)

    job = still.ended(job_id)
    assert (job.state, job.exit_code, job.signal) == (JobState.NODE_FAIL, None, None)
    assert "died" in job.reason
    assert processes_of(still.root) == []


def test_a_job_is_over_only_when_the_last_of_its_orphans_is(still, monkeypatch):
    job_id = still.shell("touch up; exec sleep 600")
    still.until((still.work / "up").exists, "its command")
    runner = still.attempt(job_id).claimed_by().pid
    # as if they were stuck in the kernel
    monkeypatch.setattr("signal.pidfd_send_signal", lambda *_: None)
    os.kill(runner, signal.SIGKILL)
    wait_for(lambda: not still.attempt(job_id).claimed_by().alive)

    for _ in range(3):
        still.daemon.cycle(time.time())
    assert still.job(job_id).state is JobState.RUNNING

    monkeypatch.undo()
    assert still.ended(job_id).state is JobState.NODE_FAIL


@pytest.mark.parametrize(
    ("ask", "state", "restarts"),
    [
        (lambda scheduler, job_id: scheduler.cancel(job_id), JobState.CANCELLED, 0),
        (lambda scheduler, job_id: scheduler.requeue(job_id, run=0), JobState.COMPLETED, 1),
    ],
    ids=["cancel", "requeue"],
)
def test_what_was_asked_of_a_job_counts_though_its_runner_died(still, ask, state, restarts):
    job_id = still.shell('[ "$SCHEDMATE_RESTART_COUNT" = 1 ] || exec sleep 600')
    still.started(job_id)
    entry = still.queue.entry(int(job_id))
    ask(still.scheduler, job_id)
    os.kill(still.attempt(job_id).claimed_by().pid, signal.SIGKILL)
    wait_for(lambda: not still.attempt(job_id).claimed_by().alive)

    still.daemon._look_after(entry, time.time())  # as it was seen before somebody asked

    assert still.ended(job_id, restarts).state is state


def test_a_reboot_is_a_node_failure(still):
    job_id = still.shell(RUN)
    still.queue.begin(int(job_id), ["0"], time.time())
    attempt = still.attempt(job_id)
    attempt.folder.mkdir(parents=True)
    mine = {"pid": os.getpid(), "born": _born(os.getpid()), "boot": "another boot"}
    (attempt.folder / "claim").write_text(json.dumps(mine))

    ended = still.ended(job_id)
    assert ended.state is JobState.NODE_FAIL
    assert ended.reason == "the machine was restarted while the job ran"
    assert still.lines() == []


def test_a_job_that_ignores_sigterm_is_killed_after_a_while(still):
    job_id = still.shell("trap '' TERM; echo deaf >> ran; while :; do sleep 0.05; done")
    still.started(job_id)
    still.until(lambda: still.lines() == ["deaf"])
    begun = time.monotonic()

    still.scheduler.cancel(job_id)

    job = still.ended(job_id)
    assert (job.state, job.signal) == (JobState.CANCELLED, signal.SIGKILL)
    assert time.monotonic() - begun >= still.settings.kill_wait_s


def test_a_job_that_hears_sigterm_may_tidy_up(still):
    job_id = still.shell("trap 'echo tidy >> ran; exit 0' TERM; echo up >> ran; sleep 60 & wait")
    still.until(lambda: still.lines() == ["up"])

    still.scheduler.cancel(job_id)

    assert still.ended(job_id).state is JobState.CANCELLED
    assert still.lines() == ["up", "tidy"]


@pytest.mark.parametrize("end", ["cancel", "itself"])
def test_nothing_of_a_job_outlives_it(still, end):
    deaf = "trap '' TERM; while :; do sleep 1; done"
    hidden = f'env -i setsid bash -c "{deaf}" {still.root} &'
    family = FAMILY.removesuffix("exec sleep 600")
    last = "sleep 600" if end == "cancel" else "sleep 0.2"
    job_id = still.shell(f"{family} {hidden} (setsid sleep 601 &) ; {last}")
    still.started(job_id)
    time.sleep(0.3)
    if end == "cancel":
        still.scheduler.cancel(job_id)

    job = still.ended(job_id)

    assert job.state is (JobState.CANCELLED if end == "cancel" else JobState.COMPLETED)
    wait_for(lambda: not processes_of(still.root), "the end of the runner")


@pytest.mark.parametrize(
    ("code", "signalled", "state"),
    [
        (0, False, JobState.COMPLETED),
        (3, False, JobState.CANCELLED),
        (0, True, JobState.CANCELLED),
        (143, True, JobState.CANCELLED),
    ],
)
def test_a_job_that_ends_while_it_is_cancelled(still, code, signalled, state):
    """What has succeeded before anybody touched it has succeeded; a failure is nobody's to mend."""
    job_id = still.shell("true")
    number = int(job_id)
    still.queue.begin(number, ["0"], time.time())
    still.scheduler.cancel(job_id)
    if signalled:
        still.queue.signalled(number, time.time())

    still.queue.finish(still.queue.entry(number), RunEnd(code=code, signal=0, reason="", end=1.0))

    assert still.job(job_id).state is state


def test_a_running_job_that_is_requeued_while_the_daemon_dies(site):
    job_id = site.shell(f'{RUN}; [ "$SCHEDMATE_RESTART_COUNT" = 1 ] || exec sleep 600')
    site.until(lambda: len(site.lines()) == 1)
    site.kill_daemon()

    site.scheduler.requeue(job_id, run=0)
    site.kill_daemon()

    assert site.ended(job_id, restarts=1).state is JobState.COMPLETED
    assert site.lines() == [f"{job_id} 0", f"{job_id} 1"]


def test_a_job_that_is_being_ended_is_not_requeued(still):
    job_id = still.shell("sleep 600")
    still.started(job_id)
    still.scheduler.requeue(job_id, run=0)
    still.scheduler.requeue(job_id, run=0)  # twice is once
    still.scheduler.cancel(job_id)

    with pytest.raises(SchedulerError, match="is being ended: CANCELLED"):
        still.scheduler.requeue(job_id, run=0)

    assert still.ended(job_id).state is JobState.CANCELLED


def test_a_limit_that_passes_while_no_daemon_looks(still):
    over = still.shell("exec sleep 600", limit=0.5)
    done = still.shell("sleep 0.1", limit=0.5)
    still.started(over)
    still.started(done)
    time.sleep(0.8)

    still.new_daemon()

    assert still.ended(over).state is JobState.TIMEOUT
    assert still.ended(done).state is JobState.COMPLETED


def test_an_idle_daemon_goes_and_the_next_submission_brings_another(still, monkeypatch):
    monkeypatch.setattr(daemons, "_IDLE_S", 0.2)
    for number in (1, 2):
        job_id = still.shell(RUN)
        daemons.serve(still.layout, still.settings, hold(still.layout.lock))
        assert still.job(job_id).state is JobState.COMPLETED
        assert len(still.lines()) == number
        assert lock_holder(still.layout.lock) is None


def test_a_job_submitted_while_the_daemon_is_leaving_is_run(still, monkeypatch):
    looks = []

    def look_once(layout, settings):
        """The first look finds nothing, and before it lets go somebody submits."""
        looks.append(hold(layout.lock))
        if len(looks) == 1:
            still.shell(RUN)
        else:
            still.until(still.queue.idle)

    monkeypatch.setattr(daemons, "_serve_until_idle", look_once)

    daemons.serve(still.layout, still.settings, hold(still.layout.lock))

    assert looks == [None, None], "the lock was held during both"
    assert still.lines() == ["1 0"]


def test_a_second_daemon_is_not_started(site):
    site.shell("sleep 0.5")
    threads = [threading.Thread(target=site.scheduler.ensure_running) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    daemon = [
        pid
        for pid in processes_of(site.layout.root)
        if b"schedmate.schedulers.local.daemon" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]
    assert len(daemon) == 1


def test_a_job_is_queued_though_the_daemon_cannot_be_started(site, monkeypatch, caplog):
    """An error here would make people submit it a second time."""

    def fail(*_, **__):
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr("subprocess.run", fail)
    job_id = site.shell(RUN)
    assert site.job(job_id).state is JobState.PENDING
    assert "cannot be started now" in caplog.text
    monkeypatch.undo()

    assert site.ended(job_id).state is JobState.COMPLETED
    assert site.lines() == [f"{job_id} 0"]
