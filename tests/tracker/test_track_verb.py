from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from schedmate.model import Progress
from schedmate.model.wire import from_json

DATA = Path(__file__).parent / "data"
SOURCES = str(Path(__file__).parents[2] / "src")
RUN = [sys.executable, "-m", "schedmate", "track"]
ENV = {**os.environ, "PYTHONPATH": SOURCES, "NO_COLOR": "1"}


def track(*args: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*RUN, *args], input=stdin, env=ENV, capture_output=True, check=False)


def test_one_object_a_log():
    logs = [str(DATA / "tqdm-initial.log"), str(DATA / "transformers.log")]
    done = track("--json", "--no-llm", *logs)
    seen = [from_json(Progress, json.loads(line)) for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert [progress.log for progress in seen] == logs
    assert [progress.total for progress in seen] == [5000, 24]


def test_one_line_a_log_for_people():
    done = track(str(DATA / "tqdm-initial.log"))
    text = done.stdout.decode()
    assert text.count("\n") == 1
    assert "20%  1,010/5,000 steps" in text
    assert "\x1b" not in text


def test_standard_input():
    done = track("-", "--json", stdin=b"step 3/4 loss 1\n")
    assert json.loads(done.stdout)["fraction"] == 0.75


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        (["/no/such.log"], 3, "there is no log /no/such.log"),
        (["/"], 2, "is a directory"),
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


def test_a_compressed_log_is_not_followed(tmp_path: Path):
    log = tmp_path / "a.gz"
    log.write_bytes(b"\x1f\x8b")
    assert track("--follow", str(log)).returncode == 2


def test_following_tells_changes_until_the_run_is_over(tmp_path: Path):
    log = tmp_path / "train.log"
    log.write_text("step 1/3 loss 1\n")
    follower = subprocess.Popen(
        [*RUN, "--follow", "--json", "--interval", "0.05", str(log)],
        env=ENV,
        stdout=subprocess.PIPE,
    )
    assert follower.stdout is not None
    seen = [json.loads(follower.stdout.readline())]
    for step in (2, 3):
        with log.open("a") as file:
            file.write(f"step {step}/3 loss 1\n")
        seen.append(json.loads(follower.stdout.readline()))
    assert [one["current"] for one in seen] == [1, 2, 3]
    assert seen[-1]["phase"] == "finished"
    assert follower.wait(10) == 0
    follower.stdout.close()


def test_ctrl_c_ends_following_quietly(tmp_path: Path):
    log = tmp_path / "train.log"
    log.write_text("step 1/3 loss 1\n")
    follower = subprocess.Popen(
        [*RUN, "--follow", str(log)], env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert follower.stdout is not None
    assert b"training" in follower.stdout.readline()
    time.sleep(0.1)
    follower.send_signal(signal.SIGINT)
    _, talk = follower.communicate(timeout=10)
    assert follower.returncode == 0
    assert talk == b""
