"""A store as a trace: what ran, what was read of it, and how it really went."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from schedmate.cli import root
from schedmate.model import (
    BadInput,
    Finding,
    Fingerprint,
    Job,
    JobState,
    PastRun,
    Request,
    Workload,
)
from schedmate.simulator import read_trace
from schedmate.simulator.sweeps import SimulationTask, run_tasks
from schedmate.store.sqlite import SqliteStore

LENGTHS = (1, 30, 4, 90, 2, 60, 10, 45, 3, 75)


def a_run(number, *, gpus=1, waited=50.0, **changed):
    """Its epochs decide how long it takes; every one comes to a queue that is never empty."""
    epochs = LENGTHS[number * 7 % 10]
    submitted = 1000.0 * number
    job = {
        "id": str(number),
        "name": "train",
        "user": "ann",
        "state": JobState.COMPLETED,
        "workdir": "/home/ann",
        "request": Request(gpus=gpus, partition="gpu", time_limit_s=36_000.0),
        "submit_time": submitted,
        "start_time": submitted + waited,
        "end_time": submitted + waited + 100.0 * epochs,
    }
    return PastRun(
        job=Job(**(job | changed)),
        fingerprint=Fingerprint(code="c0de", arguments=str(epochs)),
        workload=Workload(epochs=Finding(value=float(epochs), source="cli", confidence=1.0)),
    )


@pytest.fixture
def kept(tmp_path):
    """A store with these runs, of these schedulers."""

    def keep(runs, scheduler="slurm"):
        with closing(SqliteStore(tmp_path / "schedmate.sqlite3", scheduler=scheduler)) as store:
            store.keep_runs(runs)
        return tmp_path / "schedmate.sqlite3"

    return keep


def test_runs_become_jobs_with_their_code_and_the_size_of_their_cluster(kept):
    path = kept(
        [
            a_run(0, gpus=2, start_time=50.0, end_time=500.0),
            a_run(1, gpus=3, start_time=1050.0, end_time=1500.0),
            a_run(2, gpus=4, submit_time=1100.0, start_time=1200.0, end_time=1300.0),
        ]
    )

    trace = read_trace(path)

    assert [job.job_id for job in trace.jobs] == ["slurm:0", "slurm:2", "slurm:1"]
    assert trace.gpus == 7  # the last two ran at once
    assert trace.runs["slurm:2"].fingerprint == Fingerprint(code="c0de", arguments="2")
    assert trace.jobs[0].start_time == 50.0
    assert trace.jobs[0].time_limit == 36_000.0


def test_ids_of_two_schedulers_and_attempts_of_one_job_are_jobs_of_their_own(kept):
    kept([a_run(1)], scheduler="local")
    path = kept([a_run(1), a_run(1, restarts=1)])

    assert {job.job_id for job in read_trace(path).jobs} == {"local:1", "slurm:1", "slurm:1#2"}


def test_runs_without_a_gpu_or_a_start_are_left_out_and_counted(kept):
    path = kept([a_run(0), a_run(1, gpus=0), a_run(2, start_time=None)])

    assert read_trace(path).left_out == {"ask for no GPU": 1, "never ran": 1}


def test_a_database_that_is_no_store_is_refused(tmp_path):
    path = tmp_path / "other.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE birds (name TEXT)")
        connection.commit()

    with pytest.raises(BadInput, match="no store that can be read"):
        read_trace(path)


def compared(path, *policies, **asked):
    [result] = run_tasks([SimulationTask(source=str(path), policies=policies, **asked)], workers=1)
    return result.compared


def test_real_waits_are_a_row_of_their_own(kept):
    path = kept([a_run(number, waited=60.0 + number) for number in range(4)])

    found = compared(path, "fifo")

    assert list(found.policies) == ["fifo", "as it was"]
    assert found.policies["as it was"].avg_queue_s == 61.5


def test_on_a_cluster_of_another_size_nothing_is_as_it_was(kept):
    path = kept([a_run(number) for number in range(4)])

    found = compared(path, "fifo", gpus=100)

    assert list(found.policies) == ["fifo"]
    assert not any("in use at once" in line for line in found.assumptions)
    as_it_was = compared(path, "fifo").assumptions
    assert any("as many GPUs as were in use at once" in line for line in as_it_was)


def test_only_code_is_claimed_to_be_real_where_limits_are_drawn(kept):
    path = kept([a_run(number, request=Request(gpus=1)) for number in range(4)])

    words = " ".join(compared(path, "easy", "easy+advisor").assumptions)

    assert "jobs without a time limit were given one" in words
    assert "no code is synthetic" in words
    assert "nothing is synthetic" not in words


def test_what_was_read_of_jobs_orders_them(kept):
    """Epochs decide durations, and one user has one name: only code tells jobs apart."""
    path = kept([replace(a_run(number)) for number in range(120)])

    found = compared(path, "sjf", "sjf+advisor", "sjf-oracle", gpus=3)

    by_history, by_code, by_truth = (each.avg_jct_s for each in found.policies.values())
    assert by_history - by_code > 0.5 * (by_history - by_truth)
    assert any("no code is synthetic" in line for line in found.assumptions)


@pytest.mark.parametrize("by_group", [False, True])
@pytest.mark.parametrize("read", [0, 7])
def test_of_how_many_jobs_the_code_was_read_is_counted(kept, read, by_group):
    partitions = [Request(gpus=1, partition="ab"[number % 2]) for number in range(20)]
    runs = [a_run(number, request=each) for number, each in enumerate(partitions)]
    path = kept([run if at < read else PastRun(job=run.job) for at, run in enumerate(runs)])

    found = compared(path, "fifo", "fifo+advisor", gpus=3, controls=True, by_group=by_group)

    public = found.as_json()
    (words,) = (line for line in found.assumptions if "code" in line)
    assert public["code_read"] == read
    assert f"{read} of 20 jobs" in words
    assert ("no code was read" in words) == (read == 0)
    assert ("semantic" in public["policies"]["fifo+advisor"]["controls"]) == (read > 0)
    assert "site_model" in public["policies"]["fifo+advisor"]["controls"]


def test_a_warning_says_what_to_do_where_no_code_was_read(kept):
    path = kept([PastRun(job=a_run(number).job) for number in range(6)])

    aided = CliRunner().invoke(root, ["simulate", f"store:{path}", "--policy", "fifo,fifo+advisor"])
    alone = CliRunner().invoke(root, ["simulate", f"store:{path}", "--policy", "fifo"])

    assert "no code was read" in aided.stderr
    assert "--scripts" in aided.stderr
    assert alone.stderr == ""


def test_assumptions_about_synthetic_code_are_refused_where_code_is_real(kept):
    path = kept([a_run(number) for number in range(6)])

    with pytest.raises(BadInput, match="synthetic code"):
        compared(path, "fifo", "fifo+advisor", assumed={"explained": 0.5})


def test_the_verb_knows_the_store_in_use(kept, tmp_path, monkeypatch):
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(tmp_path))
    run = CliRunner().invoke

    without = run(root, ["simulate", "store:"])
    path = kept([a_run(number) for number in range(6)])
    ours = run(root, ["simulate", "store:", "--policy", "easy"])
    named = run(root, ["simulate", f"store:{path}", "--policy", "easy"])

    assert "schedmate history import" in str(without.exception)
    assert ours.exit_code == named.exit_code == 0
    assert ours.output == named.output
    assert "as it was" in ours.output


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
@pytest.mark.processes
def test_another_account_cannot_simulate_from_a_store(kept):
    """Even where the file was opened to all on purpose."""
    folder = Path(tempfile.mkdtemp())
    path = Path(shutil.copy(kept([a_run(0)]), folder))
    folder.chmod(0o755)
    path.chmod(0o644)
    program = (
        "import os, sys; from pathlib import Path\n"
        "from schedmate.simulator.traces.store import StoreTrace\n"
        "os.setuid(65534)\n"
        "StoreTrace().read(Path(sys.argv[1]))"
    )

    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=False
    )

    shutil.rmtree(folder)
    assert "only its owner can simulate from it" in done.stderr
