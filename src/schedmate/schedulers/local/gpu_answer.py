"""What a tool answers about the GPUs of the machine, whoever made them, and how it is run.

It takes seconds on a machine that is ill and may never come back, so whoever asks sets a deadline.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from schedmate.schedulers.local.devices import Device

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_LONGEST_TROUBLE = 200
_KILLED_WITHIN_S = 1.0


@dataclass(frozen=True, slots=True)
class GpuProcess:
    pid: int
    memory_mb: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceUse:
    """What a GPU did when it was asked; None is unknown."""

    busy: float | None = None
    """From 0 to 1."""
    memory_mb: int | None = None
    total_mb: int | None = None
    ecc_errors: int | None = None
    """Errors that could not be corrected, since the driver was loaded."""
    processes: tuple[GpuProcess, ...] = ()
    pci: str = ""
    """Its address as the kernel's log writes it: `0000:3b:00`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuAnswer:
    at: float = 0.0
    devices: tuple[Device, ...] = ()
    uses: dict[str, DeviceUse] = field(default_factory=dict)
    """By the name of the device."""
    trouble: str = ""
    """Why this is not all, in words."""

    def after(self, earlier: GpuAnswer) -> GpuAnswer:
        """What is known now: an answer that could not be had leaves the earlier one standing."""
        if not self.trouble:
            return self
        if not self.devices:
            return replace(earlier, trouble=self.trouble)
        return replace(self, at=earlier.at, uses=earlier.uses)


class NoAnswerError(Exception):
    """The tool failed, or took too long."""


def run_tool(words: Sequence[str], until: float, *, is_usable: Callable[[str], bool]) -> str:
    """What it prints; where it fails, only what is usable all the same."""
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        process_group=0,
    )
    try:
        output, _ = process.communicate(timeout=max(0.1, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        _end(process)
        raise NoAnswerError(f"{words[0]} does not answer") from None
    if process.returncode and not is_usable(output):
        line = next(iter(output.strip().splitlines()), "")[:_LONGEST_TROUBLE]
        raise NoAnswerError(f"{words[0]} failed: {line or f'exit code {process.returncode}'}")
    return output


def _end(process: subprocess.Popen[str]) -> None:
    """One that hangs in the kernel is left there."""
    os.killpg(process.pid, signal.SIGKILL)
    if process.stdout is not None:
        process.stdout.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_KILLED_WITHIN_S)
