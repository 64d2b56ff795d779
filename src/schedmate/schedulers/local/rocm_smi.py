"""What rocm-smi answers: AMD's GPUs, and who uses them.

It says which GPUs there are and what they hold; which processes hold it the driver says by itself
(`/sys/class/kfd`). What cannot be read is left out.
"""

from __future__ import annotations

import json
import re
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedmate.schedulers.local.devices import Device
from schedmate.schedulers.local.gpu_answer import (
    DeviceUse,
    GpuAnswer,
    GpuProcess,
    NoAnswerError,
    run_tool,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_PROCESSES = Path("/sys/class/kfd/kfd/proc")
_CARD = re.compile(r"card(\d{1,4})", re.ASCII)
_UNIQUE = re.compile(r"0x([0-9a-f]{1,16})", re.ASCII | re.IGNORECASE)
_ASKED = (
    *("--showid", "--showproductname", "--showuniqueid", "--showbus", "--showuse"),
    *("--showmeminfo", "vram", "--json"),
)
_MB = 1 << 20


def is_installed() -> bool:
    return shutil.which("rocm-smi") is not None


def ask(deadline_s: float) -> GpuAnswer:
    """One look at everything, with the time at which it began."""
    at, until = time.time(), time.monotonic() + deadline_s
    try:
        text = run_tool(("rocm-smi", *_ASKED), until, is_usable=lambda text: "card0" in text)
        cards = read_cards(text)
    except NoAnswerError as error:
        return GpuAnswer(at=at, trouble=str(error))
    if not cards:
        return GpuAnswer(at=at, trouble="rocm-smi lists no GPU in words that are known")
    found = {number: _device(number, card) for number, card in cards.items()}
    return GpuAnswer(
        at=at,
        devices=tuple(found.values()),
        uses={found[number].name: _use(card) for number, card in cards.items()},
    )


def read_cards(text: str) -> dict[int, Mapping[str, str]]:
    """Warnings may stand before the JSON; titles are spelt one way or another by its versions."""
    with suppress(ValueError, AttributeError):
        read = json.loads(text[text.index("{") :])
        return {
            int(found[1]): {str(title).lower(): str(value) for title, value in card.items()}
            for name, card in sorted(read.items(), key=lambda pair: (len(pair[0]), pair[0]))
            if (found := _CARD.fullmatch(name)) is not None
        }
    return {}


def _device(number: int, card: Mapping[str, str]) -> Device:
    """Programs know it by its unique id: their numbers need not be those of rocm-smi."""
    unique = _UNIQUE.fullmatch(card.get("unique id", ""))
    known = unique is not None and int(unique[1], 16)
    uuid = f"GPU-{int(unique[1], 16):016x}" if unique is not None and known else ""
    kind = card.get("card series") or card.get("device name") or ""
    return Device(
        name=f"gpu{number}", visible=uuid or str(number), kind=kind, uuid=uuid, maker="amd"
    )


def _use(card: Mapping[str, str]) -> DeviceUse:
    percent = _number(card, "gpu use (%)")
    used, total = (_number(card, f"vram total {one}memory (b)") for one in ("used ", ""))
    return DeviceUse(
        busy=None if percent is None else percent / 100,
        memory_mb=None if used is None else used // _MB,
        total_mb=None if total is None else total // _MB,
        processes=_processes(card.get("guid", "")),
        pci=card.get("pci bus", "").rpartition(".")[0].lower(),
    )


def _processes(guid: str) -> tuple[GpuProcess, ...]:
    """Those to which the driver has given memory of this GPU."""
    found = []
    for path in _PROCESSES.glob(f"[0-9]*/vram_{guid}") if guid.isdecimal() else ():
        with suppress(OSError, ValueError):
            held = int(path.read_text("ascii")) // _MB
            if held:
                found.append(GpuProcess(int(path.parent.name), held))
    return tuple(found)


def _number(card: Mapping[str, Any], title: str) -> int | None:
    text = card.get(title, "")
    return int(text) if text.isascii() and text.isdecimal() else None
