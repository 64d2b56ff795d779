"""How many GPUs there are to hand out."""

from __future__ import annotations

import os
import shutil
import subprocess


def count_gpus() -> int:
    """What nvidia-smi lists; 0 where there is none or it does not answer."""
    if shutil.which("nvidia-smi") is None:
        return 0
    try:
        listed = subprocess.run(
            ["nvidia-smi", "--list-gpus"], capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return 0
    return sum(line.startswith("GPU ") for line in listed.stdout.splitlines())


def busy_gpus() -> dict[int, float]:
    """How busy each GPU is, from 0 to 1, by its number; empty where that is unknown."""
    if shutil.which("nvidia-smi") is None:
        return {}
    query = ["--query-gpu=index,utilization.gpu", "--format=csv,noheader,nounits"]
    try:
        reported = subprocess.run(
            ["nvidia-smi", *query], capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    rows = (line.replace(" ", "").split(",") for line in reported.stdout.splitlines())
    return {
        int(row[0]): int(row[1]) / 100
        for row in rows
        if len(row) == 2 and row[0].isdecimal() and row[1].isdecimal()  # noqa: PLR2004 - number, use
    }


def count_slots(configured: int | None) -> int:
    """The configured number, else the GPUs, else one slot a core."""
    return configured or count_gpus() or os.cpu_count() or 1
