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


def count_slots(configured: int | None) -> int:
    """The configured number, else the GPUs, else one slot a core."""
    return configured or count_gpus() or os.cpu_count() or 1
