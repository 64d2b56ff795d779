"""The same in the local queue: a run is stopped, held and released, and goes on where it was."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from bench.live.preempted_runs import CODES, Stage, Training, settings_for
from schedmate.config import LocalSettings
from schedmate.service.wiring import open_scheduler

pytestmark = [pytest.mark.frameworks, pytest.mark.processes]
PYTHON = Path(__file__).parents[2] / ".venv-frameworks/bin/python"
TRAINING = {"code": CODES[0], "steps": 60, "every": 15, "step_s": 0.2}


@pytest.fixture
def stage(tmp_path, monkeypatch):
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")
    if not PYTHON.exists():
        pytest.skip("no environment of frameworks here; scripts/make-frameworks-env makes it")
    local = LocalSettings(slots=2, gpus=("none",), shared=False, kill_wait_s=0.5)
    made = replace(settings_for("local", tmp_path), local=local)
    scheduler = open_scheduler(made)
    stage = Stage(scheduler, made, tmp_path / "jobs", PYTHON, 2)
    stage.root.mkdir()
    yield stage
    stage.clear()
    scheduler.stop()


def test_a_run_makes_way_in_the_local_queue(stage):
    reference = stage.undisturbed(Training(name="reference", **TRAINING))
    proof = stage.prove(Training(name="proof", **TRAINING))
    assert (proof.runs, proof.step, proof.loss) == (2, 60, reference.loss)

    job_id = stage.make_way(Training(name="way", **TRAINING))

    outcome = stage.outcome(job_id)
    assert (outcome.state, outcome.runs) == ("COMPLETED", 2)
    assert (outcome.step, outcome.loss) == (60, reference.loss)
    assert outcome.repeated < TRAINING["every"]
    assert [one.state for one in stage.actions("preempt")] == ["done"]
    assert [one.state for one in stage.actions("release")] == ["done"]
    with closing(stage.store()) as store:
        run = store.run(job_id)
    assert run.resume.outcome == "resumed"
    assert run.duration_s > run.job.run_time_s, "the history has the time of both runs"
