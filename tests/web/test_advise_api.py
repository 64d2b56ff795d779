"""`POST /api/v1/advise`, as a scheduler or a submit hook asks."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from schedmate.advisor import Advisor
from schedmate.service.usecases import quick_advice
from schedmate.service.visibility import Viewer
from schedmate.testing.builders import a_past_run
from web.conftest import as_user

pytestmark = pytest.mark.processes
SCRIPT = (
    "#!/bin/bash\n#SBATCH --gpus=4 --time=2:00:00\npython train.py --epochs 3 --batch-size 32\n"
)
CODE = """\
import argparse, torch
parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int)
parser.add_argument("--batch-size", type=int)
args = parser.parse_args()
for epoch in range(args.epochs):
    pass
"""
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def final(served, answer):
    """What it becomes once the job's files are read."""
    deadline = time.monotonic() + 60
    while answer["state"] != "final":
        assert time.monotonic() < deadline
        answer = served.get(f"/api/v1/advise/{answer['id']}").json
    return answer


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "train.py").write_text(CODE)
    return folder


def test_a_script_with_its_directory(served, project):
    asked = {"script": SCRIPT, "workdir": str(project)}
    found = final(served, served.post("/api/v1/advise", asked).json)
    assert found["schema"] == "schedmate.advised/1"
    assert found["advice"]["workload"]["epochs"]["value"] == 3
    assert found["prediction"]["gpus"] == 4
    assert found["prediction"]["schema"] == "schedmate.prediction/1"


@pytest.mark.parametrize("script", [" ", "python train.py\n", "#!/bin/sh\r\ntrue\r\n"])
def test_a_script_that_sbatch_refuses(served, script):
    answer = served.post("/api/v1/advise", {"script": script})
    assert answer.status == 400
    assert "the script" in answer.json["detail"]


def test_a_command_line(served, project):
    asked = {"command": ["python", "train.py", "--epochs", "7"], "workdir": str(project)}
    found = final(served, served.post("/api/v1/advise", asked).json)
    assert found["advice"]["workload"]["epochs"]["value"] == 7


def test_a_record_alone(served):
    served.store.keep_runs([a_past_run()] * 3)
    asked = {"workload": {"model": "gpt2", "epochs": 3}, "gpus": 2, "within_s": 1}
    found = final(served, served.post("/api/v1/advise", asked).json)
    assert found["advice"]["workload"]["model"]["value"] == "gpt2"
    assert found["prediction"]["gpus"] == 2


def test_it_answers_in_time_and_reads_on(served, project, monkeypatch):
    """A directory that takes long to read costs the asker nothing."""
    read, goes_on = Advisor.advise, threading.Event()

    def slowly(advisor, target):
        if target.by is None:
            assert goes_on.wait(250)
        return read(advisor, target)

    monkeypatch.setattr(Advisor, "advise", slowly)
    answer = served.post("/api/v1/advise", {"script": SCRIPT, "workdir": str(project)})
    assert answer.json["state"] in ("reading", "preliminary")
    assert answer.headers["location"] == f"/api/v1/advise/{answer.json['id']}"
    goes_on.set()
    assert final(served, answer.json)["advice"]["workload"]["epochs"]["value"] == 3


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, "name a script"),
        ({"workload": {"colour": "red"}}, "colour"),
        ({"workload": {"epochs": "three"}}, "epochs"),
        ({"script": "true", "workdir": "here"}, "workdir"),
        ({"script": "true", "more": 1}, "more"),
    ],
)
def test_what_cannot_be_advised_on_is_named(served, asked, words):
    answer = served.post("/api/v1/advise", asked)
    assert answer.status == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert words in answer.json["detail"]


@needs_root
def test_files_are_read_as_the_asking_user_could(served):
    """The daemon is root here; `nobody` gets nothing from a directory of root's."""
    project = Path("/tmp") / f"schedmate-secret-{os.getpid()}"
    project.mkdir(mode=0o700)
    try:
        (project / "train.py").write_text(CODE)
        asked = {"command": ["python", "train.py", "--epochs", "7"], "workdir": str(project)}
        mine = final(served, served.post("/api/v1/advise", asked).json)
        theirs = as_user("nobody", served.url("/api/v1/advise"), {**asked, "within_s": 1})
        assert mine["advice"]["workload"]["framework"]["value"] == "pytorch"
        assert theirs["advice"]["workload"]["framework"] is None
        assert "import" not in str(theirs)
    finally:
        (project / "train.py").unlink()
        project.rmdir()


@needs_root
def test_only_operators_ask_for_others(served):
    asked = {"script": "#!/bin/sh\ntrue\n", "user": "nobody"}
    assert served.post("/api/v1/advise", asked).json["prediction"]["user"] == "nobody"
    refused = as_user("nobody", served.url("/api/v1/advise"), {**asked, "user": "root"})
    assert refused["status"] == 403


def test_a_question_is_its_askers_own(tmp_path):
    asked = quick_advice.QuickAdvice(lambda: pytest.fail("not needed here"))
    try:
        question = quick_advice.AdviceQuestion(user="ada", script="true\n")
        ticket = asked.ask(Viewer(user="ada", operator=False), question, within_s=0)
        assert asked.ticket(Viewer(user="ada", operator=False), ticket.id) is ticket
        assert asked.ticket(Viewer(user="bob", operator=False), ticket.id) is None
    finally:
        asked.close()
