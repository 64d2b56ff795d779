"""The jobs of a full queue, and what looking at them has cost this process."""

from __future__ import annotations

import os
import time
from pathlib import Path

_SCRIPT = """#!/bin/bash
python train.py --epochs {number}
"""
_CODE = """import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int)
for epoch in range(parser.parse_args().epochs):
    print(epoch)
"""


def write_scripts(directory: Path, count: int) -> list[Path]:
    """Scripts of one training; jobs submitted from now on are newer than these."""
    (directory / "train.py").write_text(_CODE)
    scripts = [directory / f"job{number}.sh" for number in range(count)]
    for number, script in enumerate(scripts, 1):
        script.write_text(_SCRIPT.format(number=number))
    time.sleep(3)  # also by clocks that differ a little
    return scripts


def processor_s() -> tuple[float, float]:
    """Of this process and of the commands it has run."""
    times = os.times()
    return times.user + times.system, times.children_user + times.children_system


def resident_mb() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") >> 20
