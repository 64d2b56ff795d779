"""What sbatch refuses as a script is refused wherever one is named, and leaves nothing behind."""

from __future__ import annotations

import os
import random
import sys
from contextlib import closing
from pathlib import Path

import pytest

from schedmate import config
from schedmate.cli import main
from schedmate.model import BadInput
from schedmate.model.batch_script import check_batch_script
from schedmate.service.usecases.submission import submission_of
from schedmate.service.usecases.submit_command import prepare
from schedmate.service.wiring import open_scheduler, open_store

REFUSED = {
    "empty": b"",
    "blank": b" \n\n",
    "noise": random.Random(1).randbytes(4000),
    "plain": b"python train.py\n",
    "nul": b"#!/bin/bash\necho a\0b\n",
    "dos": b"#!/bin/bash\r\npython train.py\r\n",
    "program": Path("/bin/true").read_bytes(),
    "marked": b"\xef\xbb\xbf#!/bin/bash\ntrue\n",
    "empty.py": b"",
    "nul.py": b"print(1)\0\n",
}
refused = pytest.mark.parametrize("name", REFUSED)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("SCHEDMATE_SCHEDULER", "local")
    monkeypatch.chdir(tmp_path)
    for name, data in REFUSED.items():
        (tmp_path / name).write_bytes(data)
        (tmp_path / name).chmod(0o755)
    return tmp_path


def call(*words):
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    return ended.value.code


@refused
@pytest.mark.parametrize("verb", ["advise", "submit"])
def test_it_is_refused_in_one_sentence(place, capsys, verb, name):
    code = call(verb, name)

    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert err.startswith("schedmate: ")
    assert err.count("\n") == 1
    assert name in err


@refused
def test_nothing_is_queued_nor_remembered(place, name):
    call("submit", name)

    settings = config.load()
    assert open_scheduler(settings).jobs() == []
    if settings.database.is_file():
        with closing(open_store(settings)) as store:
            assert list(store.recent_runs(limit=1)) == []


@pytest.mark.parametrize(
    "data", [data for name, data in REFUSED.items() if not name.endswith(".py")]
)
def test_the_check_is_the_same_for_a_text(data):
    with pytest.raises(BadInput):
        check_batch_script("the script", data)


def test_what_sbatch_takes_is_taken():
    check_batch_script("job.sh", b"#!/bin/bash\npython train.py\n")
    check_batch_script("job.sh", b"#! /usr/bin/env python3\nprint('a\rb')\n")


def test_an_interpreter_is_a_command(place, capsys):
    python = os.path.realpath(sys.executable)
    (place / "train.py").write_text("for epoch in range(7):\n    print(epoch)\n")

    code = call("advise", "--no-llm", "--json", python, "train.py")

    assert code == 0
    assert '"epochs": {"value": 7' in capsys.readouterr().out
    submission = submission_of(config.load(), [python, "train.py"])
    assert (submission.command, submission.script) == ((python, "train.py"), None)


def test_on_slurm_an_interpreter_is_a_command_and_sbatch_refuses_the_rest(place):
    python = os.path.realpath(sys.executable)

    as_command = prepare([python, "train.py"])
    left_to_sbatch = prepare(["./program"])

    assert as_command.stdin == f"#!/bin/bash\nexec {python} train.py\n".encode()
    assert (left_to_sbatch.words, left_to_sbatch.stdin) == (("./program",), None)
    with pytest.raises(BadInput, match="is empty"):
        prepare(["empty.py"])


def test_job_files_and_python_files_need_no_interpreter_line(place, capsys):
    (place / "Makefile").write_text("train:\n\tpython train.py --epochs 3\n")
    (place / "train.py").write_text("for epoch in range(7):\n    print(epoch)\n")

    assert call("advise", "--no-llm", "Makefile") == 0
    assert call("advise", "--no-llm", "train.py") == 0
