"""How long the huge log of one job holds up the daemon for all others.

    python -m bench.speed.daemon_delay                                  # logs of 200 MB
    python -m bench.speed.daemon_delay --megabytes 50 --only "unique tracebacks"
    python -m bench.speed.daemon_delay --tracking --only "random bytes" # while the job runs

A job fails with such a log while the daemon looks at the scheduler ten times a second. `longest
look` is the longest that any other job waits for the daemon, `diagnosed` the time until the
diagnosis is there. With `--tracking` the log grows by so much at once while its job runs, and in
a second row just before its job completes; `done` is the time until the log is read to its end
(at most 20 s are waited for that), or the run is kept. Each log has a process of its own; seconds
are of the clock.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count, cycle
from pathlib import Path

from bench.command import command_line, machine
from bench.datasets import ROOT
from bench.speed.handler import KINDS, MB, Lines, words, write
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
_TRACKED: dict[str, Callable[[], Lines]] = {
    **{kind: KINDS[kind] for kind in ("steps", "progress bars", "unique alarming lines")},
    **{kind: KINDS[kind] for kind in ("unique errors", "unique tracebacks", "random bytes")},
    "unique numbered lines": lambda: (b"%d %s\n" % (n, words(4)) for n in count()),
    "unique short lines": lambda: (b"%s\n" % words(1)[:8] for _ in count()),
    "long lines": lambda: (words(400) + b"\n" for _ in count()),
    "one endless line": KINDS["one endless line"],
}
_TRACK_FOR_S = 20.0


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--only", nargs="*", default=[], metavar="KIND", help=", ".join(_TRIED))
    parser.add_argument("--tracking", action="store_true", help="of jobs that do not fail")
    options = parser.parse_args()
    print(machine())
    if options.tracking:
        _print_tracking(options.only or list(_TRACKED), options.megabytes)
        return
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


def _print_tracking(kinds: list[str], megabytes: int) -> None:
    print(f"{'log':30} {'MB':>5} {'job':>8} {'longest look s':>15} {'done s':>8} {'peak MB':>8}")
    for kind in kinds:
        with tempfile.TemporaryDirectory() as directory:
            write(Path(directory) / "huge", _TRACKED[kind](), megabytes * MB)
            for state in ("running", "ended"):
                found = _in_a_process(directory, f"track_{state}")
                print(
                    f"{kind:30} {megabytes:5} {state:>8} {found['longest_look']:15.2f} "
                    f"{found['done']:8.2f} {found['peak']:8.0f}",
                    flush=True,
                )


def _in_a_process(directory: str, what: str = "child") -> dict[str, float]:
    code = f"import sys; from bench.speed.daemon_delay import {what}; {what}(sys.argv[1])"
    command = [sys.executable, "-c", code, directory]
    done = subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def child(directory: str) -> None:
    with _daemon() as (daemon, scheduler, store):
        scheduler.put(_job(directory, "1", JobState.RUNNING))
        daemon.cycle(time.time())
        scheduler.put(_job(directory, "0", JobState.FAILED))
        longest, took = _look_until(daemon, lambda: bool(store.diagnoses("0")), _GIVE_UP_S)
    print(json.dumps({"longest_look": longest, "diagnosed": took, "peak": _peak_mb()}))


def track_running(directory: str) -> None:
    with _daemon() as (daemon, scheduler, _):
        _begin_to_track(directory, daemon, scheduler)
        size = Path(directory, "job.log").stat().st_size
        watching = daemon._watching  # noqa: SLF001 - how far it has read is shown to none
        (one,) = watching._tracked.values()  # noqa: SLF001
        longest, took = _look_until(
            daemon,
            lambda: json.loads(one.tracker.state())["positions"][0]["offset"] >= size - MB,
            _TRACK_FOR_S,
        )
    print(json.dumps({"longest_look": longest, "done": took, "peak": _peak_mb()}))


def track_ended(directory: str) -> None:
    with _daemon() as (daemon, scheduler, store):
        _begin_to_track(directory, daemon, scheduler)
        scheduler.put(replace(_job(directory, "0", JobState.COMPLETED), exit_code=0))
        longest, took = _look_until(daemon, lambda: store.run("0") is not None, _GIVE_UP_S)
    print(json.dumps({"longest_look": longest, "done": took, "peak": _peak_mb()}))


def _begin_to_track(directory: str, daemon: Daemon, scheduler: FakeScheduler) -> None:
    """The daemon has seen the log while it was empty; then it is huge."""
    log = Path(directory, "job.log")
    log.unlink(missing_ok=True)
    log.touch()
    scheduler.put(_job(directory, "0", JobState.RUNNING))
    daemon.cycle(time.time())
    log.unlink()
    log.hardlink_to(Path(directory, "huge"))
    os.utime(log)


@contextmanager
def _daemon() -> Iterator[tuple[Daemon, FakeScheduler, SqliteStore]]:
    with tempfile.TemporaryDirectory() as kept:
        scheduler, store = FakeScheduler(), SqliteStore(Path(kept) / "store")
        daemon = Daemon(
            engine=DecisionEngine(ordering("sjf"), DecisionLimits()),
            scheduler=scheduler,
            store=store,
            advisor=Advisor(store, store),
            handler=Handler(store),
            actions=Actions(scheduler, store, "observe"),
        )
        yield daemon, scheduler, store
        daemon.close()
        store.close()


def _look_until(daemon: Daemon, done: Callable[[], bool], most_s: float) -> tuple[float, float]:
    """The longest look, and how long all of them took."""
    begun, longest = time.monotonic(), 0.0
    while not done() and time.monotonic() - begun < most_s:
        look = time.monotonic()
        daemon.cycle(time.time())
        longest = max(longest, time.monotonic() - look)
        time.sleep(_APART_S)
    return longest, time.monotonic() - begun


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _job(directory: str, job_id: str, state: JobState) -> Job:
    now = time.time()
    job = a_job(id=job_id, state=state, workdir=directory, submit_time=now - 60)
    job = replace(job, start_time=now - 50, logs=(f"{directory}/job.log",) if job_id == "0" else ())
    return replace(job, end_time=now, exit_code=1) if state.ended else job


if __name__ == "__main__":
    main()
