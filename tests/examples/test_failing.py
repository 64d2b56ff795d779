"""The examples that end badly, each in its own way, and what the handler says of them."""

import re
import time
from pathlib import Path

import pytest

from schedmate.handler import Case, Handler
from schedmate.model import JobState
from schedmate.tracker import track_file

pytestmark = pytest.mark.processes


def diagnosis(ran):
    case = Case(logs=(ran.log,), state=JobState.FAILED, exit_code=ran.exit_code)
    return Handler().diagnose(case)


def test_a_wrong_shape_is_named_and_shown_where_it_happened(run):
    ran = run("wrong_shape.py", "--hidden", "48")
    assert ran.exit_code == 1
    assert "(size 96 is different from 48)" in ran.text
    assert len(re.findall(r'^  File ".*wrong_shape.py", line', ran.text, re.MULTILINE)) >= 4
    found = diagnosis(ran)
    assert (found.reason, found.category, found.decision.retry) == ("shape_mismatch", "user", "no")
    assert any("matmul: Input operand 1" in line.text for line in found.evidence)


def test_an_odd_failure_leaves_no_traceback_to_go_by(run):
    ran = run("odd_failure.py", "--passes", "20")
    assert ran.exit_code == 1
    assert ran.text.splitlines()[-2:] == [
        "[shards] record 371 of shard 3 is cut short: 512 bytes announced, 128 found",
        "[shards] giving up",
    ]
    assert "Traceback" not in ran.text
    assert diagnosis(ran).reason in ("unknown", "data_error")


def test_a_killed_job_goes_on_from_its_checkpoint_and_ends_as_if_nothing_happened(run, tmp_path):
    words = ("--steps", "14", "--checkpoint-every", "4", "--killed-at", "10")
    killed = run("resumable.py", *words)
    assert killed.exit_code == -9
    assert diagnosis(killed).reason == "killed"
    assert track_file(killed.log).checkpoint.step == 8

    resumed = run("resumable.py", *words, log="again.log", SCHEDMATE_RESTART_COUNT="1")
    assert resumed.exit_code == 0
    assert resumed.text.startswith("resumed from checkpoint checkpoints/step-8.npz\nstep=10/14 ")
    assert track_file(resumed.log).fraction == 1

    elsewhere = ("--checkpoint-dir", "elsewhere")
    whole = run("resumable.py", *words, *elsewhere, log="whole.log", SLURM_RESTART_COUNT="1")
    assert whole.text.splitlines()[-1] == resumed.text.splitlines()[-1]


def test_a_hanging_job_falls_silent_without_ending_or_computing(start):
    process, log = start("hanging.py")
    deadline = time.monotonic() + 300
    while "step=576/720 " not in log.read_text() or not idles_for_a_second(process):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert process.poll() is None
    progress = track_file(log)
    assert (progress.current, progress.total) == (576, 720)


def idles_for_a_second(process):
    before = cpu_ticks(process.pid)
    time.sleep(1)
    return cpu_ticks(process.pid) == before


def cpu_ticks(pid):
    """What the process has used so far, in user mode and in the kernel."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
