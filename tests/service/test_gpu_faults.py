"""A GPU of the local queue that fails: blamed, avoided by the retry, shown, and taken back."""

from __future__ import annotations

import json
import os
import socket
from dataclasses import replace

import pytest
from click.testing import CliRunner

from schedmate.cli import root
from schedmate.model import JobState
from schedulers.gpu_box import GpuBox
from service.place import Place

pytestmark = pytest.mark.processes

HOST = socket.gethostname()
FAILS_ON_GPU_0 = """\
echo "$SCHEDMATE_RESTART_COUNT:$CUDA_VISIBLE_DEVICES" >> ran
case "$CUDA_VISIBLE_DEVICES" in *0*)
    touch failed
    while [ ! -e counted ]; do sleep 0.05; done
    echo "RuntimeError: CUDA error: uncorrectable ECC error encountered"
    exit 1
esac
"""


class GpuPlace(Place):
    @property
    def settings(self):
        found = super().settings
        local = replace(found.local, slots=None, lock_dir=str(self.root / "locks"))
        return replace(found, local=local)


@pytest.fixture
def box(tmp_path, monkeypatch):
    box = GpuBox(tmp_path / "box", count=3)
    (tmp_path / "locks").mkdir()
    monkeypatch.setenv("PATH", box.path)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return box


@pytest.fixture
def place(box, tmp_path, monkeypatch):
    place = GpuPlace(tmp_path)
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(place.settings.state_dir))
    monkeypatch.setenv("SCHEDMATE_LOCAL__LOCK_DIR", str(tmp_path / "locks"))
    yield place
    place.leave()


def nodes(*words):
    done = CliRunner().invoke(root, ["nodes", *words, "--json"])
    assert done.exit_code == 0, done.output
    return {one["name"]: one for one in json.loads(done.output)["nodes"]}


def refusal(*words):
    return str(CliRunner().invoke(root, ["nodes", *words]).exception)


def test_a_memory_error_takes_one_gpu_out_and_the_job_elsewhere(place, box):
    request = replace(place.submission("").request, gpus=2)
    job_id = place.submit(FAILS_ON_GPU_0, request=request)
    place.looks_until((place.work / "failed").exists, "its start")
    box.show(ecc={0: 1})
    (place.work / "counted").touch()
    place.looks_until(lambda: place.ended(job_id, restarts=1), "the retry")

    assert place.lines() == ["0:0,1", "1:1,2"]
    assert place.job(job_id).request.exclude_nodes == (f"{HOST}:gpu0",), "gpu1 did nothing"
    with place.store() as store:
        blame = store.job_facts([job_id])[job_id].diagnoses[0].blame
    assert (blame.nodes, blame.nodes_by) == ((f"{HOST}:gpu0",), "scheduler")
    bad = nodes()[f"{HOST}:gpu0"]
    assert (bad["condition"], bad["reason"].partition(":")[0]) == ("drain", "ECC")
    assert nodes(f"{HOST}:gpu0", "--resume")[f"{HOST}:gpu0"]["condition"] == "up"


def test_a_gpu_is_left_out_and_taken_back_by_hand(place):
    name = f"{HOST}:gpu1"
    assert nodes(name, "--drain", "its fan is loud")[name]["reason"] == "its fan is loud"
    assert "left out already: its fan is loud" in refusal(name, "--drain", "hot")
    place.submit("true", request=replace(place.submission("").request, gpus=2))
    place.looks_until(lambda: place.ended("1"), "its end")
    assert place.job("1").nodes == (f"{HOST}:gpu0", f"{HOST}:gpu2")

    assert nodes(name, "--resume")[name]["condition"] == "up"
    assert refusal(name, "--resume") == f"{name} is not left out"
    assert refusal("--resume").startswith("name the GPUs")
    assert refusal("box:gpu9", "--resume").endswith("has no GPU box:gpu9")


def test_a_gpu_is_not_to_blame_for_its_machine(place, box):
    job_id = place.submit("echo 'OSError: [Errno 28] No space left on device: /tmp/x'; exit 1")
    place.looks_until(lambda: place.actions(job_id, "requeue"), "a decision")

    assert place.job(job_id).request.exclude_nodes == ()


def test_an_xid_line_names_the_gpu_by_its_address(place):
    """Of two GPUs the kernel's line names one: that one is blamed, and the retry avoids it."""
    line = "NVRM: Xid (PCI:0000:3c:00): 79, pid=812, GPU has fallen off the bus."
    fails = f"touch failed; echo '{line}'; exit 1"
    script = f'echo "$CUDA_VISIBLE_DEVICES" >> ran; [ -e failed ] || {{ {fails}; }}'
    job_id = place.submit(script, request=replace(place.submission("").request, gpus=2))
    place.looks_until(lambda: place.ended(job_id, restarts=1), "the retry")

    assert place.lines() == ["0,1", "0,2"]
    with place.store() as store:
        found = store.job_facts([job_id])[job_id].diagnoses[0]
    assert found.blame.nodes == (f"{HOST}:gpu1",)


def test_status_counts_gpus(place, box):
    box.show(busy={2: [os.getpid()]})
    nodes(f"{HOST}:gpu1", "--drain", "its fan is loud")
    job_id = place.submit("sleep 300", request=replace(place.submission("").request, gpus=1))
    place.looks_until(lambda: place.job(job_id).state is JobState.RUNNING, "its start")

    done = CliRunner().invoke(root, ["status"])

    assert "1 run jobs, 1 used by others, 1 drained; 32% busy in the mean" in done.output
    found = json.loads(CliRunner().invoke(root, ["status", "--json"]).output)["gpus"]
    assert (found["running"], found["withheld"], found["drained"], found["free"]) == (1, 1, 1, 0)
