"""Queues for one machine, each behind the few command lines that `local_queue` measures."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from bench.datasets import ROOT
from schedmate.testing.slurm_cluster import private_slurm
from schedmate.testing.slurm_cluster import why_not as why_no_slurm

SLOTS = 8
_PATIENCE_S = 60.0
_SERVER = """
import sys, time
from hyperqueue import LocalCluster
cluster = LocalCluster(sys.argv[1])
cluster.cluster.add_worker(int(sys.argv[2]))
print("ready", flush=True)
time.sleep(86400)
"""
_CLIENT = """
import sys
from hyperqueue import Job
from hyperqueue.client import Client
from hyperqueue.ffi.protocol import ResourceRequest
job = Job()
for _ in range(int(sys.argv[2])):
    needs = ResourceRequest(cpus=int(sys.argv[3]))
    job.program(sys.argv[4:], resources=needs, stdout=None, stderr=None)
Client(sys.argv[1]).submit(job)
"""


class Tool(Protocol):
    """A queue of `SLOTS` slots while `running`; its processes inherit the environment."""

    name: str
    knows_slots: bool
    """Whether a job may ask for several."""

    def why_not(self) -> str | None:
        """Why it cannot be measured here, None where it can."""

    def running(self, folder: Path) -> AbstractContextManager[None]:
        """Start it, with all it keeps in this folder; stop it afterwards."""

    def submit(self, job: Sequence[str], slots: int, limit_s: int | None = None) -> list[str]:
        """The command line that queues one job; the limit for tools that take one."""

    def submit_many(self, job: Sequence[str], count: int) -> list[list[str]]:
        """Those that queue so many of one slot each: a single one where the tool has that."""


class TaskSpooler:
    name, knows_slots = "task-spooler", True

    def why_not(self) -> str | None:
        return _missing("tsp", "task-spooler")

    @contextmanager
    def running(self, folder: Path) -> Iterator[None]:
        os.environ.update(TS_SOCKET=str(folder / "socket"), TMPDIR=str(folder))
        _run("tsp", "-S", str(SLOTS))
        try:
            yield
        finally:
            _run("tsp", "-K")
            del os.environ["TMPDIR"]

    def submit(self, job: Sequence[str], slots: int, limit_s: int | None = None) -> list[str]:  # noqa: ARG002 - it has none
        return ["tsp", "-N", str(slots), *job]

    def submit_many(self, job: Sequence[str], count: int) -> list[list[str]]:
        return [self.submit(job, 1)] * count


class Nq:
    """Runs one job after the other, and has no server."""

    name, knows_slots = "nq", False

    def why_not(self) -> str | None:
        return _missing("nq", "nq")

    @contextmanager
    def running(self, folder: Path) -> Iterator[None]:
        os.environ["NQDIR"] = str(folder)
        yield

    def submit(self, job: Sequence[str], slots: int, limit_s: int | None = None) -> list[str]:  # noqa: ARG002 - it has none
        return ["nq", *job]

    def submit_many(self, job: Sequence[str], count: int) -> list[list[str]]:
        return [self.submit(job, 1)] * count


class HyperQueue:
    """By its Python package, which holds the server but not the program `hq`: a core is a slot."""

    name, knows_slots = "HyperQueue", True

    def __init__(self, python: str | None) -> None:
        self._python = python or sys.executable
        self._given = python is not None
        self._folder = Path()

    def why_not(self) -> str | None:
        if self._given or importlib.util.find_spec("hyperqueue"):
            return None
        return "not installed: pip install hyperqueue, here or as --hyperqueue PYTHON"

    @contextmanager
    def running(self, folder: Path) -> Iterator[None]:
        self._folder = folder
        words = [self._python, "-c", _SERVER, str(folder), str(SLOTS)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
            try:
                while server.stdout and server.stdout.readline() not in ("ready\n", ""):
                    pass
                yield
            finally:
                server.kill()

    def submit(self, job: Sequence[str], slots: int, limit_s: int | None = None) -> list[str]:  # noqa: ARG002 - it needs none
        return self._client(job, 1, slots)

    def submit_many(self, job: Sequence[str], count: int) -> list[list[str]]:
        return [self._client(job, count, 1)]

    def _client(self, job: Sequence[str], count: int, slots: int) -> list[str]:
        return [self._python, "-c", _CLIENT, str(self._folder), str(count), str(slots), *job]


class Slurm:
    """One node with eight GPUs, tuned to look at its queue every second."""

    name, knows_slots = "Slurm, one node", True

    def why_not(self) -> str | None:
        return why_no_slurm()

    @contextmanager
    def running(self, folder: Path) -> Iterator[None]:  # noqa: ARG002 - its sockets need short names
        with private_slurm(nodes=1, gpus_per_node=SLOTS):
            yield

    def submit(self, job: Sequence[str], slots: int, limit_s: int | None = None) -> list[str]:
        return ["sbatch", "-o", "/dev/null", f"--gres=gpu:{slots}", *_limit(limit_s), *job]

    def submit_many(self, job: Sequence[str], count: int) -> list[list[str]]:
        return [["sbatch", "-o", "/dev/null", "--gres=gpu:1", f"--array=1-{count}", *job]]


class SchedMate:
    """A queue of one's own."""

    name, knows_slots = "SchedMate", True

    def __init__(self) -> None:
        self._command = [sys.executable, "-P", "-m", "schedmate"]

    def why_not(self) -> str | None:
        return None

    @contextmanager
    def running(self, folder: Path) -> Iterator[None]:
        _set_up(folder)
        _run(*self._command, "submit", "-o", "/dev/null", "--", "true")
        try:
            yield
        finally:
            _stop_local_queue()

    def submit(self, job: Sequence[str], slots: int, limit_s: int | None = None) -> list[str]:
        flags = ["-o", "/dev/null", f"--gpus={slots}", *_limit(limit_s)]
        return [*self._command, "submit", *flags, "--", *job]

    def submit_many(self, job: Sequence[str], count: int) -> list[list[str]]:
        array = [f"--array=1-{count}", "-o", "/dev/null", "--gpus=1"]
        return [[*self._command, "submit", *array, "--", *job]]


class SharedSchedMate(SchedMate):
    """The queue that root serves for all accounts."""

    name = "SchedMate, shared"

    def why_not(self) -> str | None:
        return None if os.geteuid() == 0 else "only root can serve it"

    @contextmanager
    def running(self, folder: Path) -> Iterator[None]:
        _set_up(folder)
        at = folder / "queue.sock"
        os.environ.update(SCHEDMATE_QUEUE_SOCKET=str(at), SCHEDMATE_LOCAL__SHARED="true")
        quiet = subprocess.DEVNULL
        with subprocess.Popen([*self._command, "serve", "--queue"], stderr=quiet) as server:
            try:
                until = time.monotonic() + _PATIENCE_S
                while not at.is_socket() and time.monotonic() < until:
                    time.sleep(0.05)
                yield
            finally:
                server.terminate()
                del os.environ["SCHEDMATE_LOCAL__SHARED"]


def _set_up(folder: Path) -> None:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # as where the program is installed
    os.environ.update(
        PYTHONPATH=str(ROOT / "src"),
        SCHEDMATE_CONFIG=os.devnull,
        SCHEDMATE_STATE_DIR=str(folder / "state"),
        SCHEDMATE_CACHE_DIR=str(folder / "cache"),
        SCHEDMATE_LLM__ENABLED="false",
        SCHEDMATE_LOCAL__SLOTS=str(SLOTS),
    )


def _stop_local_queue() -> None:
    from schedmate import config  # noqa: PLC0415 - reads the environment of this moment
    from schedmate.service.wiring import stop_local_scheduler  # noqa: PLC0415

    stop_local_scheduler(config.load())


def _limit(seconds: int | None) -> list[str]:
    return [] if seconds is None else [f"--time=0:{seconds}"]


def _missing(program: str, package: str) -> str | None:
    return None if shutil.which(program) else f"not installed: apt-get install {package}"


def _run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True, timeout=_PATIENCE_S)


def wait_for(count: int, folder: Path, suffix: str, at_most_s: float) -> bool:
    """Until so many jobs have left a file with this ending."""
    until = time.monotonic() + at_most_s
    while sum(path.suffix == suffix for path in folder.iterdir()) < count:
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True
