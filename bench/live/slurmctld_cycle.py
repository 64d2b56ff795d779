"""Whether slurmctld's own cycles take longer with the daemon beside it.

    python -m bench.live.slurmctld_cycle                    # 10,000 jobs, about half an hour
    python -m bench.live.slurmctld_cycle --arrays 5 --single 500 --rounds 2 --seconds 30

A private, real Slurm (needs root and `scripts/install-test-packages`) is fully taken by one job,
behind which the others wait and are tried in every cycle. `serve` looks at them in `assist` every
30 s. It is stopped (SIGSTOP) and let go on by turns, so that whatever else the machine does falls
on both; slurmctld has precedence over all of it. A line is one turn: the means that `sdiag`
counted, in milliseconds, and the updates that slurmctld took; turns in which SchedMate set nice
numbers are apart from those in which nothing changed. The last lines are medians.
"""

from __future__ import annotations

import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.command import command_line, machine
from schedmate.testing.slurm_cluster import private_slurm, why_not

_POLL_S = 30
_SCHEDULING = "SchedulerParameters=bf_continue,sched_interval=5,bf_interval=5,bf_max_job_test=2000"
_SCRIPT = "#!/bin/bash\npython train.py --epochs {number}\n"
_SCRIPTS = 100
_START_S = 120.0
_PRIORITY = -15


@dataclass(frozen=True, slots=True)
class Turn:
    """`cycles` of the main scheduler and of backfill, with their means in microseconds."""

    kind: str
    main_us: float
    backfill_us: float
    cycles: tuple[int, int]
    updates: int


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--arrays", type=int, default=50)
    parser.add_argument("--tasks", type=int, default=100, help="of each array")
    parser.add_argument("--single", type=int, default=5000, help="jobs that are no arrays")
    parser.add_argument("--rounds", type=int, default=12, help="turns without and with the daemon")
    parser.add_argument("--seconds", type=float, default=60.0, help="that a turn takes")
    options = parser.parse_args()
    reason = why_not()
    if reason is not None:
        parser.error(reason)
    print(machine())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the cluster ends with it
    with tempfile.TemporaryDirectory(dir="/tmp") as made, private_slurm() as cluster:
        directory = Path(made)
        directory.chmod(0o755)
        config = re.sub(r"SchedulerParameters=.*", _SCHEDULING, cluster.config.read_text())
        cluster.config.write_text(config)
        _run("scontrol", "reconfigure")
        # as on a machine of its own: what else runs here is not to be measured
        os.setpriority(os.PRIO_PGRP, cluster.running["slurmctld"].pid, _PRIORITY)
        _fill(directory, options.arrays, options.tasks, options.single)
        turns = []
        print(
            f"{'turn':<18}{'main ms':>9}{'cycles':>8}{'backfill ms':>13}{'cycles':>8}{'updates':>9}"
        )
        with _daemon(directory) as process:
            for _ in range(options.rounds):
                for beside in (False, True):
                    process.send_signal(signal.SIGCONT if beside else signal.SIGSTOP)
                    turns.append(_turn(options.seconds, beside=beside))
                    _print(turns[-1])
            process.send_signal(signal.SIGCONT)
        for kind in dict.fromkeys(turn.kind for turn in turns):
            those = [turn for turn in turns if turn.kind == kind]
            main_ms = statistics.median(turn.main_us for turn in those) / 1000
            backfill_ms = statistics.median(turn.backfill_us for turn in those) / 1000
            print(f"{kind}: {len(those)} turns, main {main_ms:.1f}, backfill {backfill_ms:.1f} ms")


@contextmanager
def _daemon(directory: Path) -> Iterator[subprocess.Popen[bytes]]:
    settings = {
        "SCHEDMATE_SCHEDULER": "slurm",
        "SCHEDMATE_MODE": "assist",
        "SCHEDMATE_STATE_DIR": str(directory / "state"),
        "SCHEDMATE_SLURM__POLL_S": str(_POLL_S),
        "SCHEDMATE_LLM__ENABLED": "false",
    }
    with (directory / "serve.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "schedmate", "serve"],
            env={**os.environ, **settings},
            stdout=log,
            stderr=log,
        )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(120)


def _fill(directory: Path, arrays: int, tasks: int, single: int) -> None:
    (directory / "train.py").write_text("for epoch in range(10):\n    print(epoch)\n")
    for number in range(_SCRIPTS):
        (directory / f"job{number}.sh").write_text(_SCRIPT.format(number=number + 1))
    submit = ["sbatch", "-D", str(directory), "-o", "/dev/null", "--time=60"]
    _run(*submit, "-N2", "--exclusive", "--time=600", "--wrap", "sleep infinity")
    until = time.monotonic() + _START_S
    while not _run("squeue", "-h", "-t", "RUNNING") and time.monotonic() < until:
        time.sleep(1)
    for number in range(arrays):
        _run(*submit, f"--array=0-{tasks - 1}", str(directory / f"job{number % _SCRIPTS}.sh"))
    for number in range(single):
        _run(*submit, str(directory / f"job{number % _SCRIPTS}.sh"))


def _turn(seconds: float, *, beside: bool) -> Turn:
    _run("sdiag", "--reset")
    time.sleep(seconds)
    text = _run("sdiag")
    own, _, backfill = text.partition("Backfilling stats")
    updates = _number(r"REQUEST_UPDATE_JOB\s.*?count:(\d+)", text)
    kind = "alone" if not beside else "beside, ordering" if updates else "beside, at rest"
    return Turn(
        kind,
        main_us=_number(r"Mean cycle:\s+(\d+)", own),
        backfill_us=_number(r"Mean cycle:\s+(\d+)", backfill),
        cycles=(
            _number(r"Total cycles:\s+(\d+)", own),
            _number(r"Total cycles:\s+(\d+)", backfill),
        ),
        updates=updates,
    )


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    return int(found[1]) if found else 0


def _print(turn: Turn) -> None:
    main_ms, backfill_ms = turn.main_us / 1000, turn.backfill_us / 1000
    print(
        f"{turn.kind:<18}{main_ms:>9.1f}{turn.cycles[0]:>8}{backfill_ms:>13.1f}"
        f"{turn.cycles[1]:>8}{turn.updates:>9}",
        flush=True,
    )


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
