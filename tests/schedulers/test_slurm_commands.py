"""How refusals and silence become errors, with small programs in the place of Slurm's."""

import pytest

from schedmate.model import (
    BadInput,
    NotFound,
    SchedMateError,
    SchedulerError,
    SchedulerUnreachable,
    Submission,
)
from schedmate.schedulers.slurm import SlurmScheduler
from schedmate.schedulers.slurm.commands import SlurmCommands

pytestmark = pytest.mark.processes


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def write(name, text):
        path = tmp_path / name
        path.write_text(f"#!/bin/bash\n{text}\n")
        path.chmod(0o755)

    return write


@pytest.mark.parametrize(
    ("complaint", "error"),
    [
        ("slurm_load_jobs error: Unable to contact slurm controller (connect failure)", 4),
        ("squeue: error: ClusterName needs to be specified\nfatal: bad configuration file", 4),
        ("error: Munge encode failed: Failed to access", 4),
        ("slurm_load_jobs error: Invalid job id specified", 3),
        ("error: Access/permission denied", 1),
        ("", 1),
    ],
)
def test_refusals(program, complaint, error):
    program("squeue", f"printf '%s\\n' '{complaint}' >&2; exit 1")
    with pytest.raises(SchedMateError) as raised:
        SlurmCommands().ask("squeue")
    assert raised.value.exit_code == error
    assert complaint.split(": ")[-1] in str(raised.value)


@pytest.mark.parametrize(
    ("command", "part"),
    [("sacct", "Slurm's accounting (slurmdbd) cannot"), ("squeue", "Slurm cannot be reached")],
)
def test_the_part_that_is_away_is_named(program, command, part):
    program(command, "echo 'error: Unable to connect to slurmdbd at host' >&2; exit 1")
    with pytest.raises(SchedulerUnreachable) as raised:
        SlurmCommands().ask(command)
    assert str(raised.value).startswith(part)


def test_a_complaint_with_exit_code_0_is_still_a_complaint(program):
    program("scontrol", "echo 'job script retrieval failed: Invalid job id specified' >&2")
    with pytest.raises(NotFound):
        SlurmScheduler().script("12")


def test_a_warning_beside_an_answer_is_none(program):
    program("squeue", "echo 'warning: slurmdbd is slow' >&2; echo answer")
    assert SlurmCommands().ask("squeue") == "answer\n"


def test_silence_is_unreachable_and_brings_the_last_words(program):
    program("squeue", "echo 'squeue: error: retrying' >&2; exec sleep 20")
    with pytest.raises(SchedulerUnreachable, match=r"no answer in 0\.3 s: retrying"):
        SlurmCommands(0.3).ask("squeue")


def test_a_lost_answer_to_a_submission_says_what_it_means(program, tmp_path):
    program("sbatch", "exec sleep 20")
    submission = Submission(command=("true",), workdir=str(tmp_path), name="lost")
    with pytest.raises(SchedulerUnreachable, match="may have been queued"):
        SlurmScheduler(timeout_s=0.3).submit(submission)


def test_no_slurm_here(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SchedulerUnreachable, match="not on the PATH"):
        SlurmScheduler().jobs()


def test_a_failed_question_is_never_an_empty_answer(program):
    program("squeue", "echo 'Unable to contact slurm controller' >&2; exit 1")
    for ids in (None, ["1"], ["1", "2"]):
        with pytest.raises(SchedulerUnreachable):
            SlurmScheduler().jobs(ids)


def test_nonsense_for_an_answer(program, tmp_path):
    program("squeue", "head -c 1000 /dev/urandom")
    program("sbatch", "echo Submitted nothing at all")
    with pytest.raises(SchedulerError, match="SCHEDMATE_DEBUG"):
        SlurmScheduler().jobs()
    with pytest.raises(SchedulerError, match="no job id"):
        SlurmScheduler().submit(Submission(command=("true",), workdir=str(tmp_path), name="x"))


def test_a_missing_working_directory(program, tmp_path):
    program("sbatch", "echo 1")
    lost = Submission(command=("true",), workdir=str(tmp_path / "gone"), name="x")
    with pytest.raises(BadInput, match="gone"):
        SlurmScheduler().submit(lost)


def test_raw_answers_are_shown_on_request(program, monkeypatch, capfd):
    program("squeue", "printf 'a\\x1fb'")
    SlurmCommands().ask("squeue", "-h")
    assert capfd.readouterr().err == ""
    monkeypatch.setenv("SCHEDMATE_DEBUG", "1")
    SlurmCommands().ask("squeue", "-h")
    assert "('squeue', '-h') -> 0\n'a\\x1fb'" in capfd.readouterr().err


def test_the_users_taste_does_not_reach_what_we_parse(program, monkeypatch):
    program("squeue", "env")
    monkeypatch.setenv("SQUEUE_FORMAT", "%i")
    monkeypatch.setenv("SLURM_TIME_FORMAT", "relative")
    monkeypatch.setenv("SLURM_CONF", "/its/own")
    seen = SlurmCommands().ask("squeue").splitlines()
    assert not any(line.startswith("SQUEUE_") for line in seen)
    assert "SLURM_TIME_FORMAT=%s" in seen
    assert "SLURM_CONF=/its/own" in seen
