"""How to need less memory, or how much more to ask for, in the job's own numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from schedmate.model import Workload

_UNITS: Final = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SIZE = r"([\d.]{1,12}) ?([KMGTkmgt])i?[Bb]"
_TRIED = re.compile(r"Tried to allocate " + _SIZE)
_FREE = re.compile(r"(?:of which )?" + _SIZE + r" (?:is )?free")
_TOTAL = re.compile(r"total capacity of " + _SIZE + "|" + _SIZE + r" total capacity")
_OVER = re.compile(r"memory limit \((\d{1,15}) > (\d{1,15})\)")
_ARRAY = re.compile(r"(?:Unable to|can't) allocate (?:memory: you tried to allocate )?" + _SIZE)
_RESIDENT = re.compile(r"anon-rss:(\d{1,15})kB")
_ROOM: Final = 1.25
_LEAST_SEQUENCE: Final = 256
_WIDE: Final = ("fp32", "tf32")
_CHECKPOINTING = re.compile(
    r"(?:gradient|activation)s?[-_ ]checkpoint|recompute[-_]granularity|grad[-_]ckpt", re.IGNORECASE
)
_TURNED_OFF = re.compile(
    r"checkpoint\w{0,20}[\"']?[ =:]{1,3}(?:false|no|off|0|none)\b|no[-_]gradient[-_]checkpoint",
    re.IGNORECASE,
)


def smaller_on_the_gpu(workload: Workload | None, message: str, *, otherwise: str) -> str:
    """What was asked for and free, then what to change, keeping the effective batch size."""
    parts = [_asked(message)]
    ways = list(_ways(workload)) if workload is not None else []
    if ways:
        parts.append(f"try {', or '.join(ways)}")
    else:
        parts.append(otherwise if workload is None else _in_general(workload))
    return "; ".join(part for part in parts if part)


def _ways(workload: Workload) -> Iterator[str]:
    batch = workload.batch_size.value if workload.batch_size else 0
    if batch > 1:
        steps = workload.gradient_accumulation.value if workload.gradient_accumulation else 1
        yield _smaller_batch(batch, max(1, steps))
    if _precision(workload) in _WIDE:
        yield f"bf16 instead of {_precision(workload)}"
    length = workload.sequence_length.value if workload.sequence_length else 0
    if length >= 2 * _LEAST_SEQUENCE:
        yield f"sequences of {length // 2} instead of {length}"
    if (batch or length) and not _checkpoints(workload):
        yield "gradient checkpointing"
    gpus = workload.gpus.value if workload.gpus else 1
    plain = workload.parallelism is None or workload.parallelism.value in ("none", "dp", "ddp")
    if gpus > 1 and plain:
        yield f"sharding the model over the {gpus} GPUs (FSDP or ZeRO)"


def _smaller_batch(batch: int, steps: int) -> str:
    """About half, such that whole steps make up the same number if any near it do."""
    total = batch * steps
    sizes = range(batch // 2, max(1, -(-batch // 3)) - 1, -1)
    size = next((size for size in sizes if total % size == 0), batch // 2)
    more = (2 * total + size) // (2 * size)
    same = size * more == total
    effect = f"still {total} in effect" if same else f"about the same: {size * more}, not {total}"
    return (
        f"batch size {size} instead of {batch} with {more} gradient accumulation steps ({effect})"
    )


def _in_general(workload: Workload) -> str:
    """What nothing in the record rules out."""
    narrow = workload.precision is not None and _precision(workload) not in _WIDE
    words = [
        "" if workload.batch_size else "halve the batch size",
        "" if _checkpoints(workload) else "turn on gradient checkpointing",
        "" if narrow else "use a lower precision",
        "ask for a GPU with more memory",
    ]
    return ", or ".join(word for word in words if word)


def _precision(workload: Workload) -> str:
    return workload.precision.value if workload.precision else ""


def _checkpoints(workload: Workload) -> bool:
    """Whether a line of its script or code turns gradient checkpointing on."""
    found = (getattr(workload, field.name) for field in fields(workload))
    lines = (line.text for one in found if one is not None for line in one.evidence)
    return any(_CHECKPOINTING.search(line) and not _TURNED_OFF.search(line) for line in lines)


def _asked(message: str) -> str:
    tried, free, total = (found.search(message) for found in (_TRIED, _FREE, _TOTAL))
    if tried is None:
        return ""
    text = f"it asked for {_text(tried)} more"
    text += f" with {_text(free)} free" if free else ""
    return text + (f" of {_text(total)}" if total else "")


def _text(found: re.Match[str]) -> str:
    number, unit = [group for group in found.groups() if group][:2]
    return f"{number} {unit.upper()}iB"


def more_on_the_host(message: str) -> str:
    """The limit to ask for, where the line states the memory used."""
    over = _OVER.search(message)
    if over:
        return _ask_for(int(over[1]) * 1024, limit=int(over[2]) * 1024)
    resident = _RESIDENT.search(message)
    if resident:
        return _ask_for(int(resident[1]) * 1024)
    array = _ARRAY.search(message)
    if array:
        return (
            f"one piece alone needs {_text(array)}: load it in parts or as a memory map, or ask "
            "for that much more with --mem"
        )
    return ""


def _ask_for(used: int, *, limit: int = 0) -> str:
    wanted = max(1, -int(-used * _ROOM // (1 << 30)))
    had = f" of {limit / (1 << 30):.1f}" if limit else ""
    return (
        f"it used {used / (1 << 30):.1f} GiB{had}: ask for --mem={wanted}G or more, or use fewer "
        "data-loader workers"
    )
