"""How long the daemon's looks at a full Slurm queue take, and what they ask of slurmctld.

    python -m bench.speed.slurm_queue                                # 3,000 in arrays, 1,000 single
    python -m bench.speed.slurm_queue --arrays 2 --tasks 100 --single 50 --looks 4

A private, real Slurm (needs root and `scripts/install-test-packages`) holds jobs that wait for a
time far ahead, and the daemon looks at them in `assist` again and again. `scripts`, `updates` and
`lists` are requests that slurmctld counted (`sdiag`), `ordered` the waiting jobs, tasks of arrays
included, that have a nice number, `records` the job records of slurmctld afterwards.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
from pathlib import Path

from bench.command import command_line, machine
from schedmate.config import Settings
from schedmate.service.daemon.assembling import assemble
from schedmate.testing.slurm_cluster import private_slurm, why_not

_REQUESTS = {
    "lists": "REQUEST_JOB_INFO",
    "scripts": "REQUEST_BATCH_SCRIPT",
    "updates": "REQUEST_UPDATE_JOB",
}
_SCRIPT = """#!/bin/bash
python train.py --epochs {number}
"""
_CODE = """import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int)
for epoch in range(parser.parse_args().epochs):
    print(epoch)
"""


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--arrays", type=int, default=30)
    parser.add_argument("--tasks", type=int, default=100, help="of each array")
    parser.add_argument("--single", type=int, default=1000, help="jobs that are no arrays")
    parser.add_argument("--scripts", type=int, default=100, help="different ones of single jobs")
    parser.add_argument("--looks", type=int, default=8)
    parser.add_argument("--apart", type=float, default=30.0, help="seconds between two looks")
    options = parser.parse_args()
    reason = why_not()
    if reason is not None:
        parser.error(reason)
    print(machine())
    with tempfile.TemporaryDirectory() as made, private_slurm():
        directory = Path(made)
        directory.chmod(0o755)
        _fill(directory, options.arrays, options.tasks, options.single, options.scripts)
        settings = Settings(scheduler="slurm", mode="assist", state_dir=directory / "state")
        print(
            f"{'look':>6} {'seconds':>8} {'lists':>6} {'scripts':>8} {'updates':>8} {'ordered':>8}"
        )
        with assemble(settings) as daemon:
            for look in range(1, options.looks + 1):
                if look > 1:
                    time.sleep(options.apart)
                _run("sdiag", "--reset")
                begun = time.monotonic()
                daemon.cycle(time.time())
                took, asked = time.monotonic() - begun, _asked()
                row = [look, f"{took:.2f}", *asked.values(), _ordered()]
                print(" ".join(f"{cell:>8}" for cell in row), flush=True)
        print(f"records {len(_run('scontrol', '-o', 'show', 'job').splitlines())}")


def _fill(directory: Path, arrays: int, tasks: int, single: int, scripts: int) -> None:
    (directory / "train.py").write_text(_CODE)
    for number in range(scripts):
        (directory / f"job{number}.sh").write_text(_SCRIPT.format(number=number + 1))
    time.sleep(3)  # the scripts are older than the jobs, also by clocks that differ a little
    submit = ["sbatch", "--begin=now+1week", "-D", str(directory), "-o", "/dev/null"]
    for number in range(arrays):
        script = str(directory / f"job{number % scripts}.sh")
        _run(*submit, f"--array=0-{tasks - 1}", script)
    for number in range(single):
        _run(*submit, str(directory / f"job{number % scripts}.sh"))


def _asked() -> dict[str, int]:
    text = _run("sdiag")
    found = {name: re.search(rf"{kind}\s.*?count:(\d+)", text) for name, kind in _REQUESTS.items()}
    return {name: int(match[1]) if match else 0 for name, match in found.items()}


def _ordered() -> int:
    return sum(word != "0" for word in _run("squeue", "-h", "-r", "-O", "Nice").split())


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
