"""Which devices a job may be given, by what it asks for and what the machine has."""

from __future__ import annotations

import pytest

from schedmate.model import Request
from schedmate.schedulers.local.devices import (
    Device,
    choose,
    configured_gpus,
    fits_type,
    make_slots,
    node_of,
    variables_of,
    visible_gpus,
)
from schedmate.schedulers.local.gpu_answer import DeviceUse, GpuProcess
from schedmate.schedulers.local.nvidia_smi import read_list, read_uses
from schedmate.schedulers.local.outsiders import (
    Outsider,
    Outsiders,
    name_users,
    outsiders_on,
)

LISTED = """\
GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-aaaa)
  MIG 1g.5gb      Device  0: (UUID: MIG-0000)
  MIG 3g.20gb     Device  1: (UUID: MIG-1111)
GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-bbbb)
GPU 2: NVIDIA H100 80GB HBM3 (UUID: GPU-cccc)
GPU 3: NVIDIA GeForce RTX 4090 (UUID: GPU-dddd)
GPU 4: NVIDIA H100 80GB HBM3 (UUID: GPU-eeee)
WARNING: infoROM is corrupted at gpu 0000:3B:00.0
"""
GPUS = read_list(LISTED)
MACHINE = GPUS


def given(gpus, free=MACHINE, **parts):
    return choose(Request(gpus=gpus, **parts), free, MACHINE, "box")


def test_a_parted_gpu_is_handed_out_by_its_parts():
    assert [one.name for one in GPUS] == ["gpu0.0", "gpu0.1", "gpu1", "gpu2", "gpu3", "gpu4"]
    first, second, whole, *_ = GPUS
    assert (first.visible, first.parent, first.kind) == (
        *("MIG-0000", "GPU-aaaa"),
        "NVIDIA A100-SXM4-40GB 1g.5gb",
    )
    assert second.kind == "NVIDIA A100-SXM4-40GB 3g.20gb"
    assert (whole.visible, whole.uuid, whole.parent) == ("1", "GPU-bbbb", "")


@pytest.mark.parametrize(
    ("wanted", "kind", "fits"),
    [
        (None, "NVIDIA L4", True),
        ("h100", "NVIDIA H100 80GB HBM3", True),
        ("H100-80GB", "NVIDIA H100 80GB HBM3", True),
        ("rtx4090", "NVIDIA GeForce RTX 4090", True),
        ("rtx_4090", "NVIDIA GeForce RTX 4090", True),
        ("a100", "NVIDIA A100-SXM4-40GB", True),
        ("a10", "NVIDIA A100-SXM4-40GB", False),
        ("h10", "NVIDIA H100 80GB HBM3", False),
        ("l40s", "NVIDIA L40", False),
        ("1g.5gb", "NVIDIA A100-SXM4-40GB 1g.5gb", True),
        ("1g.5gb", "NVIDIA A100-SXM4-40GB 3g.20gb", False),
        ("a100_1g.5gb", "NVIDIA A100-SXM4-40GB 1g.5gb", True),
    ],
)
def test_a_type_is_a_word_of_the_product_name(wanted, kind, fits):
    assert fits_type(wanted, kind) is fits


def test_what_a_job_asks_for_is_what_it_gets():
    assert given(0) == ()
    assert given(1, gpu_type="rtx4090") == ("gpu3",)
    assert given(1, gpu_type="3g.20gb") == ("gpu0.1",)
    assert given(2) == ("gpu1", "gpu2"), "of one type, next to each other"
    assert given(3) == ("gpu1", "gpu2", "gpu4"), "of one type before the neighbour of another"
    assert given(4) == ("gpu1", "gpu2", "gpu3", "gpu4"), "no part of a GPU among whole ones"
    assert given(5) is None
    assert given(1, gpu_type="l4") is None
    assert given(1, exclude_nodes=("box:gpu1", "box:gpu3", "other:gpu2")) == ("gpu2",)
    assert given(1, required_nodes=("box:gpu4",)) == ("gpu4",)
    assert given(1, free=[one for one in MACHINE if one.name != "gpu3"]) == ("gpu1",)


def test_where_there_are_no_gpus_each_that_is_asked_for_takes_a_slot():
    slots = make_slots(3)

    assert choose(Request(gpus=2), slots, slots, "box") == ("0", "1")
    assert choose(Request(gpus=4), slots, slots, "box") is None
    assert variables_of(("0",), slots) == {}
    assert node_of("box", "0") == "box"


def test_programs_see_their_gpus_only():
    assert variables_of(("gpu1", "gpu4"), MACHINE) == {
        "CUDA_VISIBLE_DEVICES": "1,4",
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "SLURM_JOB_GPUS": "1,4",
    }
    part = variables_of(("gpu0.1",), MACHINE)
    assert part == {"CUDA_VISIBLE_DEVICES": "MIG-1111", "SLURM_JOB_GPUS": "MIG-1111"}
    assert variables_of((), MACHINE) == {"CUDA_VISIBLE_DEVICES": ""}


@pytest.mark.parametrize(
    ("stated", "names", "unknown"),
    [
        (("1", "4:fast"), ["gpu1", "gpu4"], ()),
        (("1-2", "9"), ["gpu1", "gpu2"], ("9",)),
        (("0",), ["gpu0.0", "gpu0.1"], ()),
        (("MIG-1111", "GPU-dd"), ["gpu0.1", "gpu3"], ()),
        (("none",), [], ()),
    ],
)
def test_the_setting_names_what_is_handed_out(stated, names, unknown):
    chosen, missing = configured_gpus(stated, GPUS)

    assert ([one.name for one in chosen], missing) == (names, unknown)
    assert all(one.kind == "fast" for one in chosen if one.name == "gpu4")


def test_the_setting_is_believed_where_nothing_lists_gpus():
    chosen, unknown = configured_gpus(("0-1:mi300", "left"), ())

    assert unknown == ()
    assert [(one.name, one.visible, one.kind) for one in chosen] == [
        *(("gpu0", "0", "mi300"), ("gpu1", "1", "mi300")),
        ("left", "left", ""),
    ]


@pytest.mark.parametrize(
    ("variable", "names"),
    [
        ("1,4", ["gpu1", "gpu4"]),
        ("GPU-cc", ["gpu2"]),
        ("MIG-1111", ["gpu0.1"]),
        ("4,-1,1", ["gpu4"]),
        ("", []),
        ("-1", []),
        ("NoDevFiles", []),
    ],
)
def test_a_callers_variable_is_read_as_cuda_reads_it(variable, names):
    assert [one.name for one in visible_gpus(variable, GPUS)] == names


def test_uses_are_read_and_what_is_unknown_stays_so():
    state = (
        "GPU-bbbb, 97, 30012, 81559, 0, 00000000:3B:00.0\n"
        "GPU-dddd, [N/A], 11, 24564, [N/A], [N/A]\nGPU-eeee, nonsense\n"
    )
    apps = "GPU-bbbb, 331, 30000\nGPU-bbbb, 332, [N/A]\nGPU-zzzz, 5, 1\n[Not Found], x, y\n"

    uses = read_uses(state, apps, GPUS)

    assert uses["gpu1"] == DeviceUse(
        busy=0.97,
        memory_mb=30012,
        total_mb=81559,
        ecc_errors=0,
        processes=(GpuProcess(331, 30000), GpuProcess(332, None)),
        pci="0000:3b:00",
    )
    assert (uses["gpu3"].busy, uses["gpu3"].ecc_errors, uses["gpu3"].pci) == (None, None, "")
    assert "gpu4" not in uses


OWNERS = {331: "ada", 332: "", 400: "us"}


def others(use, *, ours=False):
    found = outsiders_on(use, ours=ours, owner_of=OWNERS.get, is_ours=lambda pid: pid == 400)
    return [str(one) for one in found]


def test_outsiders_are_processes_that_live_and_are_not_ours():
    def used(*pids, memory=30000):
        return DeviceUse(
            busy=0.9, memory_mb=30000, processes=tuple(GpuProcess(pid, memory) for pid in pids)
        )

    assert others(used(331, 332, 400)) == ["pid 331, ada", "pid 332"]
    assert others(used(400)) == []
    assert others(used(331, memory=30)) == [], "a service of the driver"
    assert others(used(331, memory=None)) == ["pid 331, ada"]
    assert others(used(999)) == ["a process that is not listed"], "the one that is has ended"
    assert others(used(999), ours=True) == [], "it was our run's"
    assert others(DeviceUse(memory_mb=500, total_mb=24000)) == [], "a screen"
    assert others(DeviceUse(memory_mb=4, busy=0.5)) == ["a process that is not listed"]
    assert others(DeviceUse()) == []


def test_a_gpu_is_left_alone_while_it_is_used_and_a_while_after_a_longer_use():
    ada = (Outsider(331, "ada"),)
    known = Outsiders()
    known.note({"gpu0": ada, "gpu1": ()}, 100.0)
    assert known.using(100.0) == {"gpu0": ada}, "at once"
    known.note({}, 105.0)
    assert known.using(105.0) == {}, "it was short"

    known.note({"gpu0": ada}, 110.0)
    known.note({"gpu0": ada}, 125.0)
    known.note({}, 130.0)
    assert known.using(154.0) == {"gpu0": ada}, "between two of their programs it is still theirs"
    assert known.using(156.0) == {}


def test_who_waits_reads_for_whom():
    by = {"gpu0": (Outsider(331, "ada"),), "gpu1": (Outsider(None),)}

    assert name_users(by) == " (pid 331, ada)"
    assert name_users({}) == ""


def test_a_name_says_what_a_device_is():
    assert [Device(name=name).is_gpu for name in ("gpu3", "gpu0.1", "7")] == [True, True, False]
    assert node_of("box", "gpu0.1") == "box:gpu0.1"
