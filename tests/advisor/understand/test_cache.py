"""A resubmission is not read again; an edit of what matters is; an edit elsewhere is nothing."""

import ast
import shutil
from pathlib import Path

import pytest

from schedmate.advisor import Advisor, Target
from schedmate.advisor.understand.fingerprint import normalised
from schedmate.testing.history import MemoryHistory

PROJECT = Path(__file__).parents[1] / "projects" / "argparse_net"


@pytest.fixture
def project(tmp_path):
    return Path(shutil.copytree(PROJECT, tmp_path / "job"))


@pytest.fixture
def memory():
    return MemoryHistory()


def advise(memory, project, *words):
    words = words or ("python", "train.py", "--epochs", "3")
    return Advisor(memory, memory).advise(Target.from_command(project, words))


def replace_in(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_the_second_time_nothing_is_parsed(memory, project, monkeypatch):
    first = advise(memory, project)
    monkeypatch.setattr(ast, "parse", lambda *_: pytest.fail("parsed again"))
    second = advise(memory, project)
    assert memory.cache_misses == 1
    assert second.advice.workload == first.advice.workload
    assert second.fingerprint == first.fingerprint


def test_an_edit_elsewhere_changes_nothing(memory, project):
    first = advise(memory, project)
    (project / "unrelated.py").write_text("EPOCHS = 5\n")
    (project / "notes.txt").write_text("x")
    assert advise(memory, project).fingerprint == first.fingerprint
    assert memory.cache_misses == 1


@pytest.mark.parametrize("file", ["train.py", "options.py"])
def test_an_edit_of_a_file_that_runs_changes_code_and_record(memory, project, file):
    first = advise(memory, project)
    old, new = {"train.py": ("6e-4", "1e-3"), "options.py": ("64", "96")}[file]
    replace_in(project / file, old, new)
    second = advise(memory, project)
    assert memory.cache_misses > 1
    assert second.fingerprint.code != first.fingerprint.code
    assert second.fingerprint.arguments == first.fingerprint.arguments
    assert second.advice.workload != first.advice.workload


def test_other_arguments_are_the_same_code(memory, project):
    first = advise(memory, project)
    second = advise(memory, project, "python", "train.py", "--epochs", "9")
    assert second.fingerprint.code == first.fingerprint.code
    assert second.fingerprint.arguments != first.fingerprint.arguments
    assert second.advice.workload.epochs.value == 9


def test_a_number_changed_in_the_script_leaves_the_code_the_same(memory, project):
    def of_script():
        return Advisor(memory, memory).advise(Target.from_script(project, "job.sh", ()))

    first = of_script()
    replace_in(project / "job.sh", ":-90", ":-30")
    second = of_script()
    assert second.fingerprint.code == first.fingerprint.code
    assert second.fingerprint.arguments != first.fingerprint.arguments


def test_comments_and_limits_in_the_script_leave_both_the_same(memory, project):
    def of_script():
        return Advisor(memory, memory).advise(Target.from_script(project, "job.sh", ()))

    first = of_script()
    replace_in(project / "job.sh", "--time=1-12:00:00", "--time=2:00:00\n# shorter")
    assert of_script().fingerprint == first.fingerprint


def test_the_same_code_in_another_directory_is_the_same_code(memory, project, tmp_path):
    first = advise(memory, project)
    copy = Path(shutil.copytree(project, tmp_path / "copy"))
    assert advise(memory, copy).fingerprint == first.fingerprint


def test_more_gpus_are_other_arguments(memory, project):
    first = Advisor(memory, memory).advise(Target.from_script(project, "job.sh", ()))
    replace_in(project / "job.sh", "a100:4", "a100:8")
    second = Advisor(memory, memory).advise(Target.from_script(project, "job.sh", ()))
    assert second.fingerprint.arguments != first.fingerprint.arguments
    assert second.advice.workload.gpus.value == 16


def test_a_file_that_does_not_parse_is_looked_at_every_time(memory, project):
    (project / "train.py").write_text("def (:\n")
    for _ in range(2):
        [remark] = advise(memory, project).advice.advice
        assert "not valid Python" in remark.text
    assert memory.readings == {}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("t.py --a 1 --b", "t.py --b --a=1", True),
        ("t.py --a 1 --seed 3 --output-dir x", "t.py --seed 4 --a 1", True),
        ("t.py x y", "t.py y x", False),
        ("t.py --a 1", "t.py --a 2", False),
        ("t.py --a -1", "t.py --a=-1", True),
    ],
)
def test_arguments_are_normalised(one, other, same):
    assert (normalised(one.split()) == normalised(other.split())) == same
