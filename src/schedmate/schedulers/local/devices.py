"""What a job can be given: GPUs by name and type, or slots where a machine has none."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from schedmate.config import LocalSettings
    from schedmate.model.job import Request

NO_GPUS = "none"
_RANGE = re.compile(r"(\d{1,4})-(\d{1,4})", re.ASCII)
_WORDS = re.compile(r"[a-z0-9]+", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A GPU, a part of one (MIG), or a slot, whose name is a number."""

    name: str
    """`gpu3`, `gpu0.1` for the second part of the first GPU, `2` for a slot."""
    visible: str = ""
    """What the variable of its maker calls it; a part has no number there."""
    kind: str = ""
    uuid: str = ""
    parent: str = ""
    """The UUID of the GPU that it is a part of."""
    maker: Literal["nvidia", "amd"] = "nvidia"

    @property
    def is_gpu(self) -> bool:
        return is_gpu(self.name)


def is_gpu(name: str) -> bool:
    return not name.isdecimal()


def node_of(host: str, name: str) -> str:
    """Each GPU is a node, so that it can be blamed and excluded; a slot is the machine."""
    return f"{host}:{name}" if is_gpu(name) else host


def make_slots(count: int) -> tuple[Device, ...]:
    return tuple(Device(name=str(number)) for number in range(count))


def configured_gpus(
    stated: Sequence[str], found: Sequence[Device]
) -> tuple[tuple[Device, ...], tuple[str, ...]]:
    """The GPUs that the setting names, and those of its words that name none.

    Where the machine lists no GPUs the setting is believed.
    """
    if tuple(stated) == (NO_GPUS,):
        return (), ()
    chosen: dict[str, Device] = {}
    unknown = []
    for word in _without_ranges(stated):
        name, _, kind = word.partition(":")
        named = [one for one in found if _is_named(one, name, found)]
        if not found:
            named = [Device(name=f"gpu{name}" if name.isdecimal() else name, visible=name)]
        if not named:
            unknown.append(word)
        chosen |= {one.name: replace(one, kind=kind or one.kind) for one in named}
    return tuple(chosen.values()), tuple(unknown)


def _without_ranges(stated: Iterable[str]) -> Iterator[str]:
    """`0-2:h100` is `0:h100`, `1:h100` and `2:h100`."""
    for word in stated:
        name, colon, kind = word.strip().partition(":")
        found = _RANGE.fullmatch(name)
        if found is None:
            yield f"{name}{colon}{kind}"
            continue
        for number in range(int(found[1]), int(found[2]) + 1):
            yield f"{number}{colon}{kind}"


def _is_named(device: Device, word: str, found: Sequence[Device]) -> bool:
    """By its number, its name or UUID; a GPU's number stands for all its parts too."""
    if word.isdecimal():
        return device.name == f"gpu{word}" or device.name.startswith(f"gpu{word}.")
    if word.lower().startswith(("gpu-", "mig-")):
        uuids = [uuid for uuid in (device.uuid, device.parent) if uuid]
        return any(uuid.lower().startswith(word.lower()) for uuid in uuids)
    return device in found and device.name == word


def devices_of(settings: LocalSettings, found: Sequence[Device]) -> tuple[Device, ...]:
    """What is handed out on a machine with these GPUs; where there are none, slots. A setting that
    names none of them must not let jobs see all."""
    gpus = tuple(found[: settings.slots])
    if settings.gpus:
        gpus, _ = configured_gpus(settings.gpus, found)
    return gpus if gpus or found else make_slots(settings.slots or os.cpu_count() or 1)


def visible_gpus(variable: str, found: Sequence[Device]) -> tuple[Device, ...]:
    """Those that a CUDA_VISIBLE_DEVICES lets a program see: as CUDA, up to the first wrong one."""
    seen: dict[str, Device] = {}
    for word in variable.split(","):
        named = [one for one in found if _is_named(one, word.strip(), found)]
        if not named:
            break
        seen |= {one.name: one for one in named}
    return tuple(seen.values())


def fits_type(wanted: str | None, kind: str) -> bool:
    """Whether `h100`, `rtx4090` or `a100-80gb` means a GPU of this product name."""
    words, parts = _WORDS.findall(kind.lower()), _WORDS.findall((wanted or "").lower())
    if set(parts) <= set(words):
        return True
    joined = "".join(parts)
    return any(
        joined == "".join(words[first:last])
        for first in range(len(words))
        for last in range(first + 1, len(words) + 1)
    )


def kept_from(request: Request, nodes: Sequence[str]) -> Request:
    """The request, with these nodes excluded too."""
    return replace(request, exclude_nodes=tuple(dict.fromkeys((*request.exclude_nodes, *nodes))))


def suitable(request: Request, devices: Sequence[Device], host: str) -> list[Device]:
    """Those of the machine's devices that the request allows.

    A part of a GPU is given only where no whole one is of that type.
    """
    if not any(one.is_gpu for one in devices):
        return list(devices)
    fitting = [one for one in devices if fits_type(request.gpu_type, one.kind)]
    whole = [one for one in fitting if not one.parent]
    return [
        one
        for one in whole or fitting
        if node_of(host, one.name) not in request.exclude_nodes
        and _is_allowed(one, request.required_nodes, host)
    ]


def _is_allowed(device: Device, required: Collection[str], host: str) -> bool:
    named = [node for node in required if node.startswith(f"{host}:")]
    return not named or node_of(host, device.name) in named


def choose(
    request: Request, free: Sequence[Device], devices: Sequence[Device], host: str
) -> tuple[str, ...] | None:
    """The names of what the job gets of `free`, None while that is too little.

    GPUs of one type where possible, and those that are next to each other.
    """
    names = {one.name for one in free}
    fitting = [one for one in suitable(request, devices, host) if one.name in names]
    count = request.gpus
    if len(fitting) < count or not count:
        return None if count else ()
    by_kind: dict[str, list[int]] = defaultdict(list)
    for at, one in enumerate(fitting):
        by_kind[one.kind].append(at)
    groups = [group for group in by_kind.values() if len(group) >= count]
    group = min(groups, key=len) if groups else list(range(len(fitting)))
    order = {one.name: at for at, one in enumerate(devices)}
    places = [order[fitting[at].name] for at in group]
    spans = [places[at + count - 1] - places[at] for at in range(len(places) - count + 1)]
    first = spans.index(min(spans))
    return tuple(fitting[at].name for at in group[first : first + count])


def bound_of(env: Mapping[str, str], gpus: Sequence[Device]) -> tuple[str, str | None]:
    """The variable by which a caller says what a program may see, and what it says."""
    amd = any(one.maker == "amd" for one in gpus)
    names = ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES") if amd else ()
    name = next((one for one in names if one in env), "CUDA_VISIBLE_DEVICES")
    return name, env.get(name)


def variables_of(names: Sequence[str], devices: Sequence[Device]) -> dict[str, str]:
    """What the programs of a run with these devices see; nothing where there are no GPUs."""
    known = {one.name: one for one in devices}
    if not any(one.is_gpu for one in devices):
        return {}
    given = [known[name] for name in names if name in known and known[name].is_gpu]
    visible = ",".join(one.visible for one in given)
    numbers = {"SLURM_JOB_GPUS": visible} if given else {}
    if any(one.maker == "amd" for one in devices):
        # HIP counts within what ROCR shows, and takes CUDA's variable where its own is not set
        within = ",".join(map(str, range(len(given)))) or "-1"
        hip = {"HIP_VISIBLE_DEVICES": within, "CUDA_VISIBLE_DEVICES": within}
        return {"ROCR_VISIBLE_DEVICES": visible, **hip, **numbers}
    found = {"CUDA_VISIBLE_DEVICES": visible, **numbers}
    if given and all(one.visible.isdecimal() for one in given):
        found["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"  # nvidia-smi numbers them so, CUDA does not
    return found
