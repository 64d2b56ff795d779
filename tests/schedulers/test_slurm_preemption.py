"""A real training makes way on a real Slurm: it ends as if nothing had been, or is never stopped
again."""

import shutil
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest

from bench.live.preempted_runs import CODES, Stage, Training, is_held, settings_for
from schedmate.schedulers.slurm import SlurmScheduler
from schedmate.service.views.job_view import job_view
from schedmate.service.views.sentences import why_sentence
from schedmate.service.visibility import viewer_of
from schedulers.slurm_site import scontrol

pytestmark = [pytest.mark.slurm, pytest.mark.frameworks]
PYTHON = Path(__file__).parents[2] / ".venv-frameworks/bin/python"
TRAINING = {"code": CODES[0], "steps": 120, "every": 20, "step_s": 0.2}


@pytest.fixture
def stage(slurm_cluster, tmp_path, monkeypatch):
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")
    if not PYTHON.exists():
        pytest.skip("no environment of frameworks here; scripts/make-frameworks-env makes it")
    scontrol("update", "NodeName=node1", "State=DRAIN", "Reason=one node is enough here")
    made = Stage(
        SlurmScheduler(),
        settings_for("slurm", tmp_path),
        tmp_path / "jobs",
        PYTHON,
        slurm_cluster.gpus_per_node,
    )
    made.root.mkdir()
    made.store().close()
    yield made
    subprocess.run(["scancel", "--user=root"], check=True)
    scontrol("update", "NodeName=node1", "State=RESUME")


def test_a_run_makes_way_and_ends_as_if_nothing_had_been(stage):
    reference = stage.undisturbed(Training(name="reference", **TRAINING))
    proof = stage.prove(Training(name="proof", **TRAINING))
    assert (proof.runs, proof.step, proof.loss) == (2, 120, reference.loss)
    assert stage.actions("preempt") == [], "nothing was proven before"

    job_id = stage.make_way(
        Training(name="way", **TRAINING), during=lambda job_id: said(stage, job_id)
    )

    outcome = stage.outcome(job_id)
    assert (outcome.state, outcome.runs) == ("COMPLETED", 2)
    assert (outcome.step, outcome.loss) == (120, reference.loss)
    assert outcome.repeated < TRAINING["every"], "nothing is lost beyond the last checkpoint"
    (stop,) = stage.actions("preempt")
    (let_go,) = stage.actions("release")
    assert (stop.state, let_go.state) == ("done", "done")
    assert stop.action.reason.step % TRAINING["every"] == 0
    shorts = stage.scheduler.jobs(list(stop.action.for_jobs))
    assert all(one.start_time < stage.job(job_id).start_time for one in shorts)

    lost = stage.make_way(
        Training(name="loses", **TRAINING),
        during=lambda job_id: shutil.rmtree(stage.started[job_id] / "checkpoints"),
    )
    assert stage.outcome(lost).repeated >= TRAINING["every"], "it has begun anew"
    never = stage.make_way(Training(name="never", **TRAINING))
    assert stage.outcome(never).runs == 1, "its code is not stopped any more"


def said(stage, job_id):
    """What its owner is told while it is held."""
    with closing(stage.store()) as store:
        view = job_view(stage.scheduler, store, viewer_of(stage.settings), job_id)
        text = why_sentence(view, (), time.time(), lambda seconds: f"{seconds:.0f} s")
    assert "held by SchedMate" in text or not is_held(stage.job(job_id))
    assert "made way for jobs" in text
