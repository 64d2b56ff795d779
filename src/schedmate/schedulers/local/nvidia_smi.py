"""What nvidia-smi answers: the GPUs of the machine, and who uses them.

Documented formats only; what cannot be read is left out.
"""

from __future__ import annotations

import re
import shutil
import time
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET  # the driver's own output

from schedmate.schedulers.local.devices import Device
from schedmate.schedulers.local.gpu_answer import (
    DeviceUse,
    GpuAnswer,
    GpuProcess,
    NoAnswerError,
    run_tool,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_GPU = re.compile(r"GPU (\d{1,4}): (.{1,120}?) \(UUID: ([\w./-]{1,120})\)\s*", re.ASCII)
_PART = re.compile(
    r"\s+MIG (\S{1,40})\s+Device\s+(\d{1,4}): \(UUID: ([\w./-]{1,120})\)\s*", re.ASCII
)
_STATE = (
    "uuid,utilization.gpu,memory.used,memory.total,ecc.errors.uncorrected.volatile.total,pci.bus_id"
)
_APPS = "gpu_uuid,pid,used_memory"
_CSV = "--format=csv,noheader,nounits"


def is_installed() -> bool:
    return shutil.which("nvidia-smi") is not None


def apps_command() -> tuple[str, ...] | None:
    """Prints which programs compute on which GPU; None where it is not installed."""
    path = shutil.which("nvidia-smi")
    return None if path is None else (path, f"--query-compute-apps={_APPS}", _CSV)


def ask(deadline_s: float) -> GpuAnswer:
    """One look at everything, with the time at which it began."""
    at, until = time.time(), time.monotonic() + deadline_s
    if not is_installed():
        return GpuAnswer(at=at)
    try:
        devices = read_list(_run(("-L",), until))
    except NoAnswerError as error:
        return GpuAnswer(at=at, trouble=str(error))
    if not devices:
        return GpuAnswer(at=at, trouble="nvidia-smi lists no GPU in words that are known")
    try:
        uses = _uses(devices, until)
    except (NoAnswerError, ET.ParseError) as error:
        return GpuAnswer(at=at, devices=devices, trouble=str(error))
    return GpuAnswer(at=at, devices=devices, uses=uses)


def _uses(devices: Sequence[Device], until: float) -> dict[str, DeviceUse]:
    if any(one.parent for one in devices):  # only the long answer tells the parts apart
        return read_report(_run(("-q", "-x"), until), devices)
    state = _run((f"--query-gpu={_STATE}", _CSV), until)
    return read_uses(state, _run((f"--query-compute-apps={_APPS}", _CSV), until), devices)


def _run(words: Sequence[str], until: float) -> str:
    return run_tool(("nvidia-smi", *words), until, is_usable=lambda text: bool(_GPU.match(text)))


def read_list(text: str) -> tuple[Device, ...]:
    """`nvidia-smi -L`; a GPU that is parted is handed out by its parts only."""
    found: list[Device] = []
    for line in text.splitlines():
        gpu, part = _GPU.fullmatch(line), _PART.fullmatch(line)
        if gpu is not None:
            number, kind, uuid = gpu.groups()
            found.append(Device(name=f"gpu{number}", visible=number, kind=kind, uuid=uuid))
        elif part is not None and found:
            whole = found[-1]
            profile, number, uuid = part.groups()
            parent = whole.parent or whole.uuid
            name = f"{whole.name.partition('.')[0]}.{number}"
            if not whole.parent:
                found.pop()
            kind = f"{whole.kind if not whole.parent else whole.kind.rpartition(' ')[0]} {profile}"
            found.append(Device(name=name, visible=uuid, kind=kind, uuid=uuid, parent=parent))
    return tuple(found)


def read_uses(state: str, apps: str, devices: Sequence[Device]) -> dict[str, DeviceUse]:
    """Of the csv answers about the GPUs, and about the programs that compute on them."""
    names = {one.uuid: one.name for one in devices}
    processes: dict[str, list[GpuProcess]] = {one.name: [] for one in devices}
    for uuid, pid, memory, *_ in _rows(apps, _APPS):
        if uuid in names and pid.isdecimal():
            processes[names[uuid]].append(GpuProcess(int(pid), _number(memory)))
    found = {}
    for uuid, busy, used, total, ecc, pci, *_ in _rows(state, _STATE):
        if uuid in names:
            name, percent = names[uuid], _number(busy)
            found[name] = DeviceUse(
                busy=None if percent is None else percent / 100,
                memory_mb=_number(used),
                total_mb=_number(total),
                ecc_errors=_number(ecc),
                processes=tuple(processes[name]),
                pci=_pci(pci),
            )
    return found


def read_report(text: str, devices: Sequence[Device]) -> dict[str, DeviceUse]:
    """`nvidia-smi -q -x`, which has the processes of each part of a GPU."""
    found = {}
    for gpu in ET.fromstring(text).iter("gpu"):  # noqa: S314 - from the driver, not a network
        uuid = gpu.findtext("uuid", "").strip()
        for one in devices:
            if one.uuid == uuid:
                found[one.name] = _whole(gpu)
            elif one.parent == uuid:
                found[one.name] = _part(gpu, one.name.rpartition(".")[2])
    return found


def _whole(gpu: ET.Element) -> DeviceUse:
    percent = _number(gpu.findtext("utilization/gpu_util", ""))
    return DeviceUse(
        busy=None if percent is None else percent / 100,
        memory_mb=_number(gpu.findtext("fb_memory_usage/used", "")),
        total_mb=_number(gpu.findtext("fb_memory_usage/total", "")),
        ecc_errors=_ecc(gpu),
        processes=tuple(_processes(gpu, None)),
        pci=_pci(gpu.get("id", "")),
    )


def _part(gpu: ET.Element, number: str) -> DeviceUse:
    for part in gpu.iter("mig_device"):
        if part.findtext("index", "").strip() == number:
            return DeviceUse(
                memory_mb=_number(part.findtext("fb_memory_usage/used", "")),
                total_mb=_number(part.findtext("fb_memory_usage/total", "")),
                ecc_errors=_ecc(gpu),
                processes=tuple(_processes(gpu, _instance(part))),
                pci=_pci(gpu.get("id", "")),
            )
    return DeviceUse()


def _ecc(gpu: ET.Element) -> int | None:
    volatile = gpu.find("ecc_errors/volatile")
    counts = [] if volatile is None else volatile.iter()
    found = [
        number
        for one in counts
        if one.tag.endswith("_uncorrectable") and (number := _number(one.text or "")) is not None
    ]
    return sum(found) if found else None


def _processes(gpu: ET.Element, instance: tuple[str, str] | None) -> Iterator[GpuProcess]:
    """Of one part, or of the whole; those that only draw are left out."""
    for one in gpu.iter("process_info"):
        pid = one.findtext("pid", "").strip()
        computes = "C" in one.findtext("type", "C")
        if pid.isdecimal() and computes and instance in (None, _instance(one)):
            yield GpuProcess(int(pid), _number(one.findtext("used_memory", "")))


def _instance(element: ET.Element) -> tuple[str, str]:
    gpu, compute = (element.findtext(f"{kind}_instance_id", "") for kind in ("gpu", "compute"))
    return gpu.strip(), compute.strip()


def _rows(text: str, fields: str) -> Iterator[list[str]]:
    width = fields.count(",") + 1
    rows = ([part.strip() for part in line.split(",")] for line in text.splitlines())
    return (row for row in rows if len(row) == width)


def _pci(text: str) -> str:
    """`00000000:3B:00.0` without the longer domain and the function; empty where it is none."""
    found = re.match(r"[0-9A-Fa-f]{0,4}([0-9A-Fa-f]{4}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2})\.", text)
    return "" if found is None else found[1].lower()


def _number(text: str) -> int | None:
    """`81559`, `81559 MiB`, `97 %`; None for `[N/A]` and its kind."""
    found = re.match(r"\s*(\d{1,12})(?: (?:MiB|%))?\s*$", text, re.ASCII)
    return None if found is None else int(found[1])
