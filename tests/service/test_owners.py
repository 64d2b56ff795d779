"""What tracker, handler and advisor do with files that a job's owner may not read."""

import os
import shutil
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from files.people import OTHER, OWNER, SECRET, give, needs_root
from schedmate.advisor import Advisor, Target
from schedmate.files import files_of
from schedmate.handler import Case, Handler
from schedmate.handler.learning import healthy_logs
from schedmate.model import Finding, JobState, Workload
from schedmate.service.records.log_files import logs_of
from schedmate.service.records.run_record import read_ended
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_job, a_past_run
from schedmate.testing.history import MemoryHistory
from schedmate.tracker import JobTracker

pytestmark = pytest.mark.processes

LEAK = "".join(f"step {n}/9 loss 0.5\n" for n in range(9)) + f"RuntimeError: {SECRET}\n"


@pytest.fixture
def home():
    """A directory of the owner, beside a file that only root may read."""
    top = Path(tempfile.mkdtemp(prefix="schedmate-owners-", dir="/tmp"))
    top.chmod(0o755)
    (top / "secret.log").write_text(LEAK)
    (top / "secret.log").chmod(0o600)
    (top / "home").mkdir()
    if os.geteuid() == 0:
        give(top / "home", OWNER, 0o755)
    yield top / "home"
    shutil.rmtree(top)


@pytest.fixture
def secret(home):
    return home.parent / "secret.log"


def test_a_failure_of_an_unknown_user_is_diagnosed_from_the_verdict(tmp_path):
    (tmp_path / "x.log").write_text(LEAK)
    log = (str(tmp_path / "x.log"),)
    for state, reason in ((JobState.TIMEOUT, "time_limit"), (JobState.FAILED, "unknown")):
        job = a_job(user="nobody-we-know", state=state, exit_code=1, logs=log)
        told = Handler().diagnose(Case.of_job(job))
        assert told.reason == reason
        assert told.summary.count("cannot be read as user nobody-we-know") == 1
        assert "does not know that user" in told.summary
        assert SECRET not in str(told)


def test_a_log_that_is_not_there_is_not_said_to_be_forbidden(tmp_path):
    job = a_job(state=JobState.FAILED, exit_code=1, logs=(str(tmp_path / "gone.log"),))
    assert "cannot be read as" not in Handler().diagnose(Case.of_job(job)).summary


@needs_root
def test_a_log_that_becomes_unreadable_is_noted_and_no_hang(home):
    log = home / "x.log"
    log.write_text("step 1/1000 loss 0.5\n")
    now = log.stat().st_mtime
    tracker = JobTracker([log], started_at=now - 1, reader=files_of(OWNER))
    for second in range(100):
        with log.open("a") as file:
            file.write(f"step {second + 2}/1000 loss 0.5\n")
        seen = tracker.poll(now + second)
    assert (seen.note, seen.current) == ("", 101)
    hung = JobTracker([log], started_at=now - 1, state=tracker.state())
    silent = [now + seconds for seconds in range(101, 6000, 5)]
    assert [hung.poll(at).phase for at in silent][-1] == "stalled"
    give(log, "root", 0o600)
    with log.open("a") as file:
        file.write(f"step 900/1000 {SECRET}\n")
    later = [tracker.poll(at) for at in silent]
    assert {one.current for one in later} == {101}
    assert {one.note for one in later} == {f"its log {log} cannot be read as user {OWNER}"}
    assert all(one.phase != "stalled" and not one.warnings for one in later)


@needs_root
def test_a_log_that_was_replaced_by_a_link_tells_nothing(home, secret):
    log = home / "x.log"
    log.write_text("step 1/1000 loss 0.5\n")
    tracker = JobTracker([log], started_at=0.0, reader=files_of(OWNER))
    assert tracker.poll(1e9).total == 1000
    log.rename(home / "x.log.1")
    log.symlink_to(secret)
    seen = tracker.poll(1e9 + 1)
    assert (seen.current, seen.total) == (1, 1000)
    assert "cannot be read" in seen.note
    assert SECRET not in tracker.state()


@needs_root
def test_rotated_copies_that_are_links_are_not_read(home, secret):
    log = home / "x.log"
    log.write_text("step 1/1000 loss 0.5\n")
    tracker = JobTracker([log], started_at=0.0, reader=files_of(OWNER))
    tracker.poll(1e9)
    (home / "x.log.1").symlink_to(secret)
    log.write_text("")  # truncated, as after a copy
    log.write_text("step 2/1000 loss 0.4\n")
    seen = tracker.poll(1e9 + 1)
    assert seen.total == 1000
    assert SECRET not in tracker.state() + str(seen)


@needs_root
def test_logs_that_the_code_names_and_runs_that_ended(home, secret):
    (home / "linked.log").symlink_to(secret)
    (home / "own.log").write_text(LEAK)
    give(home / "own.log", OWNER, 0o600)
    named = Finding(value=("linked.log", "own.log", "../secret.log", "%x.log"), source="code")
    workload = Workload(log_files=named)
    job = a_job(user=OWNER, name="../secret", workdir=str(home), state=JobState.COMPLETED)
    assert logs_of(job, workload) == (home / "own.log",)
    assert logs_of(replace(job, user=OTHER), workload) == ()
    forbidden = replace(job, logs=(str(secret),))
    assert read_ended(forbidden, Workload()).profile is None
    assert read_ended(replace(job, logs=(str(home / "own.log"),)), Workload()).profile is not None


@needs_root
def test_healthy_logs_are_those_that_their_owners_may_read(home, secret, tmp_path):
    (home / "ok.log").write_text("fine\n")
    (home / "linked.log").symlink_to(secret)
    with closing(SqliteStore(tmp_path / "store.sqlite3")) as store:
        for number, log in enumerate((home / "ok.log", home / "linked.log", secret)):
            job = a_job(id=str(number), user=OWNER, state=JobState.COMPLETED, logs=(str(log),))
            store.keep_run(replace(a_past_run(), job=job))
        found = {log.path for log in healthy_logs(store)}
    assert found == {home / "ok.log"}


@needs_root
def test_code_and_configs_are_read_as_the_owner(home):
    (home / "train.py").write_text("import argparse\nepochs = 7\nimport other\n")
    (home / "other.py").write_text(f"word = '{SECRET}'\nepochs = 3\n")
    (home / "other.py").chmod(0o600)
    (home / "linked.yaml").symlink_to(home.parent / "secret.log")
    target = Target(
        workdir=home,
        command=("job.sh",),
        script_text="python train.py --config linked.yaml\n",
        script_name="job.sh",
        user=OWNER,
        name="job",
    )
    memory = MemoryHistory()
    told = str(Advisor(memory, memory).advise(target))
    assert SECRET not in told
    assert "train.py" in told
    assert target.files.read(home / "train.py").text.startswith("import argparse")
    assert target.files.read(home / "other.py") is None
    assert target.files.read(home / "linked.yaml") is None
