"""A thousand real jobs of a mixed population on a private Slurm, with SchedMate in `act`.

    python -m bench.live.mixed_jobs                  # 1,000 jobs, about half an hour
    python -m bench.live.mixed_jobs --jobs 100       # a tenth of each kind
    python -m bench.live.mixed_jobs --one-directory  # all jobs write into the same directory

Needs root and `scripts/install-test-packages`. Healthy jobs, some silent for long, jobs that fail,
hang or are killed run as real processes of two users; `serve` looks at them every three seconds.
`right` counts jobs that were left alone, or run again exactly once, as their kind demands,
`wrong` the rest. The last lines are what the daemon used and what it asked of slurmctld.
"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench.command import command_line, console, machine, table
from bench.live.population import HANG_MINUTES, JUPYTER, KINDS, Expected, Kind
from schedmate.testing.slurm_cluster import private_slurm, why_not

_NODES = 6
_OWNERS = ("root", "nobody")
_ENDED = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED"}
_CANCELLED_AFTER_S = 20
_START_S = 120.0
_SETTLED_S = 150.0
"""After the last job has ended: a requeued one comes back with its first turn two minutes later."""
_REQUESTS = (
    "REQUEST_JOB_INFO",
    "REQUEST_BATCH_SCRIPT",
    "REQUEST_UPDATE_JOB",
    "REQUEST_JOB_REQUEUE",
)


@dataclass(slots=True)
class Result:
    jobs: int = 0
    right: int = 0
    endings: Counter[str] = field(default_factory=Counter)


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at-most", type=float, default=90.0, help="minutes")
    parser.add_argument("--one-directory", action="store_true", help="for the jobs of all kinds")
    parser.add_argument("--keep", type=Path, help="a directory for the daemon's log and store")
    options = parser.parse_args()
    reason = why_not()
    if reason is not None:
        parser.error(reason)
    print(machine())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the cluster ends with it
    with tempfile.TemporaryDirectory(dir="/tmp") as made, private_slurm(nodes=_NODES) as cluster:
        cluster.directory.chmod(0o711)  # the script of a job is there, for its owner
        directory = options.keep or Path(made)
        directory.mkdir(exist_ok=True)
        directory.chmod(0o755)
        population = _drawn(options.jobs, random.Random(options.seed))
        with _daemon(directory) as process:
            _run("sdiag", "--reset")
            place = directory / "work" if options.one_directory else None
            kinds = _submitted(directory, population, place)
            _wait(kinds, options.at_most * 60)
            asked = _asked()
            used = _used(process.pid)
        _print(kinds, _runs())
        for line in (*used, *asked):
            print(line)


def _drawn(jobs: int, rng: random.Random) -> list[Kind]:
    """As many of each kind as its share, in random order."""
    drawn = [
        kind for kind in KINDS for _ in range(max(1, round(kind.share * jobs / 1000 / kind.tasks)))
    ]
    rng.shuffle(drawn)
    return drawn


@contextmanager
def _daemon(directory: Path) -> Iterator[subprocess.Popen[bytes]]:
    settings = {
        "SCHEDMATE_SCHEDULER": "slurm",
        "SCHEDMATE_MODE": "act",
        "SCHEDMATE_SETTLE_S": "0",
        "SCHEDMATE_STATE_DIR": str(directory / "state"),
        "SCHEDMATE_SLURM__POLL_S": "3",
        "SCHEDMATE_HANG__MINUTES": str(HANG_MINUTES),
        "SCHEDMATE_LONGEST_WAIT_S": "30",
        "SCHEDMATE_LLM__ENABLED": "false",
    }
    with (directory / "serve.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "schedmate", "serve"],
            env={**os.environ, **settings},
            stdout=log,
            stderr=log,
        )
    until = time.monotonic() + _START_S
    while not _looked(directory) and time.monotonic() < until:
        time.sleep(1)  # what ended before its first look is left alone
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(120)


def _looked(directory: Path) -> bool:
    """Whether the daemon has made its store, and slurmctld was asked for jobs since."""
    made = (directory / "state" / "schedmate.sqlite3").exists()
    return made and "REQUEST_JOB_INFO" in _run("sdiag")


def _submitted(directory: Path, population: list[Kind], shared: Path | None) -> dict[str, Kind]:
    """The kind of every job by its id, a task of an array having one of its own.

    Each kind has a directory of its own unless there is a shared one.
    """
    for kind in KINDS:
        place = shared or directory / kind.name
        place.mkdir(exist_ok=True)
        place.chmod(0o777)
        (place / f"{kind.name}.sh").write_text(kind.script())
        (place / "jupyter").write_text(JUPYTER)
        (place / "jupyter").chmod(0o755)
    kinds: dict[str, Kind] = {}
    for number, kind in enumerate(population):
        place = shared or directory / kind.name
        words = ["sbatch", "--parsable", "-D", str(place), "-o", f"{place}/%j.log", "-n", "1"]
        words += [f"--uid={_OWNERS[number % len(_OWNERS)]}", f"--time={kind.minutes}"]
        words += [f"--array=0-{kind.tasks - 1}"] if kind.tasks > 1 else []
        job_id = _run(*words, str(place / f"{kind.name}.sh")).strip()
        ids = [f"{job_id}_{task}" for task in range(kind.tasks)] if kind.tasks > 1 else [job_id]
        kinds |= dict.fromkeys(ids, kind)
    return kinds


def _wait(kinds: dict[str, Kind], at_most_s: float) -> None:
    """Until all have ended for good; jobs to be cancelled are, a little after their start."""
    begun = time.monotonic()
    quiet_since = None
    while time.monotonic() - begun < at_most_s:
        rows = _queue()
        for job_id, (state, seconds) in rows.items():
            if kinds[job_id].cancelled and state == "RUNNING" and seconds > _CANCELLED_AFTER_S:
                _run("scancel", job_id)
        left = sum(state not in _ENDED for state, _ in rows.values())
        sys.stderr.write(f"\r{time.monotonic() - begun:6.0f} s, {left} of {len(kinds)} left  ")
        quiet_since = None if left else quiet_since or time.monotonic()
        if quiet_since and time.monotonic() - quiet_since > _SETTLED_S:
            break
        time.sleep(5)
    sys.stderr.write("\n")


def _queue() -> dict[str, tuple[str, int]]:
    text = _run("squeue", "-h", "-r", "-tall", "-O", "JobArrayID:30,State:30,TimeUsed:30")
    rows = (line.split() for line in text.splitlines())
    return {job_id: (state, _seconds(used)) for job_id, state, used in rows}


def _seconds(used: str) -> int:
    total = 0
    for part in re.split(r"[-:]", used):
        total = total * 60 + int(part)
    return total


def _runs() -> dict[str, list[str]]:
    """The states that each job's runs ended in, by accounting, the last one last."""
    text = _run("sacct", "-n", "-a", "-X", "-D", "-P", "-S", "now-1days", "-o", "JobID,State")
    found: dict[str, list[str]] = defaultdict(list)
    for line in text.splitlines():
        job_id, state = line.split("|")
        found[job_id].append(state.split()[0])
    return found


def _print(kinds: dict[str, Kind], runs: dict[str, list[str]]) -> None:
    results: dict[Kind, Result] = {kind: Result() for kind in KINDS}
    for job_id, kind in kinds.items():
        states = runs.get(job_id, [])
        result = results[kind]
        result.jobs += 1
        result.endings["+".join(states)] += 1
        result.right += _is_right(kind, states)
    shown = table(
        f"{len(kinds)} jobs in mode act", ["kind", "expected", "jobs", "right", "wrong", "endings"]
    )
    for kind, result in results.items():
        endings = ", ".join(f"{count} {states}" for states, count in result.endings.most_common(3))
        cells = (result.jobs, result.right, result.jobs - result.right, endings)
        shown.add_row(kind.name, kind.expected, *map(str, cells))
    console().print(shown)


def _is_right(kind: Kind, states: list[str]) -> bool:
    if kind.expected is Expected.RETRIED:
        return len(states) == 2 and states[-1] == "COMPLETED"  # noqa: PLR2004 - and only once
    return kind.expected is Expected.ANY or len(states) == 1


def _used(pid: int) -> list[str]:
    status = Path(f"/proc/{pid}/status").read_text()
    ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    cpu_s = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
    peak = int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) // 1024
    since = time.time() - Path(f"/proc/{pid}").stat().st_ctime
    return [f"the daemon: {cpu_s:.0f} s of CPU time in {since:.0f} s, {peak} MB at most"]


def _asked() -> list[str]:
    text = _run("sdiag")
    found = {kind: re.search(rf"{kind}\s.*?count:(\d+)", text) for kind in _REQUESTS}
    return [f"{kind}: {match[1] if match else 0}" for kind, match in found.items()]


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
