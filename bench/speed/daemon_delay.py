"""How long the huge log of one failed job holds up the daemon for all others.

    python -m bench.speed.daemon_delay                                  # logs of 200 MB
    python -m bench.speed.daemon_delay --megabytes 50 --only "unique tracebacks"

A job fails with such a log while the daemon looks at the scheduler ten times a second. `longest
look` is the longest that any other job waits for the daemon, `diagnosed` the time until the
diagnosis is there. Each log has a process of its own; seconds are of the clock.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import cycle
from pathlib import Path

from bench.command import command_line, machine
from bench.datasets import ROOT
from bench.speed.handler import KINDS, MB, Lines, write
from schedmate.advisor import Advisor
from schedmate.core import DecisionEngine, DecisionLimits
from schedmate.handler import Handler
from schedmate.model import Job, JobState
from schedmate.policies import ordering
from schedmate.service.actions import Actions
from schedmate.service.daemon.daemon import Daemon
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_job
from schedmate.testing.scheduler import FakeScheduler

_APART_S = 0.1
_GIVE_UP_S = 300.0
_BAIT = (
    b"Error: "
    + b"(((" * 30
    + b" license server "
    + b"a" * 400
    + b" failed failed Connection reset \n"
)
_TRIED: dict[str, Callable[[], Lines]] = {
    "steps": KINDS["steps"],
    "one endless alarming line": KINDS["one endless alarming line"],
    "unique errors": KINDS["unique errors"],
    "unique tracebacks": KINDS["unique tracebacks"],
    "512 ranks, every second line": KINDS["512 ranks, every second line"],
    "bait for slow patterns": lambda: cycle([_BAIT]),
}


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--only", nargs="*", default=[], metavar="KIND", help=", ".join(_TRIED))
    options = parser.parse_args()
    print(machine())
    print(f"{'log':30} {'MB':>5} {'longest look s':>15} {'diagnosed s':>12} {'peak MB':>8}")
    for kind in options.only or _TRIED:
        with tempfile.TemporaryDirectory() as directory:
            write(Path(directory) / "job.log", _TRIED[kind](), options.megabytes * MB)
            found = _in_a_process(directory)
        print(
            f"{kind:30} {options.megabytes:5} {found['longest_look']:15.2f} "
            f"{found['diagnosed']:12.2f} {found['peak']:8.0f}",
            flush=True,
        )


def _in_a_process(directory: str) -> dict[str, float]:
    code = "import sys; from bench.speed.daemon_delay import child; child(sys.argv[1])"
    command = [sys.executable, "-c", code, directory]
    done = subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def child(directory: str) -> None:
    scheduler, store = FakeScheduler(), SqliteStore(Path(directory) / "store")
    daemon = Daemon(
        engine=DecisionEngine(ordering("sjf"), DecisionLimits()),
        scheduler=scheduler,
        store=store,
        advisor=Advisor(store, store),
        handler=Handler(store),
        actions=Actions(scheduler, store, "observe"),
    )
    scheduler.put(_job(directory, "1", JobState.RUNNING))
    daemon.cycle(time.time())
    scheduler.put(_job(directory, "0", JobState.FAILED))
    begun, longest = time.monotonic(), 0.0
    while not store.diagnoses("0") and time.monotonic() - begun < _GIVE_UP_S:
        look = time.monotonic()
        daemon.cycle(time.time())
        longest = max(longest, time.monotonic() - look)
        time.sleep(_APART_S)
    took = time.monotonic() - begun
    daemon.close()
    store.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"longest_look": longest, "diagnosed": took, "peak": peak}))


def _job(directory: str, job_id: str, state: JobState) -> Job:
    now = time.time()
    job = a_job(id=job_id, state=state, workdir=directory, submit_time=now - 60)
    job = replace(job, start_time=now - 50, logs=(f"{directory}/job.log",) if job_id == "0" else ())
    return replace(job, end_time=now, exit_code=1) if state.ended else job


if __name__ == "__main__":
    main()
