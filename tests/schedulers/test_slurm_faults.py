"""What fails around the daemon on a real cluster: nothing is lost, nothing is done twice."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from schedmate.config import Settings
from schedmate.disk.lock import lock_holder
from schedmate.model import Action, JobState, Request, SchedulerUnreachable
from schedmate.schedulers.slurm import SlurmScheduler
from schedmate.service.actions import Actions
from schedmate.service.daemon.assembling import assemble
from schedmate.service.wiring import open_store
from schedmate.testing.scheduler_bench import Bench
from schedulers.local_site import wait_for
from schedulers.slurm_site import LATER, apart, kill_steps

pytestmark = pytest.mark.slurm

OUTAGE_S = float(os.environ.get("SCHEDMATE_TEST_OUTAGE_S", "6"))
PATIENCE_S = 240.0
FIRST = "${SLURM_RESTART_COUNT:-0}"
# no end may fall into the second in which the store was made
RUN = f'echo "$SLURM_JOB_ID {FIRST}" >> ../ran; [ {FIRST} != 0 ]'
KILLED_ONCE = f"{RUN} || {{ sleep 1.5; kill -9 $$; }}"
NO_GPU = Request(gpus=0)


@pytest.fixture
def bench(slurm_cluster, tmp_path):
    bench = Bench(SlurmScheduler(timeout_s=5), tmp_path, patience_s=60)
    yield bench
    subprocess.run(["scancel", "--user=root"], check=True)
    bench.clear()


@pytest.fixture
def settings(bench, settings):
    return replace(settings, mode="assist")


def test_a_controller_that_comes_back_finds_everything_as_it_was(bench, settings, slurm_cluster):
    single = bench.shell("sleep 600", passthrough=(LATER,))
    array = bench.shell("sleep 600", passthrough=(LATER, "--array=0-9"))
    bench.submitted.remove(array)
    with assemble(settings) as daemon:
        daemon.cycle(time.time())
        before, numbers = open_store(settings).actions(), nice_of(bench, single, array)
        assert 0 not in numbers
        slurm_cluster.stop_daemon("slurmctld")
        try:
            with pytest.raises(SchedulerUnreachable):
                daemon.cycle(time.time())
        finally:
            slurm_cluster.start_controller()
        daemon.cycle(time.time())
    assert open_store(settings).actions() == before
    assert nice_of(bench, single, array) == numbers


def test_a_number_that_met_no_controller_is_set_once_it_is_back(bench, settings, slurm_cluster):
    job_id = bench.shell("sleep 600", passthrough=(LATER,))
    store = open_store(settings)
    actions = Actions(bench.scheduler, store, "assist")
    actions.carry_out(Action(kind="set_nice", job_id=job_id, attempt=0, why="", value=5), 1.0)
    slurm_cluster.stop_daemon("slurmctld")
    try:
        actions.finish_interrupted(2.0)
    finally:
        slurm_cluster.start_controller()
    assert [one.state for one in store.actions(job_id=job_id)] == ["intended"]
    actions.finish_interrupted(3.0)
    assert [one.state for one in store.actions(job_id=job_id)] == ["done"]
    assert bench.job(job_id).nice == 5


def test_a_job_that_has_ended_before_its_number_came_is_no_priority_set_by_hand(bench, settings):
    job_id = bench.shell("sleep 600", passthrough=(LATER,))
    store = open_store(settings)
    actions = Actions(bench.scheduler, store, "assist")
    actions.carry_out(Action(kind="set_nice", job_id=job_id, attempt=0, why="", value=5), 1.0)
    bench.scheduler.cancel(job_id)
    actions.finish_interrupted(2.0)
    (record,) = store.actions(job_id=job_id)
    assert record.state == "failed"
    assert "by hand" not in record.note


def nice_of(bench, *ids):
    return [job.nice for job_id in ids for job in bench.scheduler.jobs([job_id])]


class Serve:
    """`schedmate serve` in mode act, as a site runs it but in more of a hurry."""

    def __init__(self, state: Path, **env: str) -> None:
        self.state, self.log = state, state.parent / f"{state.name}.log"
        self.settings = Settings(scheduler="slurm", mode="act", state_dir=state)
        self._env = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "SCHEDMATE_SCHEDULER": "slurm",
            "SCHEDMATE_MODE": "act",
            "SCHEDMATE_SETTLE_S": "0",
            "SCHEDMATE_STATE_DIR": str(state),
            "SCHEDMATE_CONFIG": "/dev/null",
            "SCHEDMATE_SLURM__POLL_S": "0.5",
            "SCHEDMATE_SLURM__TIMEOUT_S": "5",
            "SCHEDMATE_LLM__ENABLED": "false",
            **env,
        }

    def start(self) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            words = [sys.executable, "-m", "schedmate", "serve"]
            return subprocess.Popen(words, env=self._env, stdout=log, stderr=log)

    @contextmanager
    def running(self):
        open_store(self.settings).close()
        daemon = self.start()
        try:
            wait_for(lambda: lock_holder(self.settings.daemon_lock) == daemon.pid, "the daemon", 60)
            yield daemon
        finally:
            daemon.send_signal(signal.SIGTERM)
            assert daemon.wait(PATIENCE_S) == 0, self.text()
        assert "Traceback" not in self.text()

    def text(self) -> str:
        return self.log.read_text(errors="replace")

    def requeues(self) -> list[tuple[str, int, str]]:
        store = open_store(self.settings)
        try:
            records = [one for one in store.actions() if one.action.kind == "requeue"]
        finally:
            store.close()
        return sorted((one.action.job_id, one.action.attempt, one.state) for one in records)

    def remembers(self, job_id: str, attempt: int = 0) -> bool:
        store = open_store(self.settings)
        try:
            return store.run(job_id, attempt) is not None
        finally:
            store.close()


def all_retried(serve, bench, jobs):
    """Each was queued again exactly once, ran exactly twice, and both runs are remembered."""
    for job_id in jobs:
        try:
            bench.ended(job_id, restarts=1)
        except TimeoutError as late:
            raise AssertionError(serve.text()) from late
    wait_for(
        lambda: (
            serve.requeues() == sorted((one, 0, "done") for one in jobs)
            and all(serve.remembers(one, attempt) for one in jobs for attempt in (0, 1))
        ),
        "the records of all runs",
        PATIENCE_S,
    )
    assert sorted(bench.lines("ran")) == sorted(f"{one} {run}" for one in jobs for run in (0, 1))


@pytest.fixture
def patient_bench(bench):
    bench.patience_s = PATIENCE_S
    return bench


def killed_once(bench, count, **parts):
    """Each of a project of its own: a copy that is submitted meanwhile would go on instead."""
    places = [apart(bench) for _ in range(count)]
    return [
        bench.shell(f": {place}; {KILLED_ONCE}", request=NO_GPU, workdir=place, **parts)
        for place in places
    ]


def test_jobs_that_fail_while_the_controller_is_away(patient_bench, tmp_path, slurm_cluster):
    serve, bench = Serve(tmp_path / "state"), patient_bench
    with serve.running():
        jobs = killed_once(bench, 4)
        bench.running(jobs[-1])
        slurm_cluster.stop_daemon("slurmctld")
        try:
            time.sleep(OUTAGE_S)
            assert serve.requeues() == []
        finally:
            slurm_cluster.start_controller()
        all_retried(serve, bench, jobs)
    assert len(serve.text().splitlines()) < 20 + OUTAGE_S


def test_jobs_that_fail_while_accounting_is_away(patient_bench, tmp_path, slurm_cluster):
    serve, bench = Serve(tmp_path / "state"), patient_bench
    with serve.running():
        slurm_cluster.stop_daemon("slurmdbd")
        try:
            jobs = killed_once(bench, 3)
            all_retried(serve, bench, jobs)
        finally:
            slurm_cluster.start_accounting()


def is_up(node):
    """It may have come back by itself, which makes the update an error."""
    up = ["scontrol", "update", f"NodeName={node}", "State=RESUME"]
    subprocess.run(up, check=False, capture_output=True)
    shown = subprocess.run(["sinfo", "-h", "-n", node, "-o", "%T"], capture_output=True, check=True)
    return shown.stdout.decode().strip() in ("idle", "mixed", "allocated")


def test_a_node_that_dies_under_its_jobs(patient_bench, tmp_path, slurm_cluster):
    serve, bench = Serve(tmp_path / "state"), patient_bench
    with serve.running():
        job_id = bench.shell(f"{RUN} || sleep 600", request=NO_GPU, workdir=apart(bench))
        bench.wait_for_lines("ran", 1)
        (node,) = bench.job(job_id).nodes
        slurm_cluster.stop_daemon(node)
        kill_steps(slurm_cluster, job_id)
        try:
            # what SlurmdTimeout would find out
            down = ["scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=died"]
            subprocess.run(down, check=True)
            wait_for(lambda: bench.job(job_id).restarts == 1, "another run", PATIENCE_S)
            subprocess.run(["scontrol", "update", f"JobId={job_id}", "StartTime=now"], check=True)
            bench.ended(job_id, restarts=1)
        finally:
            slurm_cluster.daemon("slurmd", "-D", "-N", node, name=node)
            wait_for(lambda: is_up(node), "the node", PATIENCE_S)
        wait_for(lambda: serve.remembers(job_id, 1), "its record", PATIENCE_S)
    assert bench.lines("ran") == [f"{job_id} 0", f"{job_id} 1"]
    assert len(serve.requeues()) <= 1, "Slurm queues it again by itself"


def test_a_log_directory_that_disappears(patient_bench, tmp_path):
    serve, bench = Serve(tmp_path / "state"), patient_bench
    logs = tmp_path / "logs"
    logs.mkdir()
    with serve.running():
        talks = "for i in $(seq 600); do echo step $i/600; sleep 0.2; done"
        running = bench.shell(talks, request=NO_GPU, stdout=f"{logs}/%j.log")
        jobs = killed_once(bench, 2, stdout=f"{logs}/%j.log")
        bench.running(running)
        for job_id in jobs:
            bench.running(job_id)
        shutil.rmtree(logs)
        time.sleep(2)
        logs.mkdir()  # else the second run could not open its log
        all_retried(serve, bench, jobs)
        assert bench.job(running).state is JobState.RUNNING, "silence without a log is no hang"


@pytest.fixture
def small_disk(tmp_path):
    place = tmp_path / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", place], check=True)
    yield place
    subprocess.run(["umount", place], check=True)


def fill(path: Path) -> None:
    with path.open("ab", buffering=0) as file, suppress(OSError):
        while file.write(b"x" * 512):
            pass


def test_a_full_disk_under_the_store(patient_bench, small_disk, tmp_path):
    serve, bench = Serve(small_disk / "state"), patient_bench
    serve.log = tmp_path / "serve.log"
    filler = small_disk / "filler"
    with serve.running():
        jobs = killed_once(bench, 4)
        bench.running(jobs[-1])
        fill(filler)
        begun = time.monotonic()
        jobs += killed_once(bench, 8)
        wait_for(lambda: "nothing is decided or done" in serve.text(), "a line", PATIENCE_S)
        time.sleep(OUTAGE_S)
        fill(filler)
        lines = re.findall("nothing is decided or done until", serve.text())
        assert len(lines) <= 1 + (time.monotonic() - begun) // 60
        before = {one.id for one in bench.scheduler.jobs(jobs) if one.restarts}
        assert len(before) < len(jobs)
        filler.unlink()
        all_retried(serve, bench, jobs)
    assert "the store can be written to again" in serve.text()


def test_a_model_that_does_not_answer(patient_bench, tmp_path):
    """An endpoint that is down, for a failure that the rules leave open."""
    env = {
        "SCHEDMATE_LLM__ENABLED": "true",
        "SCHEDMATE_LLM__BASE_URL": "http://127.0.0.1:9/v1",
        "SCHEDMATE_LLM__ADVICE": "true",
    }
    serve, bench = Serve(tmp_path / "state", **env), patient_bench
    with serve.running():
        puzzle = bench.shell("sleep 1.5; echo the frobnicator gave up; exit 7", request=NO_GPU)
        jobs = killed_once(bench, 2)
        bench.ended(puzzle)
        all_retried(serve, bench, jobs)
        wait_for(lambda: serve.remembers(puzzle), "its record", PATIENCE_S)


def test_two_daemons(patient_bench, tmp_path):
    """Of one state directory the second one ends; those of two retry a job once between them."""
    first, bench = Serve(tmp_path / "state"), patient_bench
    other = Serve(tmp_path / "other")
    with first.running(), other.running():
        second = first.start()
        assert second.wait(PATIENCE_S) == 1
        assert "already" in first.text()
        jobs = killed_once(bench, 2)
        for job_id in jobs:
            bench.ended(job_id, restarts=1)
        time.sleep(3)
        runs = [f"{one} {run}" for one in jobs for run in (0, 1)]
        assert sorted(bench.lines("ran")) == sorted(runs), "each ran twice, not three times"
