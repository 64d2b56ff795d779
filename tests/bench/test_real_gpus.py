"""The live experiment on a machine's own GPUs, up to where a GPU is needed."""

from __future__ import annotations

import getpass
import json
import os
import socket
from pathlib import Path

import pytest

from bench.live import real_gpus
from bench.live.real_gpus import Ended, Plan
from schedulers.gpu_box import KIND, GpuBox


def a_plan(**values) -> Plan:
    usual = {"minutes": 60.0, "python": Path("/usr/bin/python3"), "scheduler": "local", "gpus": 2,
             "kinds": (KIND,) * 2, "arms": ("plain", "stack")}  # fmt: skip
    return Plan(**usual | values)


@pytest.mark.processes
def test_without_a_gpu_one_sentence_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(real_gpus.NoGpu, match="no GPU is found: nvidia-smi lists none here"):
        real_gpus.make_plan(60.0, Path("python"), controls=False)


@pytest.mark.processes
def test_the_gpus_of_the_machine_are_used_by_its_own_queue(monkeypatch, tmp_path):
    box = GpuBox(tmp_path / "box", count=3)
    monkeypatch.setenv("PATH", f"{box.tool.parent}:/bin")
    monkeypatch.setattr(real_gpus, "gpus_of_slurm", lambda: 0)
    plan = real_gpus.make_plan(60.0, Path("python"), controls=True)

    assert (plan.scheduler, plan.gpus, plan.kinds) == ("local", 3, (KIND,) * 3)
    assert plan.arms == ("plain", "stack", "las")


@pytest.mark.processes
def test_gpus_of_slurm_are_those_of_its_nodes(monkeypatch, tmp_path):
    (tmp_path / "sinfo").write_text(
        "#!/bin/sh\nprintf 'a gpu:h100:8(S:0-1)\\na gpu:h100:8(S:0-1)\\nb (null)\\n"
        "c gpu:4,shard:8\\n'\n"
    )
    (tmp_path / "sinfo").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    assert real_gpus.gpus_of_slurm() == 12


def test_trainings_fill_the_minutes_that_were_given():
    plan = a_plan(minutes=100.0)
    planned = real_gpus.trainings(plan, step_s=0.01)

    arm_s = 60 * 100 * 0.9 / 2
    assert sum(each.training.steps * 0.01 for each in planned) == pytest.approx(
        0.7 * arm_s * 2, rel=0.01
    )
    assert planned == sorted(planned, key=lambda each: each.at_s)
    assert all(each.training.gpus == 1 for each in planned)
    assert max(each.at_s for each in planned) < 0.4 * arm_s


def test_a_report_has_figures_and_nothing_private(tmp_path, monkeypatch):
    monkeypatch.setattr(real_gpus, "torch_of", lambda _: "2.9")
    ended = {
        "plain": [Ended(100.0, 50.0, 1, "COMPLETED"), Ended(60.0, 10.0, 1, "COMPLETED")],
        "stack": [Ended(30.0, 5.0, 1, "COMPLETED"), Ended(70.0, 10.0, 2, "COMPLETED")],
    }
    path = real_gpus.write_report(a_plan(), ended, tmp_path / "report")

    text, kept = path.read_text(), (tmp_path / "report" / "report.json").read_text()
    assert "| average jct s | 80 | 50 |" in text
    assert "| times better | 1.00 | 1.60 |" in text
    assert json.loads(kept)["times_better"]["stack"] == pytest.approx(1.6)
    for private in (socket.gethostname(), getpass.getuser(), str(tmp_path), "/usr/bin"):
        assert private not in text + kept
