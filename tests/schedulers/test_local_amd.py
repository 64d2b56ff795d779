"""AMD's GPUs, by a stand-in rocm-smi; no real one was asked."""

from __future__ import annotations

import json
import os
import time

import pytest

from schedmate.config import LocalSettings
from schedmate.model import BadInput, JobState, Request
from schedmate.schedulers.local import rocm_smi
from schedmate.schedulers.local.gpu_answer import GpuProcess
from schedmate.schedulers.local.rocm_smi import read_cards
from schedulers.local_site import LocalSite

pytestmark = pytest.mark.processes

SAY = (
    'echo "$SCHEDMATE_JOB_ID:$ROCR_VISIBLE_DEVICES:$HIP_VISIBLE_DEVICES:$CUDA_VISIBLE_DEVICES"'
    " >> ran"
)


def card(number, **more):
    return {
        "Device Name": "0x740c",
        "GUID": str(1000 + number),
        "Unique ID": f"0x8feb2b8a30{number:02x}",
        "PCI Bus": f"0000:C{number}:00.0",
        "GPU use (%)": "0",
        "VRAM Total Memory (B)": str(64 << 30),
        "VRAM Total Used Memory (B)": str(10 << 20),
        "Card Series": "AMD Instinct MI250X",
        **more,
    }


def uuid(number):
    return f"GPU-00008feb2b8a30{number:02x}"


class AmdBox:
    def __init__(self, root, monkeypatch):
        self.root = root
        (root / "bin").mkdir()
        tool = root / "bin" / "rocm-smi"
        tool.write_text(f"#!/bin/sh\ncat {root}/cards\n")
        tool.chmod(0o755)
        monkeypatch.setenv("PATH", f"{root / 'bin'}:/usr/bin:/bin")
        monkeypatch.setattr(rocm_smi, "_PROCESSES", root / "kfd")
        for name in ("CUDA", "HIP", "ROCR"):
            monkeypatch.delenv(f"{name}_VISIBLE_DEVICES", raising=False)
        self.show(*(card(number) for number in range(3)))

    def show(self, *cards):
        found = {f"card{number}": one for number, one in enumerate(cards)}
        (self.root / "draft").write_text(f"WARNING: low power\n{json.dumps(found)}\n")
        (self.root / "draft").replace(self.root / "cards")


@pytest.fixture
def box(tmp_path, monkeypatch):
    (tmp_path / "box").mkdir()
    return AmdBox(tmp_path / "box", monkeypatch)


@pytest.fixture
def site(box, tmp_path):
    (tmp_path / "locks").mkdir()
    settings = LocalSettings(lock_dir=str(tmp_path / "locks"), kill_wait_s=0.3, poll_s=0.02)
    site = LocalSite(tmp_path, settings, real=False)
    yield site
    site.leave()


def test_jobs_get_amds_gpus_by_their_unique_ids(site):
    two = site.shell(SAY, gpus=2)
    site.ended(two)
    none = site.shell(SAY, request=Request(no_gpus=True))
    site.ended(none)
    typed = site.shell(SAY, request=Request(gpus=1, gpu_type="mi250x"))
    site.ended(typed)

    assert site.lines() == [
        f"{two}:{uuid(0)},{uuid(1)}:0,1:0,1",
        f"{none}::-1:-1",
        f"{typed}:{uuid(0)}:0:0",
    ]


def test_others_are_left_alone_and_the_callers_variable_is_a_bound(site, box):
    held = box.root / "kfd" / str(os.getpid())
    held.mkdir(parents=True)
    (held / "vram_1000").write_text(str(20 << 30))
    box.show(card(0), card(1, **{"GPU use (%)": "99"}), card(2))
    job_id = site.shell(SAY)
    site.ended(job_id)
    assert site.lines() == [f"{job_id}:{uuid(2)}:0:0"], "gpu0 is a process's, gpu1 is busy"
    box.show(*(card(number) for number in range(3)))

    bound = {**os.environ, "HIP_VISIBLE_DEVICES": "1"}
    job = site.job(site.shell(SAY, env=bound))
    assert len(job.request.exclude_nodes) == 2
    with pytest.raises(BadInput, match="HIP_VISIBLE_DEVICES=7 shows none of this machine's"):
        site.shell(SAY, gpus=1, env={**bound, "HIP_VISIBLE_DEVICES": "7"})
    for _ in range(3):
        site.daemon.cycle(time.time())
    assert site.job(job.id).state is not JobState.FAILED


def test_what_rocm_smi_prints_is_read_in_all_its_spellings(box, tmp_path):
    older = {"Card series": "Vega 20", "Unique ID": "N/A", "GPU use (%)": "N/A"}
    box.show(older)
    answer = rocm_smi.ask(5)
    [device] = answer.devices

    assert (device.kind, device.visible, device.uuid) == ("Vega 20", "0", "")
    assert answer.uses["gpu0"].busy is None
    (box.root / "kfd" / "77").mkdir(parents=True)
    (box.root / "kfd" / "77" / "vram_1000").write_text(str(300 << 20))
    box.show(card(0))
    use = rocm_smi.ask(5).uses["gpu0"]
    assert use.processes == (GpuProcess(77, 300),)
    assert (use.memory_mb, use.total_mb, use.pci) == (10, 65536, "0000:c0:00")


@pytest.mark.parametrize("text", ["", "no devices", "{", "[]", '{"card0": 3}', '{"system": {}}'])
def test_what_is_no_answer_is_none(text):
    assert read_cards(text) == {}
