"""An export of sacct with its batch scripts, simulated with the code that they start."""

from __future__ import annotations

import json
import os

import pytest

from schedmate.cli import main

pytestmark = pytest.mark.processes

TRAIN = """import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int)
for epoch in range(parser.parse_args().epochs):
    print(epoch)
"""
COLUMNS = "JobID|User|Submit|Start|Elapsed|State|AllocTRES|Timelimit|WorkDir"
LENGTHS = (1, 30, 4, 90, 2, 60, 10, 45, 3, 75)
JOBS = range(801, 841)
RULE = "-" * 80


def epochs_of(job):
    return LENGTHS[job * 7 % 10]


def script_of(job):
    return f"#!/bin/bash\npython train.py --epochs {epochs_of(job)}\n"


def row(job, workdir="/gone"):
    """Six jobs an hour, each after a wait of half a minute; epochs decide how long it runs."""
    hour, minute = divmod(10 * (job - JOBS[0]), 60)
    came = f"2026-01-05T{9 + hour:02}:{minute:02}"
    ran = f"{epochs_of(job) // 60:02}:{epochs_of(job) % 60:02}:00"
    return f"{job}|ann|{came}:00|{came}:30|{ran}|COMPLETED|gres/gpu=1|02:00:00|{workdir}"


@pytest.fixture
def export(tmp_path, monkeypatch):
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(tmp_path / "state"))
    (tmp_path / "sacct.txt").write_text("\n".join([COLUMNS, *map(row, JOBS)]))
    code = tmp_path / "train.py"
    code.write_text(TRAIN)
    os.utime(code, (0, 0))
    return tmp_path / "sacct.txt"


@pytest.fixture
def simulate(export, capsys):
    def run(*args):
        with pytest.raises(SystemExit) as ended:
            main(["simulate", str(export), *args])
        out, err = capsys.readouterr()
        return ended.value.code, out, err

    return run


def scripts_of_sacct(directory):
    titled = (f"Batch Script for {job}\n{RULE}\n{script_of(job)}\n" for job in JOBS)
    path = directory / "scripts.txt"
    path.write_text("".join(titled))
    return path


def scripts_in_files(directory):
    for job in JOBS:
        (directory / f"slurm-{job}.sh").write_text(script_of(job))
    return directory


@pytest.mark.parametrize("saved", [scripts_of_sacct, scripts_in_files])
def test_code_is_read_and_waits_are_as_they_were(simulate, export, saved):
    scripts = saved(export.parent)

    code, out, err = simulate("--scripts", str(scripts), "--policy", "fifo,fifo+advisor", "--json")

    assert (code, err) == (0, f"{export}: code read for {len(JOBS)} of {len(JOBS)} jobs\n")
    data = json.loads(out)
    assert data["trace"] == export.name
    assert data["policies"]["as it was"]["avg_queue_s"] == 30.0
    assert any("no code is synthetic" in line for line in data["assumptions"])
    assert not (export.parent / "state").exists()


def test_what_the_scripts_state_orders_jobs(simulate, export):
    """One user, one name, one size: nothing but the epochs tells jobs apart."""
    scripts = scripts_in_files(export.parent)
    asked = ("--policy", "sjf+advisor,sjf-oracle", "--gpus", "2", "--json")

    _, with_scripts, _ = simulate("--scripts", str(scripts), *asked)
    _, without, _ = simulate("--no-workload", *asked)

    by_code, by_truth = (
        each["avg_jct_s"] for each in json.loads(with_scripts)["policies"].values()
    )
    by_history, _ = (each["avg_jct_s"] for each in json.loads(without)["policies"].values())
    assert by_history - by_code > 0.25 * (by_history - by_truth) > 0.0


def test_code_newer_than_a_run_is_left_out(simulate, export):
    scripts = scripts_in_files(export.parent)
    os.utime(export.parent / "train.py")

    code, _, err = simulate("--scripts", str(scripts), "--policy", "fifo")

    assert code == 0
    assert f"no code for {len(JOBS)} ({len(JOBS)} changed after the run started)" in err


def test_an_owner_unknown_on_this_machine_does_not_stop_the_invoker(simulate, export):
    scripts = scripts_in_files(export.parent)
    rows = [row(job, export.parent).replace("|ann|", "|nowhere-user|") for job in JOBS]
    export.write_text("\n".join([COLUMNS, *rows]))

    code, _, err = simulate("--scripts", str(scripts), "--policy", "fifo")

    assert (code, err) == (0, f"{export}: code read for {len(JOBS)} of {len(JOBS)} jobs\n")


def test_where_no_code_is_read_none_is_claimed(simulate, export):
    asked = ("--read-code", "--policy", "fifo,fifo+advisor", "--controls", "--json")

    code, out, err = simulate(*asked)

    data = json.loads(out)
    assert code == 0
    assert data["code_read"] == 0
    assert not any("own" in line for line in data["assumptions"])
    assert "semantic" not in data["policies"]["fifo+advisor"]["controls"]
    assert "--scripts" in err


def test_a_submit_line_names_the_code(simulate, export):
    lines = [f"{COLUMNS}|SubmitLine"]
    user = os.environ.get("USER") or "root"
    for job in JOBS:
        (export.parent / f"run{job}.sh").write_text(script_of(job))
        os.utime(export.parent / f"run{job}.sh", (0, 0))
        there = row(job, export.parent).replace("|ann|", f"|{user}|")
        lines.append(f"{there}|sbatch run{job}.sh")
    export.write_text("\n".join(lines))

    code, _, err = simulate("--read-code", "--policy", "fifo")

    assert (code, err) == (0, f"{export}: code read for {len(JOBS)} of {len(JOBS)} jobs\n")


@pytest.mark.parametrize(
    ("source", "args", "code", "words"),
    [
        (None, ["--scripts", "/no/where"], 3, "there is no directory or file /no/where"),
        (None, ["--scripts", "/dev/null"], 2, "has no scripts of jobs"),
        (None, ["--read-code", "--workload"], 2, "take the place of a workload"),
        (None, ["--read-code", "--explained", "0.5"], 2, "--explained is of synthetic code"),
        (None, ["--read-code", "--sweep", "explained=0.1"], 2, "is of synthetic code"),
        ("synthetic", ["--read-code"], 2, "for an export of accounting"),
        (COLUMNS.replace("Start", "Account"), ["--read-code"], 2, "does not state when its jobs"),
    ],
)
def test_what_cannot_be_read_is_refused(  # noqa: PLR0917 - a table
    simulate, export, capsys, source, args, code, words
):
    if source == "synthetic":
        with pytest.raises(SystemExit) as ended:
            main(["simulate", source, *args])
        found, err = ended.value.code, capsys.readouterr().err
    else:
        if source is not None:
            export.write_text(export.read_text().replace(COLUMNS, source))
        found, _, err = simulate(*args)

    assert found == code
    assert words in err
    assert len(err.splitlines()) == 1
