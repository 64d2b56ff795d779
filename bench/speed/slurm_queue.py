"""What a full Slurm queue costs the daemon, and what the daemon costs slurmctld.

    python -m bench.speed.slurm_queue                 # 10,000 jobs: 5,000 in arrays, 5,000 single
    python -m bench.speed.slurm_queue --arrays 2 --tasks 100 --single 50 --looks 4

A private, real Slurm (needs root and `scripts/install-test-packages`) holds jobs that wait for a
time far ahead, and the daemon looks at them in `assist` again and again. `cpu` is the processor
time of the daemon, `children` that of the commands it runs. `lists`, `scripts` and `updates` are
requests that slurmctld counted (`sdiag`), `ordered` the waiting jobs, tasks of arrays included,
that have a nice number, `records` the job records of slurmctld afterwards. The last lines compare
slurmctld's own cycles (`sdiag`) before the daemon began with those beside it.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
from pathlib import Path

from bench.command import command_line, machine
from bench.speed.queue_costs import processor_s, resident_mb, write_scripts
from schedmate.config import Settings
from schedmate.service.daemon.assembling import assemble
from schedmate.testing.slurm_cluster import private_slurm, why_not

_REQUESTS = {
    "lists": "REQUEST_JOB_INFO",
    "scripts": "REQUEST_BATCH_SCRIPT",
    "updates": "REQUEST_UPDATE_JOB",
}
_TITLES = ("look", "seconds", "cpu", "children", "MB", *_REQUESTS, "ordered")


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--arrays", type=int, default=50)
    parser.add_argument("--tasks", type=int, default=100, help="of each array")
    parser.add_argument("--single", type=int, default=5000, help="jobs that are no arrays")
    parser.add_argument("--scripts", type=int, default=100, help="different ones of single jobs")
    parser.add_argument("--looks", type=int, default=8)
    parser.add_argument("--apart", type=float, default=30.0, help="seconds between two looks")
    options = parser.parse_args()
    reason = why_not()
    if reason is not None:
        parser.error(reason)
    print(machine())
    with tempfile.TemporaryDirectory() as made, private_slurm() as cluster:
        directory = Path(made)
        _schedule_as_usual(cluster.config)
        directory.chmod(0o755)
        _fill(directory, options.arrays, options.tasks, options.single, options.scripts)
        settings = Settings(scheduler="slurm", mode="assist", state_dir=directory / "state")
        before = _cycles(options.apart)
        print(" ".join(f"{title:>8}" for title in _TITLES))
        beside = 0.0
        with assemble(settings) as daemon:
            for look in range(1, options.looks + 1):
                if look > 1:
                    time.sleep(options.apart)
                    beside = _mean_cycle()
                _run("sdiag", "--reset")
                begun, used = time.monotonic(), processor_s()
                daemon.cycle(time.time())
                took, now = time.monotonic() - begun, processor_s()
                own, children = (
                    f"{after - first:.2f}" for after, first in zip(now, used, strict=True)
                )
                asked, megabytes = _asked(), resident_mb()
                row = [look, f"{took:.2f}", own, children, megabytes, *asked.values(), _ordered()]
                print(" ".join(f"{cell:>8}" for cell in row), flush=True)
        print(f"records {len(_run('scontrol', '-o', 'show', 'job').splitlines())}")
        print(f"slurmctld's main cycle: {before:.0f} us alone, {beside:.0f} us beside the daemon")


def _schedule_as_usual(config: Path) -> None:
    """The private cluster tries to start jobs every second, which tests want and no site does."""
    text = re.sub(r"SchedulerParameters=.*", "SchedulerParameters=bf_continue", config.read_text())
    config.write_text(text)
    _run("scontrol", "reconfigure")


def _cycles(seconds: float) -> float:
    _run("sdiag", "--reset")
    time.sleep(seconds)
    return _mean_cycle()


def _mean_cycle() -> float:
    found = re.search(r"Mean cycle:\s+(\d+)", _run("sdiag"))
    return float(found[1]) if found else 0.0


def _fill(directory: Path, arrays: int, tasks: int, single: int, scripts: int) -> None:
    written = [str(script) for script in write_scripts(directory, scripts)]
    submit = ["sbatch", "--begin=now+1week", "-D", str(directory), "-o", "/dev/null"]
    for number in range(arrays):
        _run(*submit, f"--array=0-{tasks - 1}", written[number % scripts])
    for number in range(single):
        _run(*submit, written[number % scripts])


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
