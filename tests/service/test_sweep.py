"""Many runs from one command line."""

from __future__ import annotations

import pytest

from schedmate.config import Settings
from schedmate.model import BadInput, NotFound
from schedmate.service.usecases.submission import submission_of
from schedmate.service.usecases.sweep import Sweep, commands_of, read_commands, take_sweep
from tests.schedulers.local_site import LocalSite


def _words(line):
    return line.split()


def taken(line):
    return take_sweep(_words(line))


def test_a_grid_is_every_combination():
    sweep, rest = taken("--gpus 1 --sweep lr=1e-3,1e-4 seed=1..3 -t 5 train.py --epochs 3")

    assert rest == ["--gpus", "1", "-t", "5", "train.py", "--epochs", "3"]
    runs = commands_of(sweep, ("python3", "train.py", "--epochs", "3"))
    assert len(runs) == 6
    assert runs[0] == ("python3", "train.py", "--epochs", "3", "--lr", "1e-3", "--seed", "1")
    assert runs[-1][-4:] == ("--lr", "1e-4", "--seed", "3")


def test_values_go_where_they_are_written():
    sweep, _ = taken("--sweep=model.lr=1,2 seed=0..10:5 train.py")

    runs = commands_of(sweep, ("train", "lr={model.lr}", "out/{model.lr}-{seed}", "{other}"))

    assert runs[1] == ("train", "lr=1", "out/1-5", "{other}")
    assert len(runs) == 6


@pytest.mark.parametrize(
    "line", ["train.py --sweep lr=1,2", "--gpus 2 -- train --sweep x", "--wrap --sweep"]
)
def test_a_word_of_the_job_is_no_sweep_of_ours(line):
    assert taken(line) == (None, line.split())


def test_a_file_of_commands(tmp_path):
    file = tmp_path / "jobs.txt"
    file.write_text("# a night's work\npython train.py --lr 1 'a b'\n\n  LR=2 sh x.sh > y\n")

    sweep, rest = taken(f"--gpus 1 --commands {file}%2 -t 5")

    assert rest == ["--gpus", "1", "-t", "5"]
    assert sweep == Sweep(
        commands=(
            ("python", "train.py", "--lr", "1", "a b"),
            ("/bin/sh", "-c", "LR=2 sh x.sh > y"),
        ),
        name="jobs.txt",
        most=2,
    )


def test_a_sweep_is_an_array_of_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("print(1)\n")
    (tmp_path / "job.sh").write_text("#!/bin/sh\n#SBATCH --job-name=mine\necho $@\n")

    grid = submission_of(Settings(), _words("--gpus 1 --sweep lr=1,2 seed=1..2%3 train.py -v"))
    script = submission_of(Settings(), _words("--sweep=x=a,b job.sh y"))

    assert (len(grid.tasks), grid.most_tasks, grid.name) == (4, 3, "train.py")
    assert grid.tasks[3].command == ("python3", "train.py", "-v", "--lr", "2", "--seed", "2")
    assert script.name == "mine"
    assert [task.command[1:] for task in script.tasks] == [("y", "--x", "a"), ("y", "--x", "b")]
    (tmp_path / "jobs.txt").write_text("true\n")
    with pytest.raises(BadInput, match=r"submit without train\.py"):
        submission_of(Settings(), _words("--commands jobs.txt train.py"))
    with pytest.raises(BadInput, match="an array by itself"):
        submission_of(Settings(), _words("--array=1-2 --sweep x=a,b train.py"))


def test_what_makes_no_sweep_is_refused(tmp_path):
    (tmp_path / "empty").write_text("# nothing\n")
    for line, said in (
        ("--sweep train.py", "wants what to vary"),
        ("--sweep n=5..1 train.py", "ends before it begins"),
        ("--commands", "wants a file"),
        ("--sweep lr= train.py", "wants NAME=VALUE"),
        ("--sweep lr=1,,2 train.py", "wants NAME=VALUE"),
        ("--sweep lr=1 --commands a", "at a time"),
    ):
        with pytest.raises(BadInput, match=said):
            taken(line)
    many = Sweep((("a", ("x",) * 200), ("b", ("y",) * 200)))
    with pytest.raises(BadInput, match="40000 jobs"):
        commands_of(many, ("train",))
    with pytest.raises(BadInput, match="has no command"):
        read_commands(tmp_path / "empty")
    with pytest.raises(NotFound):
        read_commands(tmp_path / "absent")


@pytest.mark.processes
@pytest.mark.parametrize("script", [True, False])
def test_each_run_of_a_sweep_gets_its_options(tmp_path, monkeypatch, script):
    site = LocalSite(tmp_path)
    monkeypatch.chdir(site.work)
    (site.work / "job.sh").write_text("#!/bin/sh\necho run $@\n")
    words = "--sweep lr=1,2 " + ("job.sh -v" if script else "-- echo run -v")

    job = site.scheduler.submit(submission_of(Settings(), _words(words)))
    (site.work / "job.sh").write_text("#!/bin/sh\necho edited\n")
    for task in (0, 1):
        site.ended(f"{job}_{task}")

    assert [site.log(f"{job}_{task}") for task in (0, 1)] == ["run -v --lr 1\n", "run -v --lr 2\n"]
    site.scheduler.stop()
