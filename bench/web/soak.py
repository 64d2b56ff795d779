"""Whether a daemon that serves its pages for long takes more and more.

    python -m bench.web.soak --minutes 60
    python -m bench.web.soak --minutes 3 --every 2 --history 500    # does it work at all

A real `schedmate serve` on a store of some history watches a queue in which jobs come, some with
code that was not seen before, write logs, end well or fail, are cancelled, and go. Meanwhile pages
are viewed, and event streams are opened and closed. `memory`, `files`, `threads` and `wal` (the
write-ahead log) must not grow: after a warm-up of a quarter of the time the slope (the median of
the slopes between samples) is taken, and the exit code is 1 where an hour would add more than
`allowed`. The store may grow by the history of the ended jobs, which `a job` shows.
"""

from __future__ import annotations

import http.client
import random
import statistics
import sys
import tempfile
import threading
import time
import urllib.request
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Self

from bench.command import command_line, console, machine, table
from bench.web.filled_store import SCRIPT, default_cache, filled_store
from bench.web.served import ServedDaemon, serving
from bench.web.site import NODES, SiteJob
from bench.web.stand_in_slurm import StandInSlurm
from schedmate.model import JobState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.model import Job

_LISTED_AFTER_END_S = 60.0
_STREAMS = 12
_WAITS_S = 10.0
_POLL_S = 5.0
_VIEWS_A_SECOND = 2.0
_NEW_CODE_EVERY, _CANCELLED_EVERY = 3, 10
_FUNCTIONS = 200
"""Of a module that new code imports: some 20 kB."""
_TRACEBACK = """Traceback (most recent call last):
  File "train.py", line 60, in <module>
    main()
torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB
"""
_PAGES = (
    *("/", "/?state=failed", "/?q=bert", "/?sort=ends", "/cluster", "/cluster?by=partition"),
    *("/nodes", "/failures", "/accuracy", "/model", "/rules", "/jobs/{id}", "/jobs/{id}/log"),
    *("/api/v1/jobs", "/api/v1/jobs/{id}", "/api/v1/jobs/{id}/why", "/api/v1/history"),
    *("/api/v1/predictions", "/api/v1/summary", "/api/v1/status", "/metrics", "/readyz"),
)
_ALLOWED_AN_HOUR = {"memory": 6.0, "files": 3.0, "threads": 2.0, "wal": 4.0}
"""MB of memory and of the write-ahead log; the rest are numbers."""


@dataclass(frozen=True, slots=True)
class Sample:
    at: float
    values: dict[str, float]


class PassingJobs:
    """Jobs that come, run, write, end and go, by the clock."""

    def __init__(self, slurm: StandInSlurm, root: Path, first: int, a_minute: float) -> None:
        self._slurm, self._root = slurm, root
        self._next, self._apart_s = first, 60.0 / a_minute
        self._due = 0.0
        self._rng = random.Random(first)
        self.jobs: dict[str, Job] = {}
        self.ended = 0

    def step(self, now: float) -> None:
        self._due = self._due or now
        while now >= self._due:
            self._submit(now)
            self._due += self._rng.expovariate(1 / self._apart_s)
        for job in list(self.jobs.values()):
            self._go_on(job, now)
        self._slurm.show(self.jobs.values())

    def _submit(self, now: float) -> None:
        job = SiteJob(self._next, now, self._root).running()
        waits = replace(job, state=JobState.PENDING, submit_time=now, start_time=None, nodes=())
        Path(waits.logs[0]).unlink(missing_ok=True)
        if self._next % _NEW_CODE_EVERY == 0:
            _write_code(Path(job.workdir), self._next)
        self.jobs[job.id] = replace(waits, reason="Resources")
        self._next += 1

    def _go_on(self, job: Job, now: float) -> None:
        made = SiteJob(int(job.id), now, self._root)
        runs_s = 30.0 + 2 * (made.number % 60)
        if job.state is JobState.PENDING:
            if now - job.submit_time > _WAITS_S:
                self._leave_queue(job, now)
        elif job.state is JobState.RUNNING and job.start_time is not None:
            share = min(1.0, (now - job.start_time) / runs_s)
            with Path(job.logs[0]).open("a") as log:
                log.write(made.log_line(int(share * made.steps)))
                if share == 1.0 and made.number % 4 == 0:
                    log.write(_TRACEBACK)
            if share == 1.0:
                self._end(job, now, failed=made.number % 4 == 0)
        elif job.end_time is not None and now - job.end_time > _LISTED_AFTER_END_S:
            del self.jobs[job.id]
            Path(job.logs[0]).unlink(missing_ok=True)

    def _leave_queue(self, job: Job, now: float) -> None:
        number = int(job.id)
        if number % _CANCELLED_EVERY == 0:
            self.jobs[job.id] = replace(job, state=JobState.CANCELLED, end_time=now)
            return
        started = replace(job, state=JobState.RUNNING, start_time=now, reason="")
        self.jobs[job.id] = replace(started, nodes=(NODES[number % len(NODES)],))

    def _end(self, job: Job, now: float, *, failed: bool) -> None:
        state = JobState.FAILED if failed else JobState.COMPLETED
        self.jobs[job.id] = replace(job, state=state, end_time=now, exit_code=int(failed))
        self.ended += 1


def _write_code(directory: Path, number: int) -> None:
    """Training that imports a module which is a program of its own too."""
    functions = (
        f"def part{place}(values, scale={place}):\n"
        f"    return [scale * value + {number} for value in values]\n"
        for place in range(_FUNCTIONS)
    )
    started = 'def main():\n    print(part1([1]))\nif __name__ == "__main__":\n    main()\n'
    (directory / "parts.py").write_text("".join(functions) + started)
    (directory / "train.py").write_text(
        "import argparse\nimport torch\nimport parts\n"
        "parser = argparse.ArgumentParser()\n"
        f'parser.add_argument("--epochs", type=int, default={number})\n'
        "args = parser.parse_args()\n"
        "for epoch in range(args.epochs):\n    print(parts.part2([epoch]))\n"
    )


class Visitors:
    """Threads that view pages, and that open and close streams, until they are stopped."""

    def __init__(self, daemon: ServedDaemon, jobs: PassingJobs) -> None:
        self._daemon, self._jobs = daemon, jobs
        self._stop = threading.Event()
        self.views = self.errors = self.events = 0
        self._threads = [threading.Thread(target=self._view, daemon=True)]
        self._threads += [
            threading.Thread(target=self._listen, args=(number,), daemon=True)
            for number in range(_STREAMS)
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()

    def _view(self) -> None:
        rng = random.Random(1)
        while not self._stop.wait(1 / _VIEWS_A_SECOND):
            known = list(self._jobs.jobs)
            path = rng.choice(_PAGES).replace("{id}", rng.choice(known) if known else "1")
            try:
                with urllib.request.urlopen(self._daemon.url(path), timeout=60) as answer:
                    answer.read()
                self.views += 1
            except OSError as error:
                code = getattr(error, "code", 0)
                self.errors += code != 404  # a job that has just gone  # noqa: PLR2004

    def _listen(self, number: int) -> None:
        """Some streams are read, some are not, and none is closed politely."""
        rng = random.Random(number)
        while not self._stop.is_set():
            until = time.monotonic() + rng.uniform(5.0, 60.0)
            connection = http.client.HTTPConnection("127.0.0.1", self._daemon.port, timeout=20)
            with suppress(OSError, http.client.HTTPException):
                connection.request("GET", "/api/v1/events")
                answer = connection.getresponse()
                while time.monotonic() < until and not self._stop.is_set():
                    if number % 3 == 0:
                        self._stop.wait(1.0)
                    elif answer.readline().startswith(b"data:"):
                        self.events += 1
            connection.close()


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--every", type=float, default=10.0, help="seconds between two samples")
    parser.add_argument("--jobs-a-minute", type=float, default=12.0)
    parser.add_argument("--history", type=int, default=5000, help="jobs in the store at first")
    parser.add_argument("--cache", type=Path, default=default_cache())
    options = parser.parse_args()
    print(machine(), flush=True)
    filled = filled_store(jobs=options.history, running=40, waiting=0, cache=options.cache)
    with tempfile.TemporaryDirectory(prefix="schedmate-soak-") as made:
        directory = Path(made)
        filled.copied_to(directory / "state")
        slurm = StandInSlurm(directory / "bin", nodes=NODES, script=SCRIPT)
        jobs = PassingJobs(slurm, options.cache / "home", 1_000_000, options.jobs_a_minute)
        settings = {"SCHEDMATE_SLURM__POLL_S": str(_POLL_S)}
        log = directory / "log"
        with serving(directory / "state", slurm.directory, settings=settings, log=log) as daemon:
            jobs.step(time.time())
            daemon.wait_for("/readyz")
            with Visitors(daemon, jobs) as visitors:
                samples = _sampled(daemon, jobs, directory, options.minutes * 60, options.every)
            print(
                f"{visitors.views} views, {visitors.errors} errors, {visitors.events} events read, "
                f"{jobs.ended} jobs ended"
            )
        complaints = [
            line
            for line in log.read_text(errors="replace").splitlines()
            if "Traceback" in line or "ERROR" in line
        ]
    print(f"{len(complaints)} errors in the daemon's log", *complaints[:3], sep="\n")
    sys.exit(1 if _report(samples) or visitors.errors or complaints else 0)


def _sampled(
    daemon: ServedDaemon, jobs: PassingJobs, directory: Path, seconds: float, every_s: float
) -> list[Sample]:
    samples: list[Sample] = []
    begun = time.monotonic()
    while (passed := time.monotonic() - begun) < seconds:
        jobs.step(time.time())
        if passed >= every_s * len(samples):
            used, state = daemon.usage(), directory / "state"
            values = {
                "memory": used.rss_mb,
                "files": used.files,
                "threads": used.threads,
                "wal": _megabytes(state / "schedmate.sqlite3-wal"),
                "store": _megabytes(state / "schedmate.sqlite3"),
                "cpu": used.cpu_s,
                "ended": jobs.ended,
            }
            samples.append(Sample(passed, values))
            if len(samples) % 30 == 0:
                shown = (f"{name} {value:.1f}" for name, value in values.items())
                print(f"{passed / 60:.0f} min", *shown, flush=True)
        time.sleep(2.0)
    return samples


def _megabytes(path: Path) -> float:
    return path.stat().st_size / 1e6 if path.exists() else 0.0


def _report(samples: Sequence[Sample]) -> bool:
    """Whether anything grows."""
    late = [one for one in samples if one.at >= samples[-1].at / 4]
    made = table("After the warm-up", ("what", "first", "last", "most", "an hour", "allowed"))
    grows = False
    for name, allowed in _ALLOWED_AN_HOUR.items():
        values = [one.values[name] for one in late]
        an_hour = 3600 * _slope(late, name)
        grows |= an_hour > allowed
        cells = (values[0], values[-1], max(values), an_hour, allowed)
        made.add_row(name, *(f"{cell:.1f}" for cell in cells))
    console().print(made)
    hours = (late[-1].at - late[0].at) / 3600
    jobs = late[-1].values["ended"] - late[0].values["ended"]
    store = late[-1].values["store"] - late[0].values["store"]
    busy = (late[-1].values["cpu"] - late[0].values["cpu"]) / (60 * hours)
    a_job = 1e3 * store / max(1.0, jobs)
    print(f"store {store:+.1f} MB, {a_job:.1f} kB a job; processor {busy:.1f} s a minute")
    return grows


def _slope(samples: Sequence[Sample], name: str) -> float:
    """A second; steps and spikes of a few samples do not move it."""
    thinned = samples[:: max(1, len(samples) // 200)]
    return statistics.median(
        (b.values[name] - a.values[name]) / (b.at - a.at) for a, b in combinations(thinned, 2)
    )


if __name__ == "__main__":
    main()
