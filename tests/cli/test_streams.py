"""Any terminal, any name, any end of the stream: no traceback, and the right exit code."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.processes

SOURCES = str(Path(__file__).parents[2] / "src")
SCHEDMATE = [sys.executable, "-m", "schedmate"]
HELD = ["env", "--block-signal=INT"]
"""As `./schedmate` starts it: Python's own start is slow on a busy machine."""
ODD = os.fsdecode(b"b\xe9d")
TERMINALS = {
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "latin-1": {"PYTHONIOENCODING": "latin-1"},
    "C": {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    "utf-8": {"PYTHONIOENCODING": "utf-8"},
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place = tmp_path_factory.mktemp("streams")
    (place / "naïve ✓.log").write_text('epoch 1/3 loss 1.0 😀\nKeyError: "ü—✓"\n')
    (place / f"{ODD}.log").write_bytes(b'epoch 1/3 loss 1.0\nKeyError: "\xff\xfe"\n')
    (place / f"{ODD}.sh").write_text("#!/bin/sh\ntrue\n")
    (place / f"{ODD}.csv").write_text("job_id,user,submit_time,duration,gpus\na,ann,0,9,1\n")
    return place


def environment(place, **more):
    settings = {
        "PYTHONPATH": SOURCES,
        "SCHEDMATE_STATE_DIR": str(place / "state"),
        "SCHEDMATE_CONFIG": "/dev/null",
        "SCHEDMATE_SCHEDULER": "local",
    }
    return {**os.environ, **settings, **more}


def call(place, *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more):
    return subprocess.run(
        [*SCHEDMATE, *words],
        cwd=place,
        env=environment(place, **more),
        stdout=stdout,
        stderr=stderr,
        stdin=subprocess.DEVNULL,
        check=False,
    )


@pytest.mark.parametrize("terminal", TERMINALS)
@pytest.mark.parametrize("log", ["naïve ✓.log", f"{ODD}.log"], ids=["text", "bytes"])
def test_every_terminal_shows_every_text(place, terminal, log):
    words = ("diagnose", log, "--exit-code", "1", "--no-llm")

    shown, data = (call(place, *words, *more, **TERMINALS[terminal]) for more in ((), ("--json",)))

    for done in (shown, data):
        assert (done.returncode, done.stderr) == (0, b"")
    assert b"key_error" in shown.stdout
    encoding = TERMINALS[terminal].get("PYTHONIOENCODING", "ascii")
    found = json.loads(data.stdout.decode(encoding))
    assert found["reason"] == "key_error"
    if log.startswith("naïve"):
        assert found["evidence"][0]["text"] == 'KeyError: "ü—✓"'


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("track", f"{ODD}.log"), 0),
        (("simulate", f"{ODD}.csv", "--policy", "fifo", "--report", f"{ODD}.html"), 0),
        (("history", "import", f"{ODD}.csv"), 0),
        (("history", "list", "-u", ODD), 0),
        (("advise", "--no-llm", f"{ODD}.sh"), 0),
        (("submit", f"{ODD}.sh"), 2),
        (("why", ODD), 3),
        (("diagnose", f"no{ODD}"), 3),
        ((ODD,), 2),
    ],
    ids=lambda value: (
        " ".join(value).encode(errors="replace").decode() if isinstance(value, tuple) else ""
    ),
)
def test_a_name_that_is_no_text_is_answered_in_words(place, words, code):
    done = call(place, *words)

    assert b"Traceback" not in done.stderr
    assert done.returncode == code, done.stderr


PRINTING = [("--help",), ("jobs", "--help"), ("--version",), ("model", "status"), ("man", "jobs")]
printing = pytest.mark.parametrize("words", PRINTING, ids=" ".join)


@printing
def test_a_full_disk_is_a_sentence(place, words):
    with Path("/dev/full").open("wb") as full:
        done = call(place, *words, stdout=full)

    assert done.returncode == 1
    assert done.stderr == (
        b"schedmate: what is printed cannot be written: no space left on device\n"
    )


@printing
def test_a_reader_that_has_gone_is_no_failure(place, words):
    read, write = os.pipe()
    os.close(read)
    try:
        done = call(place, *words, stdout=write)
    finally:
        os.close(write)

    assert (done.returncode, done.stderr) == (0, b"")


def test_talk_that_cannot_be_written_changes_no_exit_code(place):
    with Path("/dev/full").open("wb") as full:
        assert call(place, "diagnose", "missing.log", stderr=full).returncode == 3


def test_closed_streams_get_no_file_of_ours(place):
    """A database that became the standard output would be written over."""
    line = f"{sys.executable} -m schedmate jobs <&- >&- 2>&-"
    done = subprocess.run(["sh", "-c", line], cwd=place, env=environment(place), check=False)

    assert done.returncode == 0


@pytest.mark.parametrize("verb", [("jobs",), ("simulate", "synthetic", "--jobs", "50")])
def test_ctrl_c_at_any_moment_ends_it_without_a_traceback(place, verb):
    chance = random.Random(len(verb))
    for _ in range(6):
        started = subprocess.Popen(
            [*HELD, *SCHEDMATE, *verb],
            cwd=place,
            env=environment(place),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        time.sleep(chance.uniform(0.0, 0.8))
        started.send_signal(signal.SIGINT)
        err = started.communicate()[1]

        assert started.returncode in (0, 130, -signal.SIGINT), err
        assert b"Traceback" not in err
        assert b"Exception ignored" not in err


def test_ctrl_c_before_python_can_handle_it_ends_it_without_a_word(place):
    line = f"kill -INT $$; exec {' '.join(SCHEDMATE)} doctor"
    done = subprocess.run(
        [*HELD, "sh", "-c", line],
        cwd=place, env=environment(place), capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")


def test_the_clones_program_holds_ctrl_c_until_then(tmp_path):
    root = Path(__file__).parents[2]
    for name, text in {
        "schedmate": (root / "schedmate").read_text(),
        "scripts/make-env": "#!/bin/sh\n",
        ".venv/bin/python": "#!/bin/sh\nexec grep SigBlk /proc/self/status\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    shown = subprocess.run([tmp_path / "schedmate"], capture_output=True, check=True).stdout
    assert int(shown.split()[1], 16) & 1 << signal.SIGINT - 1


def test_ctrl_c_that_is_ignored_stays_ignored(place):
    """As in the background of a script."""
    code = (
        "import os, signal, subprocess, sys; signal.signal(signal.SIGINT, signal.SIG_IGN);"
        "p = subprocess.Popen([sys.executable, '-m', 'schedmate', 'doctor'],"
        " stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL);"
        "import time; time.sleep(0.3); p.send_signal(signal.SIGINT); sys.exit(p.wait())"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment(place), check=False)

    assert done.returncode in (0, 1)
