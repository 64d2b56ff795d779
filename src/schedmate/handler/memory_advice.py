"""How to need less memory, or how much more to ask for, in the job's own numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
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


def smaller_on_the_gpu(workload: Workload | None, message: str, *, otherwise: str) -> str:
    """What was asked for and free, then what to change, keeping the effective batch size."""
    parts = [_asked(message)]
    ways = list(_ways(workload)) if workload is not None else []
    parts.append(f"try {', or '.join(ways)}" if ways else otherwise)
    return "; ".join(part for part in parts if part)


def _ways(workload: Workload) -> Iterator[str]:
    batch = workload.batch_size.value if workload.batch_size else 0
    if batch > 1:
        steps = workload.gradient_accumulation.value if workload.gradient_accumulation else 1
        half = batch // 2
        more = -(-batch * steps // half)
        yield (
            f"batch size {half} instead of {batch} with {more} gradient accumulation steps"
            f" (still {half * more} in effect)"
        )
    if workload.precision is not None and workload.precision.value in ("fp32", "tf32"):
        yield f"bf16 instead of {workload.precision.value}"
    length = workload.sequence_length.value if workload.sequence_length else 0
    if length >= 2 * _LEAST_SEQUENCE:
        yield f"sequences of {length // 2} instead of {length}"
    if batch or length:
        yield "gradient checkpointing"
    gpus = workload.gpus.value if workload.gpus else 1
    plain = workload.parallelism is None or workload.parallelism.value in ("none", "dp", "ddp")
    if gpus > 1 and plain:
        yield f"sharding the model over the {gpus} GPUs (FSDP or ZeRO)"


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
    """The limit to ask for, where the line says what was used."""
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
