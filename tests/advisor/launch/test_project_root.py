"""The project that a job's directory is part of."""

from pathlib import Path

import pytest

from schedmate.advisor import Advisor, Target
from schedmate.advisor.sources.project_root import project_root
from schedmate.testing.history import MemoryHistory

TRAIN = "import torch\nfor epoch in range(7):\n    pass\n"


@pytest.fixture
def project(tmp_path):
    top = tmp_path / "project"
    (top / "scripts").mkdir(parents=True)
    (top / "train.py").write_text(TRAIN)
    (top / "scripts" / "job.sh").write_text("#!/bin/sh\ncd ..\npython train.py\n")
    return top


def workload(directory, script="job.sh"):
    memory = MemoryHistory()
    target = Target.from_script(directory, script, ())
    return Advisor(memory, memory).advise(target).advice.workload


@pytest.mark.parametrize("mark", ["README.md", "pyproject.toml", "requirements.txt"])
def test_code_of_the_project_around_is_read(project, mark):
    (project / mark).write_text("")
    epochs = workload(project / "scripts").epochs
    assert (epochs.value, epochs.evidence[0].file) == (7, "../train.py")


def test_what_lies_above_no_project_is_not_read(project):
    assert workload(project / "scripts").epochs is None


def test_a_checkout_goes_before_what_only_looks_like_one(project):
    (project / ".git").mkdir()
    (project / "scripts" / "deep").mkdir()
    (project / "scripts" / "README.md").write_text("")
    assert project_root(project / "scripts" / "deep") == project


def test_a_checkout_itself_has_nothing_above(project):
    (project.parent / "README.md").write_text("")
    (project / ".git").mkdir()
    assert project_root(project) is None


def test_homes_and_the_root_are_no_projects(project, monkeypatch):
    (project.parent / "README.md").write_text("")
    monkeypatch.setattr(Path, "home", lambda: project.parent)
    assert project_root(project) is None
    assert project_root(Path("/")) is None


def test_nothing_far_above_is_a_project(project):
    (project.parent / "README.md").write_text("")
    deep = project / "a" / "b" / "c"
    deep.mkdir(parents=True)
    assert project_root(deep) is None
