"""Runs a program that fails, and writes down its logs as a labelled case.

A producer is a list of `Job` and a call of `main`; run it with the interpreter that has what its
programs import (`scripts/make-frameworks-env`; some want jax, hydra-core, ray or pydantic too):

    .venv-frameworks/bin/python -m bench.corpora.failures.produce.FAMILY [NAME...] --out DIR

What a log would tell of the machine it was made on is replaced before it is kept.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import site
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen, TimeoutExpired
from typing import IO

Run = Callable[[Path, dict[str, str]], int]
Prepare = Callable[[Path], None]
CASES = Path(__file__).parents[1] / "own"
_MOST_BYTES = 40_000
_MOST_LINES = 300
_RETRIES = {
    "elsewhere": (
        "gpu_ecc gpu_lost gpu_hardware nvlink driver_mismatch nccl_timeout nccl_remote network "
        "node_failure hang"
    ),
    "wait": "storage_io service_unreachable disk_full",
    "same": (
        "killed cuda_illegal_access cuda_error dataloader_killed port_conflict rendezvous "
        "checkpoint_corrupt segfault"
    ),
    "resume": "preempted time_limit",
}
RETRY = {reason: retry for retry, reasons in _RETRIES.items() for reason in reasons.split()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A program, what is done to it, and what a person who did it would say."""

    name: str
    reason: str
    cause: tuple[str, ...] = ()
    files: dict[str, str] = field(default_factory=dict)
    command: str = "python -u train.py"
    """What a job script would run; `python` is the interpreter of the producer."""
    accept: tuple[str, ...] = ()
    retry: str = ""
    ranks: tuple[int, ...] = ()
    nodes: tuple[str, ...] = ()
    state: str = ""
    env: dict[str, str] = field(default_factory=dict)
    prepare: Prepare | None = None
    run: Run | None = None
    """Instead of the command, where something must happen from outside."""
    logs: str = "job.out"
    """A pattern for the logs that the run leaves."""
    tells_exit: bool = True
    timeout: float = 90.0


def main(jobs: Sequence[Job]) -> None:
    parser = argparse.ArgumentParser(description="Make programs fail and keep their logs")
    parser.add_argument("names", nargs="*", help="only these")
    parser.add_argument("--out", type=Path, default=CASES)
    arguments = parser.parse_args()
    family = Path(sys.argv[0]).name
    for job in jobs:
        if not arguments.names or job.name in arguments.names:
            try:
                said = make(job, family, arguments.out)
            except (OSError, TimeoutExpired) as error:
                said = f"NOT MADE: {error}"
            print(job.name, "->", said, flush=True)


def make(job: Job, family: str, out: Path) -> str:
    with tempfile.TemporaryDirectory(prefix="case-") as scratch:
        work = Path(scratch) / "proj"
        for name, text in job.files.items():
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            (work / name).write_text(text)
        work.mkdir(exist_ok=True)
        if job.prepare is not None:
            job.prepare(work)
        code = (job.run or _run(job))(work, environment(job.env))
        return keep(job, work, str(code), family, out)


def environment(more: dict[str, str]) -> dict[str, str]:
    """Return the user's surroundings: the producer's interpreter first, no odd variables."""
    here = str(Path(sys.executable).parent)
    return {
        "PATH": f"{here}:/usr/local/bin:/usr/bin:/bin",
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "KERAS_BACKEND": "torch",
        "TOKENIZERS_PARALLELISM": "false",
        **more,
    }


def _run(job: Job) -> Run:
    return lambda work, env: run_command(job.command, work, env, job.timeout)


def run_command(command: str, work: Path, env: dict[str, str], timeout: float = 90.0) -> int:
    """Run a command as a job: one log for both streams."""
    with (work / "job.out").open("wb") as log:
        return _wait(_start(command, work, env, log), timeout)


def _start(command: str, work: Path, env: dict[str, str], log: IO[bytes]) -> Popen[bytes]:
    return Popen(
        ["bash", "-c", command],
        cwd=work,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def _wait(process: Popen[bytes], seconds: float) -> int:
    """Wait for the end of a job, and leave nothing of it behind."""
    try:
        return process.wait(seconds)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def keep(job: Job, work: Path, code: str, family: str, out: Path) -> str:
    """Write the logs and the label of a job that has run; return what is odd about it."""
    target = out / job.name
    shutil.rmtree(target, ignore_errors=True)
    kept, places = [], _places(work)
    for log in sorted(work.glob(job.logs)):
        text = neutral(log.read_bytes().decode(errors="surrogateescape"), places)
        path = target / log.relative_to(work)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode(errors="surrogateescape"))
        kept.append(text)
    if not kept:
        return "NO LOG"
    (target / "case.toml").write_text(_toml(job, code, f"produce/{family}: {job.name}"))
    return f"exit {code}{_complaint(job, kept)}"


def _complaint(job: Job, kept: Sequence[str]) -> str:
    everything = "".join(kept)
    missing = job.cause and not any(piece in everything for piece in job.cause)
    long = len(everything) > _MOST_BYTES or everything.count("\n") > _MOST_LINES
    return ", NO CAUSE IN IT" * bool(missing) + ", TOO LONG" * long


def _toml(job: Job, code: str, made_by: str) -> str:
    values = {
        "reason": job.reason,
        "accept": list(job.accept),
        "retry": job.retry or RETRY.get(job.reason, "no"),
        "cause": list(job.cause),
        "origin": "produced",
        "made_by": made_by,
        "state": job.state,
        "exit_code": code if job.tells_exit else "",
        "nodes": list(job.nodes),
        "ranks": list(job.ranks),
    }
    optional = {"state", "exit_code", "nodes", "ranks"}
    lines = [
        f"{name} = {json.dumps(value, ensure_ascii=False)}"
        for name, value in values.items()
        if value or name not in optional
    ]
    return "\n".join(lines) + "\n"


def _places(work: Path) -> dict[str, str]:
    """Return what the machine calls its places, the longest first, and what anybody might."""
    places = {
        str(work.resolve()): "/home/u/proj",
        str(work): "/home/u/proj",
        str(work.parent): "/home/u",
        sys.prefix: "/home/u/envs/train",
        str(Path(sys.base_prefix)): "/opt/python3.11",
        **{str(Path(path).parents[2]): "/home/u/envs/train" for path in _site_packages()},
    }
    return dict(sorted(places.items(), key=lambda place: -len(place[0])))


def _site_packages() -> list[str]:
    return [path for path in (*site.getsitepackages(), *sys.path) if path.endswith("-packages")]


def neutral(text: str, places: dict[str, str]) -> str:
    for place, name in places.items():
        text = text.replace(place, name)
    text = re.sub(r"/tmp/schedmate-slurm-\w+/spool/\w+", "/var/spool/slurmd", text)
    text = re.sub(rf"(?<![\w-]){re.escape(socket.gethostname())}(?![\w-])", "n1", text)
    return text.replace("/root", "/home/u").replace("root@", "u@")


def killed_after(seconds: float, number: int, command: str, *, group: bool = False) -> Run:
    """Run a command and send it a signal from outside, or all that it has started."""

    def run(work: Path, env: dict[str, str]) -> int:
        with (work / "job.out").open("wb") as log:
            process = _start(command, work, env, log)
            with suppress(TimeoutExpired):
                process.wait(seconds)
            (os.killpg if group else os.kill)(process.pid, number)
            return _wait(process, 60)

    return run
