"""What is no file, or may not be read, on the command line: a sentence, never a long wait."""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path

import pytest

from handler.other_user import as_other_user, common_place
from handler.test_cli import CRASH, schedmate
from schedmate.cli import main

__all__ = ["common_place", "schedmate"]


def no_files(tmp_path):
    os.mkfifo(tmp_path / "pipe.log")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.log")
    return ("pipe.log", "socket.log", "/dev/zero")


def test_what_is_no_file_is_not_waited_for(schedmate, tmp_path):
    for name in no_files(tmp_path):
        done = schedmate(name)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"schedmate: {name} is no file")
    assert schedmate("/dev/null", "--no-llm").returncode == 0


@pytest.mark.parametrize("verb", ["diagnose", "track"])
def test_a_closed_standard_input_is_reported(verb, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(SystemExit) as done:
        main([verb, "-"])
    assert done.value.code == 2
    assert capsys.readouterr().err == "schedmate: `-` reads standard input, and that is closed\n"


@pytest.mark.parametrize(
    "words", [["diagnose", ""], ["track", " "], ["rules", "correct", "", "--reason", "killed"]]
)
def test_a_log_without_a_name_is_a_slip(words, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("a.log").write_text(CRASH)
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(tmp_path / "state"))
    with pytest.raises(SystemExit) as done:
        main(words)
    out, err = capsys.readouterr()
    assert (done.value.code, out) == (2, "")
    assert "no name" in err


def test_one_log_that_may_not_be_read_does_not_hide_the_others(schedmate, common_place):
    logs = common_place / "logs"
    logs.mkdir()
    for name, mode in (("a.log", 0o644), ("b.log", 0)):
        (logs / name).write_text(CRASH)
        (logs / name).chmod(mode)
    with as_other_user():
        done = schedmate("logs", "--json", "--no-llm")
    assert done.returncode == 0
    assert json.loads(done.stdout)["reason"] == "key_error"
    assert "logs/b.log may not be read by this user; the others are read" in done.stderr


def test_where_nothing_may_be_read_there_is_no_diagnosis(schedmate, common_place):
    logs = common_place / "logs"
    logs.mkdir()
    (logs / "a.log").write_text(CRASH)
    (logs / "a.log").chmod(0)
    (common_place / "closed").mkdir(mode=0)
    with as_other_user():
        for name, shown in (("logs", "logs/a.log"), ("closed", "closed"), ("closed/a", "closed/a")):
            done = schedmate(name)
            assert (done.returncode, done.stdout) == (2, "")
            assert done.stderr == f"schedmate: {shown} may not be read by this user\n"


@pytest.mark.usefixtures("schedmate")
def test_rules_are_taken_from_files_only(tmp_path, capsys):
    for name in no_files(tmp_path):
        with pytest.raises(SystemExit) as done:
            main(["rules", "import", name])
        assert done.value.code == 2
        assert "no file" in capsys.readouterr().err
