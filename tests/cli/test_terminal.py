"""What a terminal gives: the queue in place, completion, manuals."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from schedmate.cli import VERBS, root
from schedmate.cli._manual import manual
from schedmate.cli._watch import overview
from schedmate.model import BadInput, JobState, NotFound
from schedmate.service.views.job_view import JobView
from schedmate.testing.builders import a_job

SOURCES = str(Path(__file__).parents[2] / "src")


def view(**parts) -> JobView:
    return JobView(job=a_job(**parts), diagnoses={})


def drawn(views, height: int = 20, trouble: str = "") -> list[str]:
    out = io.StringIO()
    screen = Console(file=out, width=120, height=height, force_terminal=False)
    screen.print(overview(views, screen, 0.0, trouble))
    return out.getvalue().splitlines()


class TestWatch:
    def test_what_runs_comes_first_then_what_waits_then_the_newest_end(self):
        lines = drawn(
            [
                view(id="1", state=JobState.COMPLETED, end_time=5.0),
                view(id="2", state=JobState.FAILED, end_time=9.0),
                view(id="3", state=JobState.PENDING),
                view(id="4", state=JobState.RUNNING),
            ]
        )
        assert [line.split()[0] for line in lines[3:]] == ["4", "3", "2", "1"]
        assert lines[0].endswith("1 completed, 1 failed, 1 pending, 1 running")

    def test_more_jobs_than_rows(self):
        lines = drawn([view(id=str(number)) for number in range(30)], height=10)
        assert len(lines) <= 10
        assert lines[-1] == "and 24 more; narrow it with -u or -s"

    def test_no_jobs_and_a_scheduler_that_does_not_answer(self):
        assert drawn([], trouble="slurmctld is away")[0].endswith("no jobs  slurmctld is away")

    def test_without_a_terminal(self):
        result = CliRunner().invoke(root, ["jobs", "--watch"])
        assert isinstance(result.exception, BadInput)
        assert "schedmate jobs" in str(result.exception)


def completed(words: str, at: int, **env: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", "schedmate"],
        env={
            **os.environ,
            "PYTHONPATH": SOURCES,
            "_SCHEDMATE_COMPLETE": "bash_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(at),
            **env,
        },
        capture_output=True,
        text=True,
        check=True,
    )
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


@pytest.mark.processes
class TestCompletion:
    def test_verbs_and_options(self):
        assert completed("schedmate s", 1) == [name for name in VERBS if name.startswith("s")]
        assert completed("schedmate jobs --w", 2) == ["--watch"]

    def test_ids_of_jobs(self, tmp_path: Path):
        env = {"SCHEDMATE_STATE_DIR": str(tmp_path), "SCHEDMATE_SCHEDULER": "local"}
        run = [sys.executable, "-m", "schedmate", "submit", "--wrap", "true"]
        subprocess.run(run, env={**os.environ, "PYTHONPATH": SOURCES, **env}, check=True)
        assert completed("schedmate why ", 2, **env) == ["1"]

    def test_without_a_store_there_is_nothing(self, tmp_path: Path):
        assert completed("schedmate why ", 2, SCHEDMATE_STATE_DIR=str(tmp_path / "none")) == []

    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_each_shell_reads_its_script(self, shell: str):
        script = CliRunner().invoke(root, ["completion", shell]).stdout
        assert "_SCHEDMATE_COMPLETE" in script
        if shutil.which(shell):
            subprocess.run([shell, "-n"], input=script.encode(), check=True)

    def test_an_unknown_shell(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("SHELL", "/bin/tcsh")
        result = CliRunner().invoke(root, ["completion"])
        assert isinstance(result.exception, BadInput)


class TestManual:
    @pytest.mark.parametrize("verb", [None, *VERBS])
    def test_every_option_is_in_it(self, verb: str | None):
        page = manual(verb)
        helped = CliRunner().invoke(root, [*([verb] if verb else []), "--help"]).output
        for word in helped.split():
            if word.startswith("--") and word.isascii() and word[2:].replace("-", "").isalpha():
                assert word.replace("-", "\\-") in page or word == "--help"

    @pytest.mark.processes
    @pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")
    def test_they_are_without_fault(self, tmp_path: Path):
        CliRunner().invoke(root, ["man", "--write", str(tmp_path)])
        pages = sorted(tmp_path.iterdir())
        assert len(pages) == len(VERBS) + 1
        words = ["groff", "-man", "-Tutf8", "-ww", *pages]
        done = subprocess.run(words, capture_output=True, check=True)
        assert done.stderr == b""

    def test_an_unknown_verb(self):
        result = CliRunner().invoke(root, ["man", "nothing"])
        assert isinstance(result.exception, NotFound)
