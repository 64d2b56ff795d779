"""What `track` shows to those who watch a run: curves, its end, why it failed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from schedmate.cli._follow import Follower
from schedmate.cli._followed_job import JobFollower
from schedmate.cli._look import Look
from schedmate.cli.track import command
from schedmate.logs.writers import WriterWatch
from schedmate.model import JobState, NotFound
from schedmate.service.visibility import Viewer
from schedmate.service.wiring import open_store
from schedmate.tracker import JobTracker
from schedulers.local_site import wait_for
from service.place import Place

SOURCES = str(Path(__file__).parents[2] / "src")
RUN = [sys.executable, "-m", "schedmate", "track"]
ENV = {**os.environ, "PYTHONPATH": SOURCES, "NO_COLOR": "1"}


COURSE = "".join(
    f"2026-01-05 09:{step // 6:02d}:{step % 6}0 step={step}/60 loss={2 - step / 40:.3f}\n"
    for step in range(1, 40)
)


class TestPlot:
    def test_loss_and_speed(self, tmp_path: Path):
        (tmp_path / "train.log").write_text(COURSE)
        done = CliRunner().invoke(command, ["--no-llm", "--plot", str(tmp_path / "train.log")])
        lines = done.output.splitlines()
        assert [line.strip() for line in lines if line.strip() in ("loss", "steps a second")] == [
            "loss",
            "steps a second",
        ]
        assert any("1.975" in line and "\u2809" in line for line in lines)
        assert lines[8].split() == ["0.0s", "00:06:20"]

    @pytest.mark.processes
    def test_letters_where_there_is_nothing_else(self, tmp_path: Path):
        (tmp_path / "train.log").write_text(COURSE)
        env = {**ENV, "PYTHONIOENCODING": "ascii"}
        done = subprocess.run(
            [*RUN, "--no-llm", "--plot", str(tmp_path / "train.log")],
            env=env,
            capture_output=True,
            check=True,
        )
        assert done.stdout.isascii()
        assert b"|*" in done.stdout

    def test_json_stays_as_it_is(self, tmp_path: Path):
        (tmp_path / "train.log").write_text(COURSE)
        done = CliRunner().invoke(command, ["--json", "--plot", str(tmp_path / "train.log")])
        assert json.loads(done.output)["current"] == 39

    def test_phases_follow_each_other(self, tmp_path: Path):
        phases = [
            f"step {i}/{length} loss={3 / i:.3f}\n"
            for length in (400, 60)
            for i in range(10, length + 1, 10)
        ]
        (tmp_path / "train.log").write_text("".join(phases))
        done = CliRunner().invoke(command, ["--no-llm", "--plot", str(tmp_path / "train.log")])
        lines = done.output.splitlines()
        assert lines[8].split() == ["10", "460"]
        assert sum(cell not in " \u2800" for cell in lines[7].partition("\u2524")[2]) > 20

    def test_a_log_without_a_loss(self, tmp_path: Path):
        (tmp_path / "train.log").write_text("step 1/9\nstep 2/9\n")
        done = CliRunner().invoke(command, ["--no-llm", "--plot", str(tmp_path / "train.log")])
        assert "nothing to plot" in done.output


FAILED = "step 1/9 loss 1\nTraceback (most recent call last):\nRuntimeError: CUDA out of memory.\n"


def test_a_failed_run_shows_why_and_where_to_learn_more(tmp_path: Path):
    log = tmp_path / "train.log"
    log.write_text(FAILED)
    done = CliRunner().invoke(command, ["--no-llm", str(log)])
    line, reason = done.output.splitlines()
    assert "failed" in line
    assert reason.startswith("  gpu_oom: ")
    assert reason.endswith(f"(more: schedmate diagnose {log})")
    assert done.exit_code == 0, "the question was answered"


def test_following_a_run_that_fails_ends_with_1(tmp_path: Path):
    log = tmp_path / "train.log"
    log.write_text(FAILED)
    os.utime(log, (1e9, 1e9))
    asked = ["--no-llm", "--follow", "--interval", "0.05", str(log)]
    done = CliRunner().invoke(command, asked, standalone_mode=False)
    assert done.return_value == 1
    assert "gpu_oom" in done.output


SILENT_END = (
    "for epoch in range(1, 9):\n"
    "    print(f'epoch {epoch} loss {1 / epoch:.3f}', flush=True)\n"
    "input()\n"
)


@pytest.mark.processes
def test_the_end_of_the_process_is_the_end_of_the_run(tmp_path: Path):
    log = tmp_path / "train.log"
    with log.open("w") as stdout:
        run = subprocess.Popen(
            [sys.executable, "-c", SILENT_END], stdout=stdout, stdin=subprocess.PIPE
        )
    wait_for(lambda: "epoch 8" in log.read_text(), "the last epoch")
    tailer = subprocess.Popen(
        [*RUN, "--follow", "--no-llm", "--json", "--interval", "0.05", str(log)],
        env=ENV,
        stdout=subprocess.PIPE,
    )
    assert tailer.stdout is not None
    seen = [json.loads(tailer.stdout.readline())]
    run.communicate(b"\n")
    output, _ = tailer.communicate(timeout=240)
    seen += [json.loads(line) for line in output.splitlines()]
    assert [seen[0]["phase"], seen[-1]["phase"]] == ["training", "unknown"]
    assert seen[-1]["current"] == 8
    assert seen[-1]["note"] == "its process has ended; how is unknown"


@pytest.mark.parametrize(
    ("last", "phase", "note"),
    [
        ("", "unknown", "its process has ended; how is unknown"),
        ("wrote solution.vtk\n", "finished", ""),
    ],
)
@pytest.mark.processes
def test_how_a_log_without_a_total_ended_is_known_by_its_last_word(
    tmp_path: Path, last: str, phase: str, note: str
):
    log = tmp_path / "train.log"
    log.write_text("".join(f"iter {i * 10} err {1 / i:.5f}\n" for i in range(1, 90)) + last)
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    watch = WriterWatch(log, pids=frozenset({ended.pid}), gone_at=0.0)
    follower = Follower([log], JobTracker([log]), watches=[watch])
    look = follower.look(log.stat().st_mtime + 1)
    assert look.over
    assert (look.progress.phase, look.progress.note) == (phase, note)


def test_a_log_that_goes_on_after_its_count_is_followed(tmp_path: Path):
    """Where its writer is not seen, silence shows that nothing follows."""
    log = tmp_path / "train.log"
    log.write_text("".join(f"step {step}/9 loss 1\n" for step in range(1, 10)))
    follower = Follower([log], JobTracker([log]))
    written = log.stat().st_mtime
    seen = follower.look(written + 1)
    assert (seen.progress.phase, seen.over) == ("finished", False)
    with log.open("a") as file:
        file.write("".join(f"step {step}/30 loss 1\n" for step in range(1, 21)))
    written = log.stat().st_mtime
    seen = follower.look(written + 1)
    assert (seen.progress.phase, seen.over) == ("training", False)
    with log.open("a") as file:
        file.write("".join(f"step {step}/30 loss 1\n" for step in range(21, 31)))
    written = log.stat().st_mtime
    assert not follower.look(written + 1).over
    seen = follower.look(written + 601)
    assert (seen.progress.phase, seen.over) == ("finished", True)


def test_a_survived_error_does_not_end_following(tmp_path: Path):
    log = tmp_path / "train.log"
    log.write_text(FAILED)
    follower = Follower([log], JobTracker([log]))
    assert not follower.look(log.stat().st_mtime + 1).over
    with log.open("a") as file:
        file.write("retrying\nstep 2/9 loss 1\n")
    seen = follower.look(log.stat().st_mtime + 1)
    assert (seen.progress.phase, seen.over) == ("training", False)


HOLDS_IT_OPEN = "import sys; f = open(sys.argv[1], 'a'); print(1, flush=True); input()"


def phase_of(log: Path) -> str:
    done = CliRunner().invoke(command, ["--no-llm", "--json", str(log)])
    phase: str = json.loads(done.output)["phase"]
    return phase


@pytest.mark.processes
def test_what_is_complete_is_not_finished_while_its_process_writes(tmp_path: Path):
    log = tmp_path / "train.log"
    log.write_text("step 1/2 loss 1\nstep 2/2 loss 1\n")
    os.utime(log, (1e9, 1e9))
    assert phase_of(log) == "finished"
    writer = subprocess.Popen(
        [sys.executable, "-c", HOLDS_IT_OPEN, str(log)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert writer.stdout is not None
    writer.stdout.readline()
    assert phase_of(log) == "training"
    writer.communicate(b"\n")


@pytest.mark.processes
class TestJobNumbers:
    def test_a_number_that_names_nothing(self, tmp_path: Path):
        place = Place(tmp_path)
        follower = JobFollower("4711", place.scheduler, open_store(place.settings), OPERATOR)
        with pytest.raises(NotFound, match="there is no log 4711, and local knows no such job"):
            follower.look(time.time())

    def test_a_queued_job_is_followed_into_its_run(self, tmp_path: Path):
        place = Place(tmp_path)
        gate = tmp_path / "gate"
        for _ in range(2):  # one for each slot
            blocker = place.submit(f"until [ -e {gate} ]; do sleep 0.05; done")
            wait_for(lambda job=blocker: place.job(job).state is JobState.RUNNING, "a blocker")
        job = place.submit("for i in 1 2 3; do echo step $i/3 loss 1; sleep 0.2; done; exit 3")
        follower = JobFollower(job, place.scheduler, open_store(place.settings), OPERATOR)
        queued = follower.look(time.time())
        assert (queued.over, queued.progress.phase) == (False, "unknown")
        assert "waits in the queue" in queued.progress.note
        gate.touch()
        seen = looked_until_over(follower)
        assert (seen.progress.phase, seen.progress.current) == ("failed", 3)
        assert seen.failure.endswith(f"(more: schedmate job {job})")


OPERATOR = Viewer(user="", operator=True)


def looked_until_over(follower: JobFollower) -> Look:
    until = time.monotonic() + 120
    while time.monotonic() < until:
        seen = follower.look(time.time())
        if seen.over:
            return seen
        assert seen.progress.phase not in ("finished", "failed")
        time.sleep(0.1)
    raise AssertionError("it did not end")
