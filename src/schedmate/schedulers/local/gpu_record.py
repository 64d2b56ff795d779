"""What is known of the GPUs: asked of the tool that knows them, and kept for who looks next."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from schedmate.model.codecs import UnfitError, codec
from schedmate.schedulers.local import nvidia_smi, rocm_smi
from schedmate.schedulers.local.attempt import write_private
from schedmate.schedulers.local.gpu_answer import GpuAnswer
from schedmate.schedulers.local.gpu_locks import lock_path, read_holders
from schedmate.schedulers.local.outsiders import Outsider
from schedmate.schedulers.local.processes import boot_id, owner_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path
    from types import ModuleType

    from schedmate.schedulers.local.devices import Device

_DEADLINE_S = 5.0


def is_installed() -> bool:
    return _tool() is not None


def ask(deadline_s: float) -> GpuAnswer:
    """What the first tool that is installed answers."""
    tool = _tool()
    answer: GpuAnswer = GpuAnswer() if tool is None else tool.ask(deadline_s)
    return answer


def _tool() -> ModuleType | None:
    """Of NVIDIA's GPUs, or of AMD's."""
    return next((tool for tool in (nvidia_smi, rocm_smi) if tool.is_installed()), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Withheld:
    """Why a GPU is kept back that no run of ours holds."""

    kind: Literal["used", "locked", "drained"]
    by: tuple[Outsider, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuRecord:
    answer: GpuAnswer = field(default_factory=GpuAnswer)
    withheld: dict[str, Withheld] = field(default_factory=dict)


def locked_gpus(directory: Path | None, gpus: Iterable[Device]) -> dict[str, Withheld]:
    """Those of them that somebody has locked."""
    if directory is None:
        return {}
    holders = read_holders({one.name: lock_path(directory, one) for one in gpus})
    return {
        name: Withheld(kind="locked", by=(Outsider(pid, owner_of(pid) or ""),))
        for name, pid in holders.items()
    }


def write_record(path: Path, record: GpuRecord) -> None:
    write_private(path, json.dumps({"boot": boot_id(), **codec(GpuRecord).write(record)}))


def read_record(path: Path) -> GpuRecord:
    """Nothing where it was written before the machine was booted: other GPUs may be in it."""
    try:
        read = json.loads(path.read_text("utf-8"))
        if read.pop("boot") != boot_id():
            return GpuRecord()
        record: GpuRecord = codec(GpuRecord).read(read)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, UnfitError):
        return GpuRecord()
    return record


def known_gpus(
    path: Path, *, max_age_s: float, withheld: Callable[[GpuAnswer], dict[str, Withheld]]
) -> GpuRecord:
    """What is on record, asked anew where it is older than that; for verbs, which may wait.

    `withheld` says who has what by a new answer: no daemon may have looked since the record.
    """
    record = read_record(path)
    if not is_installed():
        return GpuRecord()
    if 0 <= time.time() - record.answer.at < max_age_s:
        return record
    answer = ask(_DEADLINE_S).after(record.answer)
    record = GpuRecord(answer=answer, withheld=withheld(answer))
    if path.parent.is_dir():
        write_record(path, record)
    return record
