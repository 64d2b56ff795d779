"""Failures of three users on a private Slurm, with SchedMate in `act`: which ones it queues again.

    python -m bench.live.wrong_retries                # 3 of each kind, more than 100 jobs
    python -m bench.live.wrong_retries --copies 1     # one of each kind

Needs root and `scripts/install-test-packages`; takes about ten minutes, whatever the number. Every
job fails, or seems to. A `retried` kind is to be queued again exactly once; a `left` kind not at
all: somebody else goes on with it, its work is done, it only waits, or a retry cannot help.
`wrong` are requeues of those that are to be left, or more than one; `missed` those that were not
made. The population is `bench/live/failing_jobs.py`.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench.command import command_line, console, machine, table
from bench.live.failing_jobs import FILES, HANG_MINUTES, KINDS, Failing
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.slurm_cluster import private_slurm, why_not

_USERS = ("nobody", "games", "daemon")
_NODES = 6
_SETTLE_S = 25.0
_FIRST_S = 45.0
_QUIET_S = 70.0
"""After the last change of any job: what is to be queued again has been by then."""
_LONGEST_RUN_S = 240.0
"""Jobs that only wait are cancelled after it: they are judged by then."""
_ENDED = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY"}


@dataclass(slots=True)
class Submitted:
    """A job that is judged, by the id under which it is listed."""

    kind: Failing
    user: str
    place: Path
    answered: bool = False
    """Whether its owner has reacted to its failure."""


@dataclass(slots=True)
class Count:
    right: int = 0
    wrong: int = 0
    missed: int = 0
    endings: Counter[str] = field(default_factory=Counter)


def main() -> int:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--copies", type=int, default=3)
    parser.add_argument("--at-most", type=float, default=25.0, help="minutes")
    parser.add_argument("--only", default="", help="kinds whose name has this in it")
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
        kinds = [kind for kind in KINDS if options.only in kind.name]
        with _daemon(directory):
            jobs = _submit_all(directory, kinds, options.copies)
            _wait(jobs, options.at_most * 60)
        counts = _judge(directory, jobs)
    _print(counts)
    return sum(one.wrong + one.missed for one in counts.values())


@contextmanager
def _daemon(directory: Path) -> Iterator[None]:
    settings = {
        "SCHEDMATE_SCHEDULER": "slurm",
        "SCHEDMATE_MODE": "act",
        "SCHEDMATE_STATE_DIR": str(directory / "state"),
        "SCHEDMATE_CONFIG": "/dev/null",
        "SCHEDMATE_SETTLE_S": str(_SETTLE_S),
        "SCHEDMATE_SLURM__POLL_S": "2",
        "SCHEDMATE_HANG__MINUTES": str(HANG_MINUTES),
        "SCHEDMATE_LONGEST_WAIT_S": "10",
        "SCHEDMATE_ACTIONS_AN_HOUR": "1000",
        "SCHEDMATE_LLM__ENABLED": "false",
    }
    with (directory / "serve.log").open("wb") as log:
        words = [sys.executable, "-P", "-m", "schedmate", "serve"]
        process = subprocess.Popen(words, env={**os.environ, **settings}, stdout=log, stderr=log)
    until = time.monotonic() + 120
    while not _has_polled(directory) and time.monotonic() < until:
        time.sleep(1)  # what ended before its first poll is left alone
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(120)


def _has_polled(directory: Path) -> bool:
    made = (directory / "state" / "schedmate.sqlite3").exists()
    return made and "REQUEST_JOB_INFO" in _run("sdiag")


def _submit_all(directory: Path, kinds: list[Failing], copies: int) -> dict[str, Submitted]:
    """Those that submit jobs first, and the others once they have ended."""
    jobs: dict[str, Submitted] = {}
    for submits in (True, False):
        some = [kind for kind in kinds if kind.submits is submits]
        _submit_some(directory, some, copies, jobs)
        until = time.monotonic() + (_FIRST_S if submits else 0)
        while time.monotonic() < until:
            _react(jobs, _queue())
            time.sleep(2)
    return jobs


def _submit_some(
    directory: Path, kinds: list[Failing], copies: int, jobs: dict[str, Submitted]
) -> None:
    for copy in range(copies):
        user = _USERS[copy % len(_USERS)]
        for kind in kinds:
            place = directory / f"{kind.name}-{copy}"
            elsewhere = directory / f"{kind.name}-{copy}-elsewhere"
            for one in (place, elsewhere):
                one.mkdir()
                shutil.chown(one, user)
            for name, text in (*FILES.items(), *kind.files.items()):
                (place / name).write_text(text)
            script = f"#!/bin/bash\nexport ELSEWHERE={elsewhere}\n{_own(kind)}{kind.script}\n"
            (place / kind.script_name).write_text(script)
            (place / kind.script_name).chmod(0o755)
            flags = [f"--time={kind.minutes}", *kind.flags]
            job_id = _submit(user, place, flags, kind.script_name, *kind.arguments)
            listed = f"{job_id}_0" if any("--array" in one for one in flags) else job_id
            jobs[listed] = Submitted(kind, user, place)
            for words in kind.dependants:
                _submit(user, elsewhere, words.format(job=job_id).split(), wrap="sleep 1")


def _own(kind: Failing) -> str:
    """What tells its script from others, as the scripts of different projects differ."""
    return "".join(f": {kind.name}-{word} {kind.name}/{word}\n" for word in "abcd")


def _submit(user: str, place: Path, flags: list[str], *script: str, wrap: str = "") -> str:
    words = ["sbatch", "--parsable", "--requeue", f"--uid={user}", "--ntasks=1", "--mem=10"]
    words += [*flags, *([f"--wrap={wrap}"] if wrap else script)]
    said = subprocess.run(words, cwd=place, check=True, capture_output=True, text=True)
    return said.stdout.strip()


def _wait(jobs: dict[str, Submitted], at_most_s: float) -> None:
    """Until nothing has changed for long enough; owners react to failures as their kind says."""
    begun = changed = time.monotonic()
    before: dict[str, str] = {}
    while time.monotonic() - begun < at_most_s and time.monotonic() - changed < _QUIET_S:
        rows = _queue()
        _cancel_what_waits(rows, jobs)
        states = {job_id: state for job_id, (state, _) in rows.items()}
        _react(jobs, rows)
        if states != before or any(state not in _ENDED for state in states.values()):
            before, changed = states, time.monotonic()
        sys.stderr.write(f"\r{time.monotonic() - begun:6.0f} s, {len(states)} jobs known  ")
        time.sleep(2)
    sys.stderr.write("\n")


def _react(jobs: dict[str, Submitted], rows: dict[str, tuple[str, float]]) -> None:
    for job_id, job in jobs.items():
        if not job.answered and job_id in rows and rows[job_id][0] in _ENDED:
            job.answered = True
            _answer(job_id, job)


def _answer(job_id: str, job: Submitted) -> None:
    """What its owner, or a program that looks after it, does on a login node."""
    elsewhere = job.place.with_name(f"{job.place.name}-elsewhere")
    for words in job.kind.answers:
        filled = [one.format(place=job.place, elsewhere=elsewhere, job=job_id) for one in words]
        group = pwd.getpwnam(job.user).pw_gid
        subprocess.Popen(  # some take their time
            filled,
            cwd=elsewhere,
            stdout=subprocess.DEVNULL,
            user=job.user,
            group=group,
            extra_groups=[],
        )


def _cancel_what_waits(rows: dict[str, tuple[str, float]], jobs: dict[str, Submitted]) -> None:
    for job_id, (state, seconds) in rows.items():
        waits = job_id not in jobs or jobs[job_id].kind.waits
        if waits and state == "RUNNING" and seconds > _LONGEST_RUN_S:
            _run("scancel", job_id)
    stuck = [job_id for job_id, (state, _) in rows.items() if state == "PENDING"]
    if stuck and all(state in (*_ENDED, "PENDING") for state, _ in rows.values()):
        _run("scancel", *(one for one in stuck if one not in jobs))


def _queue() -> dict[str, tuple[str, float]]:
    text = _run("squeue", "-h", "-r", "-a", "-tall", "-O", "JobArrayID:30,State:30,TimeUsed:30")
    rows = (line.split() for line in text.splitlines())
    return {job_id: (state, _seconds(used)) for job_id, state, used in rows}


def _seconds(used: str) -> float:
    total = 0
    for part in used.replace("-", ":").split(":"):
        total = total * 60 + int(part)
    return total


def _judge(directory: Path, jobs: dict[str, Submitted]) -> dict[Failing, Count]:
    counts: dict[Failing, Count] = {}
    with closing(
        SqliteStore(directory / "state" / "schedmate.sqlite3", scheduler="slurm")
    ) as store:
        for job_id, job in jobs.items():
            acts = [one for one in store.actions(job_id=job_id) if one.action.failure]
            made = [one for one in acts if one.action.kind == "requeue" and one.state == "done"]
            count = counts.setdefault(job.kind, Count())
            wanted = int(job.kind.retried)
            count.right += len(made) == wanted
            count.wrong += max(0, len(made) - wanted)
            count.missed += max(0, wanted - len(made))
            last = acts[-1].action if acts else None
            told = "no decision" if last is None else f"{last.kind} {last.failure}: {last.why}"
            count.endings[told[:110]] += 1
    return counts


def _print(counts: dict[Failing, Count]) -> None:
    total = Count()
    for one in counts.values():
        total.right += one.right
        total.wrong += one.wrong
        total.missed += one.missed
    jobs = sum(one.endings.total() for one in counts.values())
    shown = table(
        f"{jobs} failures in mode act: {total.wrong} wrong requeues, {total.missed} missed",
        ["kind", "to be", "right", "wrong", "missed", "decided"],
    )
    for kind, count in counts.items():
        decided = "; ".join(f"{n} {words}" for words, n in count.endings.most_common(2))
        cells = (str(count.right), str(count.wrong), str(count.missed), decided)
        shown.add_row(kind.name, "retried" if kind.retried else "left", *cells)
    console().print(shown)


def _run(*words: str) -> str:
    return subprocess.run(words, check=False, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main() > 0)
