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
from schedmate.cli._site import Folded, QueueShown
from schedmate.cli._watch import _GpuUse, overview
from schedmate.config import Settings
from schedmate.model import Activity, BadInput, JobState, NotFound, Request
from schedmate.service.views.folding import count_states, fold_tasks
from schedmate.service.views.job_view import JobView
from schedmate.testing.builders import a_job
from schedmate.testing.scheduler import FakeScheduler

SOURCES = str(Path(__file__).parents[2] / "src")


def a_view(**parts) -> JobView:
    return JobView(job=a_job(**parts), diagnoses={})


def shown(views, states=None, total=None) -> QueueShown:
    counted = count_states(view.job for view in views)
    return QueueShown(views=views, total=total or len(views), states=counted)


def drawn(queue, height: int = 20, trouble: str = "", use=None, width: int = 120) -> list[str]:
    out = io.StringIO()
    screen = Console(file=out, width=width, height=height, force_terminal=False)
    screen.print(overview(queue, screen, 0.0, use or {}, trouble))
    return out.getvalue().splitlines()


class TestWatch:
    def test_counts_and_gpus_with_how_busy_they_are(self):
        held = ("box:gpu0", "box:gpu1", "box:gpu3")
        lines = drawn(
            shown(
                [
                    a_view(id="4", state=JobState.RUNNING, nodes=held, request=Request(gpus=3)),
                    a_view(id="3", state=JobState.PENDING, request=Request(gpus=2)),
                    a_view(id="1", state=JobState.COMPLETED, end_time=5.0, nodes=held),
                ]
            ),
            use={"4": 0.97},
            width=80,
        )
        assert lines[0].endswith("1 running, 1 pending, 1 completed")
        titles = lines[2].split()
        assert titles.index("GPUS") + 1 == titles.index("USE")
        assert [line.split()[3:5] for line in lines[3:5]] == [["0-1,3", "97%"], ["(2)", "-"]]
        assert all(len(line) <= 80 for line in lines)

    def test_more_jobs_than_rows(self):
        views = [a_view(id=str(number)) for number in range(30)]
        lines = drawn(shown(views, total=40), height=10)
        assert len(lines) <= 10
        assert lines[-1] == "and 34 more; narrow it with -u or -s"

    def test_on_a_small_screen_jobs_are_shown_and_counts_cut(self):
        views = [a_view(id=str(number), state=state) for number, state in enumerate(JobState)]
        lines = drawn(shown(views), height=6, width=30)
        assert (len(lines), lines[0][-1], lines[1]) == (6, "…", "")
        assert all(len(line) <= 30 for line in lines)

    def test_the_gpus_of_an_array_are_as_busy_as_the_busiest_of_its_tasks(self, monkeypatch):
        tasks = [a_view(id=f"7_{at}", state=JobState.RUNNING) for at in range(2)]
        [fold] = fold_tasks([task.job for task in tasks])
        queue = QueueShown(
            views=[JobView(job=fold.job, diagnoses={})], total=1, folds={"7": Folded(fold, tasks)}
        )
        measured = {"7_0": Activity(cpu_s=1.0, gpu=0.2), "7_1": Activity(cpu_s=1.0, gpu=0.9)}

        class Measuring(FakeScheduler):
            def activity(self, jobs):
                return {job.id: measured[job.id] for job in jobs}

        monkeypatch.setattr("schedmate.service.wiring.open_scheduler", lambda _: Measuring())
        assert _GpuUse(Settings(scheduler="local")).of(queue) == {"7": 0.9}

    def test_no_jobs_and_a_scheduler_that_does_not_answer(self):
        trouble = drawn(shown([]), trouble="slurmctld is away")
        assert trouble[0].endswith("no jobs  slurmctld is away")

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
