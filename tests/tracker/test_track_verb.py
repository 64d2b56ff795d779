from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from schedmate.cli._asking import PersonsAsker
from schedmate.cli._follow import Follower, looks
from schedmate.cli.track import command
from schedmate.model import BadInput, Progress
from schedmate.model.wire import from_json
from schedmate.testing.llm import says, serving
from schedmate.tracker import JobTracker

DATA = Path(__file__).parent / "data"
SOURCES = str(Path(__file__).parents[2] / "src")
RUN = [sys.executable, "-m", "schedmate", "track"]
ENV = {**os.environ, "PYTHONPATH": SOURCES, "NO_COLOR": "1"}


def track(*args: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*RUN, *args], input=stdin, env=ENV, capture_output=True, check=False)


@pytest.mark.processes
def test_one_object_a_log():
    logs = [str(DATA / "tqdm-initial.log"), str(DATA / "transformers.log")]
    done = track("--json", "--no-llm", *logs)
    seen = [from_json(Progress, json.loads(line)) for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert [progress.log for progress in seen] == logs
    assert [progress.total for progress in seen] == [5000, 24]


@pytest.mark.processes
def test_one_line_a_log_for_people():
    done = track(str(DATA / "tqdm-initial.log"))
    text = done.stdout.decode()
    assert text.count("\n") == 1
    assert "20%  1,010/5,000 steps" in text
    assert "\x1b" not in text


@pytest.mark.processes
def test_standard_input():
    done = track("-", "--json", stdin=b"step 3/4 loss 1\n")
    assert json.loads(done.stdout)["fraction"] == 0.75


@pytest.mark.processes
@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        (["/no/such.log"], 3, "there is no log /no/such.log"),
        (["/proc/self/fdinfo"], 3, "no log in"),
        (["--limit", "soon", "/dev/null"], 2, "is no time"),
        (["--like", "/no/such.log", "/dev/null"], 3, "there is no log"),
        (["--epochs", "0", "/dev/null"], 2, "--epochs"),
        (["--follow", "/no/such.log"], 3, "there is no log"),
        (["--follow", "-"], 2, "needs a file"),
        ([], 2, "LOG"),
    ],
)
def test_what_cannot_be_tracked(args: list[str], code: int, says: str):
    done = track(*args)
    assert done.returncode == code
    assert says in done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert done.stdout == b""


def seen_by(*args: str) -> list[dict[str, Any]]:
    done = CliRunner().invoke(command, ["--json", "--no-llm", *args])
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


def stamped(path: Path, steps: int, *, seconds: float = 10.0) -> str:
    """A log that counts steps of so many seconds and never says how many there will be."""
    begun = datetime(2026, 1, 5, 9, tzinfo=UTC)
    lines = (
        f"{begun + timedelta(seconds=seconds * step):%Y-%m-%d %H:%M:%S} step={step} loss=0.5\n"
        for step in range(1, steps + 1)
    )
    path.write_text("".join(lines))
    return str(path)


def test_a_directory_is_one_job(tmp_path: Path):
    (tmp_path / "rank_1.log").write_text("loading\n")
    (tmp_path / "rank_0.log").write_text("step 3/4 loss 1\n")
    (tmp_path / "model.bin").write_text("step 1/99\n")
    (seen,) = seen_by(str(tmp_path))
    assert (seen["log"], seen["current"], seen["total"]) == (str(tmp_path / "rank_0.log"), 3, 4)


def test_how_many_logs_were_read_together_is_shown(tmp_path: Path):
    for rank in range(3):
        (tmp_path / f"rank_{rank}.log").write_text("step 3/4 loss 1\n")
    done = CliRunner().invoke(command, ["--no-llm", str(tmp_path)])
    assert "rank_0.log  (of 3 logs)  training" in done.output


def test_all_logs_of_one_job_give_one_answer(tmp_path: Path):
    out, err = tmp_path / "job.out", tmp_path / "job.err"
    out.write_text("step 3/4 loss 1\n")
    err.write_text("Traceback (most recent call last):\n  File 'x'\nKeyError: 'x'\n")
    assert len(seen_by(str(out), str(err))) == 2
    (seen,) = seen_by("--job", str(out), str(err))
    assert (seen["phase"], seen["total"]) == ("failed", 4)


@pytest.mark.parametrize("option", ["--steps", "--total"])
def test_a_total_that_only_the_user_knows(tmp_path: Path, option: str):
    log = stamped(tmp_path / "train.log", 100)
    assert seen_by(log)[0]["total"] is None
    (seen,) = seen_by(option, "400", log)
    assert (seen["total"], seen["fraction"], seen["ends_by"]) == (400, 0.25, "total")
    assert seen["eta_s"]["p50"] == pytest.approx(3000, rel=0.02)


def test_epochs_that_only_the_user_knows(tmp_path: Path):
    log = tmp_path / "train.log"
    log.write_text("".join(f"epoch {n} done, loss 0.5\n" for n in range(1, 6)))
    (seen,) = seen_by("--epochs", "20", str(log))
    assert (seen["unit"], seen["total"]) == ("epoch", 20)


def test_the_limit_of_the_scheduler(tmp_path: Path):
    log = stamped(tmp_path / "train.log", 100)
    (seen,) = seen_by("--limit", "30m", "--steps", "400", log)
    assert seen["ends_by"] == "limit"
    assert seen["eta_s"]["p50"] == pytest.approx(800, abs=20)
    assert seen_by("--limit", "90", "--steps", "400", log)[0]["ends_by"] == "total"


def test_a_similar_run_tells_what_the_log_does_not(tmp_path: Path):
    earlier = stamped(tmp_path / "run.log", 400)
    log = stamped(tmp_path / "train.log", 100)
    (seen,) = seen_by("--like", earlier, log)
    assert seen["eta_s"]["p50"] == pytest.approx(3000, rel=0.05)


def test_a_run_that_says_nothing_is_like_no_other(tmp_path: Path):
    (tmp_path / "empty.log").write_text("")
    with pytest.raises(BadInput, match="does not show how its run went"):
        command.main(["--like", str(tmp_path / "empty.log"), "x"], standalone_mode=False)


@pytest.mark.processes
def test_a_compressed_log_is_followed_as_well(tmp_path: Path):
    log = tmp_path / "a.gz"
    log.write_bytes(gzip.compress(b"step 1/2 loss 1\nstep 2/2 loss 1\n"))
    done = track("--follow", "--interval", "0.05", "--json", str(log))
    assert json.loads(done.stdout.splitlines()[-1])["phase"] == "finished"


@pytest.mark.processes
def test_following_tells_changes_until_the_run_is_over(tmp_path: Path):
    log = tmp_path / "train.log"
    log.write_text("step 1/3 loss 1\n")
    tailer = subprocess.Popen(
        [*RUN, "--follow", "--json", "--interval", "0.05", str(log)],
        env=ENV,
        stdout=subprocess.PIPE,
    )
    assert tailer.stdout is not None
    seen = [json.loads(tailer.stdout.readline())]
    for step in (2, 3):
        with log.open("a") as file:
            file.write(f"step {step}/3 loss 1\n")
        seen.append(json.loads(tailer.stdout.readline()))
    assert [one["current"] for one in seen] == [1, 2, 3]
    assert seen[-1]["phase"] == "finished"
    assert tailer.wait(60) == 0
    tailer.stdout.close()


@pytest.mark.processes
def test_following_waits_for_a_log_that_is_not_there_yet(tmp_path: Path):
    log = tmp_path / "train.log"
    tailer = subprocess.Popen(
        [*RUN, "--follow", "--json", "--interval", "0.05", str(log)],
        env=ENV,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert tailer.stdout is not None
    assert tailer.stderr is not None
    assert tailer.stderr.readline() == f"waiting for {log}\n".encode()
    log.write_text("step 1/2 loss 1\nstep 2/2 loss 1\n")
    output, _ = tailer.communicate(timeout=60)
    assert json.loads(output.splitlines()[-1])["phase"] == "finished"
    assert tailer.returncode == 0


@pytest.mark.processes
@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_following_quietly(tmp_path: Path):
    log = tmp_path / "train.log"
    log.write_text("step 1/3 loss 1\n")
    tailer = subprocess.Popen(
        [*RUN, "--follow", str(log)], env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert tailer.stdout is not None
    assert b"training" in tailer.stdout.readline()
    time.sleep(0.1)
    tailer.send_signal(signal.SIGINT)
    _, talk = tailer.communicate(timeout=60)
    assert tailer.returncode == 0
    assert talk == b""


OPEN_LINES = "".join(f"did {n} foo 512 bar 900 err {9 / n:.3f}\n" for n in range(1, 40))
"""Nobody but a reader can tell which of the constants is the total."""


@pytest.fixture
def own_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCHEDMATE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")


@pytest.mark.processes
@pytest.mark.usefixtures("own_directories")
def test_a_model_is_asked_once_about_what_behaviour_leaves_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    log = tmp_path / "odd.log"
    log.write_text(OPEN_LINES)
    with serving(says({"done": "39", "total": "512"})) as server:
        monkeypatch.setenv("SCHEDMATE_LLM__BASE_URL", server.base_url)
        monkeypatch.setenv("SCHEDMATE_LLM__MODEL", "small")
        (unasked,) = seen_by(str(log))
        assert (unasked["cost"]["llm_calls"], server.requests) == (0, [])
        done = CliRunner().invoke(command, ["--json", str(log)])
        seen = json.loads(done.stdout)
        assert (seen["current"], seen["total"], seen["cost"]["llm_calls"]) == (39, 512, 1)
        assert seen["confidence"] <= 0.5
        again = json.loads(CliRunner().invoke(command, ["--json", str(log)]).stdout)
        assert (again["total"], again["cost"]["llm_calls"]) == (512, 0)
        assert len(server.requests) == 1


@pytest.mark.usefixtures("own_directories")
def test_a_model_that_is_not_there_takes_nothing_away(tmp_path: Path):
    log = tmp_path / "odd.log"
    log.write_text(OPEN_LINES)
    done = CliRunner().invoke(command, ["--json", str(log)])
    assert (done.exit_code, json.loads(done.stdout)["current"]) == (0, 39)


@pytest.mark.processes
@pytest.mark.usefixtures("own_directories")
def test_following_asks_beside_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    log = tmp_path / "odd.log"
    log.write_text(OPEN_LINES)
    with serving(says({"done": "39", "total": "512"})) as server:
        monkeypatch.setenv("SCHEDMATE_LLM__BASE_URL", server.base_url)
        monkeypatch.setenv("SCHEDMATE_LLM__MODEL", "small")
        tailer = Follower([log], JobTracker([log]))
        with closing(looks([tailer], 0.05, PersonsAsker())) as seen:
            looked = [one.progress for look in islice(seen, 60) for one in look]
    answered = [one for one in looked if one.cost.llm_calls]
    assert answered
    assert answered[-1].total == 512
    assert len(server.requests) == 1
