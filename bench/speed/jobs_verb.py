"""What `schedmate jobs` costs on a long queue: 4,700 jobs, 1,500 of them running.

    python -m bench.speed.jobs_verb
    python -m bench.speed.jobs_verb --running 100 --waiting 300 --ended 50

Once without a daemon, from a scheduler that programs of the benchmark stand in for and a store that
is filled through its own methods, and once from a real `schedmate serve --port`. `cpu` is the
processor time of the verb and the programs that it starts, `lines` what it prints.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench.command import command_line, machine
from bench.datasets import ROOT
from bench.web.filled_store import SCRIPT, filled_store
from bench.web.served import serving
from bench.web.site import NODES, SiteJob
from bench.web.stand_in_slurm import StandInSlurm
from schedmate.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Mapping

_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class VerbCost:
    cpu_s: float
    lines: list[str]
    said: str


@dataclass(frozen=True, slots=True)
class LongQueue:
    state: Path
    commands: Path

    def run_verb(self, *words: str, settings: Mapping[str, str] | None = None) -> VerbCost:
        env = {
            **{name: text for name, text in os.environ.items() if not name.startswith("SCHEDMATE")},
            "PATH": f"{self.commands}:{os.environ['PATH']}",
            "SCHEDMATE_CONFIG": "/dev/null",
            "SCHEDMATE_STATE_DIR": str(self.state),
            "SCHEDMATE_SCHEDULER": "slurm",
            **(settings or {}),
        }
        argv = [sys.executable, "-m", "schedmate", *words]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(argv, env=env, cwd=ROOT, capture_output=True, text=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return VerbCost(used, done.stdout.splitlines(), done.stderr)


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--running", type=int, default=1500)
    parser.add_argument("--waiting", type=int, default=3000)
    parser.add_argument("--ended", type=int, default=200)
    options = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as made:
        queue = long_queue(Path(made), options.running, options.waiting, options.ended)
        _print("alone", queue.run_verb("jobs"))
        _print("alone, --all", queue.run_verb("jobs", "--all"))
        log = Path(made) / "log"
        with serving(queue.state, queue.commands, settings={}, log=log) as daemon:
            daemon.wait_for("/readyz")
            at = {"SCHEDMATE_SERVER": daemon.url("")}
            _print("of a daemon", queue.run_verb("jobs", settings=at))
            _print("of a daemon, --all", queue.run_verb("jobs", "--all", settings=at))


def _print(name: str, cost: VerbCost) -> None:
    print(f"{name:20} cpu {cost.cpu_s:.2f} s, {len(cost.lines)} lines", flush=True)


def long_queue(directory: Path, running: int, waiting: int, ended: int) -> LongQueue:
    directory.chmod(0o755)
    total = running + waiting + ended
    filled = filled_store(jobs=total, running=running, waiting=waiting, cache=directory / "cache")
    filled.copied_to(directory / "state")
    day = time.time() // _DAY_S * _DAY_S
    root = directory / "cache" / "home"
    over = [SiteJob(1 + number, day, root).ended() for number in range(ended)]
    with closing(
        SqliteStore(directory / "state" / "schedmate.sqlite3", scheduler="slurm")
    ) as store:
        store.keep_listed(over)
    slurm = StandInSlurm(directory / "bin", nodes=NODES, script=SCRIPT)
    slurm.show([*filled.listed, *over])
    return LongQueue(directory / "state", slurm.directory)


if __name__ == "__main__":
    main()
