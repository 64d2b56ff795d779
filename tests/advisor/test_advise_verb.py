"""`schedmate advise` as a person and as a script would call it."""

import json
import subprocess
from pathlib import Path

import pytest

from schedmate.advisor import Advisor, Target
from schedmate.cli import main
from schedmate.model import Advice, Workload
from schedmate.model.wire import from_json, to_json
from schedmate.testing.history import MemoryHistory

PROJECT = Path(__file__).parent / "projects" / "argparse_net"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("SCHEDMATE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")

    def call(*words):
        with pytest.raises(SystemExit) as ended:
            main(["advise", *map(str, words)])
        out, err = capsys.readouterr()
        return subprocess.CompletedProcess(words, ended.value.code, out, err)

    return call


def advice_of(result):
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_json_has_every_field_and_is_an_advice(run):
    data = advice_of(run("--dir", PROJECT, "--json", "job.sh", "30"))
    assert set(data["workload"]) == set(Workload.__slots__)
    assert data["workload"]["epochs"]["value"] == 30
    assert data["workload"]["vocab_size"] is None
    assert to_json(from_json(Advice, data)) == data


@pytest.mark.parametrize(
    ("words", "epochs"),
    [
        (["--json", "--no-llm", "train.py", "--epochs", "3"], 3),
        (["train.py", "--epochs", "3", "--json"], 3),
        (["--json", "--", "python", "train.py", "--epochs=4"], 4),
        (["--json", "--", "bash", "-c", "python train.py -e 5"], 5),
        (["--json", "--", "python", "train.py", "--dir", "x", "-h"], 20),
    ],
)
def test_script_and_command(run, words, epochs):
    data = advice_of(run("--dir", PROJECT, *words))
    assert data["workload"]["epochs"]["value"] == epochs


def test_people_get_values_with_their_places_and_a_sentence(run):
    result = run("--dir", PROJECT, "job.sh")
    assert "epochs            90" in result.stdout
    assert "job.sh:7" in result.stdout
    assert "How long it takes is not known: no past run resembles it." in result.stdout
    assert "\x1b" not in result.stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["nope.sh"], (3, "there is no script")),
        (["python", "train.py"], (3, "write: -- python")),
        (["--dir", "/no/such/place", "x.sh"], (3, "there is no directory")),
        (["--dir", "train.py", "x.sh"], (2, "is not a directory")),
        (["."], (2, "is a directory")),
        (["binary"], (2, "is a program, not a batch script")),
        (["huge"], (2, "is a binary file")),
        (["large.sh"], (2, "at most 1 MB")),
        (["loop"], (3, "there is no script")),
        (["x" * 300], (2, "cannot be opened")),
        ([], (2, "Missing argument")),
        (["--json", "--"], (2, "Missing argument")),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(run, tmp_path, monkeypatch, words, expected):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("")
    (tmp_path / "binary").write_bytes(b"\x7fELF\x00\x01")
    (tmp_path / "loop").symlink_to("loop")
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(50_000_000)
    (tmp_path / "large.sh").write_text("#!/bin/sh\n" + "true\n" * 300_000)
    code, sentence = expected
    result = run(*words)
    assert result.returncode == code
    assert sentence in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr


def test_a_missing_entry_point_is_advice_not_a_failure(run, tmp_path):
    result = run("--dir", tmp_path, "--", "python", "nope.py")
    assert result.returncode == 0
    assert "error: nope.py is not there" in result.stdout


def test_a_job_of_which_nothing_is_known_is_not_found(run, tmp_path):
    (tmp_path / "job.sh").write_text("#!/bin/sh\n$RUN_IT --epochs 3\n")
    result = run("--dir", tmp_path, "job.sh")
    assert result.returncode == 3
    assert "nothing is known of the work that this job does" in " ".join(result.stdout.split())


def test_a_config_is_no_job_file(run, tmp_path):
    (tmp_path / "config.yaml").write_text("lr: 0.1\n")
    result = run("--dir", tmp_path, "config.yaml")
    assert result.returncode == 2
    assert "config.yaml describes no job" in " ".join(result.stderr.split())


@pytest.mark.parametrize(("text", "code"), [("", 3), ("#!/bin/bash\n# later\n", 3), ("true\n", 0)])
def test_a_script_without_a_command_is_named_as_such(tmp_path, text, code):
    (tmp_path / "job.sh").write_text(text)
    memory = MemoryHistory()
    advised = Advisor(memory, memory).advise(Target.from_script(tmp_path, "job.sh", ()))
    assert advised.found_nothing is (code == 3)
    assert bool(advised.advice.advice) is (code == 3)
