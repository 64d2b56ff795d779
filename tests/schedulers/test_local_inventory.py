"""What the daemon knows of the machine's GPUs, by a stand-in nvidia-smi."""

from __future__ import annotations

import fcntl
import os
import time

import pytest

from schedmate.config import LocalSettings
from schedmate.model import SchedulerError
from schedmate.schedulers.local import inventory as inventory_module
from schedmate.schedulers.local.gpu_answer import DeviceUse
from schedmate.schedulers.local.gpu_drains import GpuDrains
from schedmate.schedulers.local.gpu_locks import lock_directory, lock_path
from schedmate.schedulers.local.gpu_record import known_gpus, read_record
from schedmate.schedulers.local.inventory import Inventory
from schedmate.schedulers.local.layout import Layout
from schedulers.gpu_box import GpuBox
from schedulers.local_site import wait_for

pytestmark = pytest.mark.processes


@pytest.fixture
def box(tmp_path, monkeypatch):
    box = GpuBox(tmp_path / "box")
    monkeypatch.setenv("PATH", box.path)
    (tmp_path / "locks").mkdir()
    (tmp_path / "local").mkdir()
    return box


class Desk:
    """An inventory whose clock the test moves."""

    def __init__(self, tmp_path, **settings):
        self.layout = Layout(tmp_path / "local")
        self.layout.root.mkdir(exist_ok=True)
        self.settings = LocalSettings(lock_dir=str(tmp_path / "locks"), **settings)
        self.answers, self.heard = [], 0
        self.inventory = Inventory(self.layout, self.settings, lambda: self.answers.append(1))
        self.now = time.time()

    def hear(self, held=(), later_s=6.0):
        """Ask, and take in the answer."""
        self.now += later_s
        self.inventory.refresh(self.now, held, wanted=True)
        wait_for(lambda: len(self.answers) > self.heard, "an answer")
        self.heard = len(self.answers)
        self.inventory.refresh(self.now, held, wanted=True)
        return self

    def free(self):
        return [one.name for one in self.inventory.free(self.now) if one.is_gpu]


def test_gpus_that_others_use_are_not_free(box, tmp_path):
    desk = Desk(tmp_path)
    assert desk.free() == [], "not before it is known who uses them"
    box.show(busy={2: [os.getpid()]}, memory={5: 40000})
    desk.hear(held=["gpu0"])

    assert desk.free() == ["gpu1", "gpu3", "gpu4", "gpu6", "gpu7"]
    withheld = desk.inventory.withheld(desk.now)
    assert {name: one.kind for name, one in withheld.items()} == {"gpu2": "used", "gpu5": "used"}
    assert withheld["gpu2"].by[0].pid == os.getpid()
    assert read_record(desk.layout.gpu_record).withheld == withheld

    box.show(busy={}, memory={})
    assert desk.hear().free()[:3] == ["gpu0", "gpu1", "gpu2"], "it was short"


def test_nothing_is_handed_out_before_it_is_known_what_there_is(box, tmp_path):
    """As after a boot: a GPU job that started on a slot would see all GPUs."""
    desk = Desk(tmp_path)
    assert desk.inventory.devices == ()
    assert len(desk.hear().inventory.devices) == 8

    box.fail("exit 9")
    (tmp_path / "other").mkdir()
    other = Desk(tmp_path / "other").hear()
    assert not any(one.is_gpu for one in other.inventory.devices), "a broken tool holds nobody up"


def test_one_question_serves_many_looks(box, tmp_path):
    desk = Desk(tmp_path).hear()
    for _ in range(50):
        desk.inventory.refresh(desk.now, (), wanted=True)
        desk.free()

    assert box.times_asked == 3
    desk.inventory.refresh(desk.now + 1000, (), wanted=False)
    assert box.times_asked == 3, "and none where no job waits for a GPU"


@pytest.mark.parametrize(
    "fault",
    [
        ("exec sleep 1000", "does not answer"),
        ("echo garbage; echo '\\377\\376'", "lists no GPU in words that are known"),
        ("echo 'NVIDIA-SMI has failed: no driver'; exit 9", "has failed: no driver"),
        ("exit 6", "exit code 6"),
    ],
)
def test_while_nvidia_smi_fails_its_last_answer_counts(box, tmp_path, monkeypatch, caplog, fault):
    script, trouble = fault
    monkeypatch.setattr(inventory_module, "_DEADLINE_S", 1.0)
    box.show(busy={1: [os.getpid()]})
    desk = Desk(tmp_path).hear()
    box.fail(script)
    begun = time.monotonic()
    desk.now += 60
    desk.inventory.refresh(desk.now, (), wanted=True)
    assert time.monotonic() - begun < 0.9, "nobody waits for it"
    assert desk.free() == []
    desk.hear(later_s=0)

    assert desk.free() == [f"gpu{number}" for number in (0, 2, 3, 4, 5, 6, 7)]
    assert trouble in caplog.text
    assert trouble in read_record(desk.layout.gpu_record).answer.trouble
    assert Desk(tmp_path).hear().free() == [f"gpu{number}" for number in range(8)], (
        "the next daemon"
    )


def test_without_nvidia_smi_there_are_slots(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    desk = Desk(tmp_path, slots=3)
    desk.inventory.refresh(desk.now, ["1"], wanted=True)

    assert [one.name for one in desk.inventory.free(desk.now)] == ["0", "2"]
    assert (
        known_gpus(desk.layout.gpu_record, max_age_s=5, withheld=lambda _: {}).answer.devices == ()
    )


def test_settings_may_change_while_it_runs(box, tmp_path):
    desk = Desk(tmp_path, slots=2).hear()
    assert desk.free() == ["gpu0", "gpu1"]

    desk.inventory.configure(LocalSettings(gpus=("4-5:h100", "7")))

    assert desk.free() == ["gpu4", "gpu5", "gpu7"]


def test_parts_of_a_gpu_are_used_one_by_one(box, tmp_path):
    box.show(count=2, parts={0: ["1g.10gb", "1g.10gb"]}, busy_parts={(0, 1): os.getpid()})
    desk = Desk(tmp_path).hear()

    assert desk.free() == ["gpu0.0", "gpu1"]
    given = desk.inventory.variables(["gpu0.0"])
    assert given["CUDA_VISIBLE_DEVICES"] == f"MIG-{box.uuid(0)}-0"


def test_a_gpu_that_another_process_has_locked_is_not_free(box, tmp_path):
    desk = Desk(tmp_path).hear()
    third = next(one for one in desk.inventory.devices if one.name == "gpu3")
    path = lock_path(tmp_path / "locks", third)
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        withheld = desk.inventory.withheld(desk.now)
        assert (withheld["gpu3"].kind, withheld["gpu3"].by[0].pid) == ("locked", os.getpid())
        assert "gpu3" not in desk.free()

    assert "gpu3" in desk.free(), "the lock went with its holder"
    desk.inventory.refused(["gpu3"], "locked", desk.now)
    assert "gpu3" not in desk.free(), "tried in vain: not again at once"


def test_a_gpu_with_memory_errors_is_left_out_until_it_is_taken_back(box, tmp_path):
    box.show(ecc={6: 2})
    desk = Desk(tmp_path).hear()
    assert "gpu6" not in desk.free()
    drains = GpuDrains(desk.layout.gpu_drains)
    assert drains.all()["gpu6"].reason.startswith("ECC: 2 errors")

    with pytest.raises(SchedulerError, match="not left out for 'another'"):
        drains.resume("gpu6", "another")
    drains.resume("gpu6", drains.all()["gpu6"].reason)
    assert "gpu6" in desk.hear().free(), "a person knows better"
    box.show(ecc={6: 3})
    assert "gpu6" not in desk.hear().free(), "until there are more"
    box.show(ecc={})
    assert "gpu6" in desk.hear().free(), "it was reset"


def test_a_person_leaves_a_gpu_out(tmp_path):
    drains = GpuDrains(tmp_path / "drains.json")
    drains.drain("gpu1", "its fan is loud", 5.0)
    drains.note_errors({"gpu1": DeviceUse(ecc_errors=0)}, 6.0)

    assert GpuDrains(tmp_path / "drains.json").all()["gpu1"].reason == "its fan is loud"
    with pytest.raises(SchedulerError, match="left out already: its fan"):
        drains.drain("gpu1", "other", 7.0)


def test_the_common_directory_is_roots_and_sticky(tmp_path, monkeypatch):
    assert lock_directory(str(tmp_path)) == tmp_path
    monkeypatch.setattr("schedmate.schedulers.local.gpu_locks._PLACES", (str(tmp_path),))
    tmp_path.chmod(0o777)
    assert lock_directory("") is None, "anybody could replace a lock there"
