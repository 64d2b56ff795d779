"""A real `schedmate serve` for a benchmark, and what its processes take."""

from __future__ import annotations

import compileall
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import schedmate
from bench.datasets import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_STARTS_WITHIN_S, _ENDS_WITHIN_S = 600.0, 60.0
_CPU_CLOCK = 2
"""With the number of a process: the clock of its processor time, see clock_getcpuclockid(3)."""
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Of all processes of the daemon."""

    rss_mb: float
    pss_mb: float
    """What is shared counts in parts."""
    cpu_s: float
    files: int
    threads: int


@dataclass(frozen=True, slots=True)
class ServedDaemon:
    process: subprocess.Popen[bytes]
    port: int
    begun: float
    """By the monotonic clock."""

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def wait_for(self, path: str) -> float:
        """Seconds from the start of the process until this is answered with 200."""
        while time.monotonic() - self.begun < _STARTS_WITHIN_S:
            if self.process.poll() is not None:
                sys.exit(f"the daemon ended with {self.process.returncode}; its log has the reason")
            try:
                with urllib.request.urlopen(self.url(path), timeout=60) as answer:
                    answer.read()
                    return time.monotonic() - self.begun
            except OSError:
                time.sleep(0.01)
        sys.exit(f"{path} was not answered within {_STARTS_WITHIN_S:.0f} s")

    def cpu_s(self) -> float:
        """Of all its threads, those that have ended too; of this process alone."""
        return time.clock_gettime(~self.process.pid << 3 | _CPU_CLOCK)

    def usage(self) -> Usage:
        found = [one for pid in _tree(self.process.pid) if (one := _usage(pid)) is not None]
        return Usage(
            rss_mb=sum(one.rss_mb for one in found),
            pss_mb=sum(one.pss_mb for one in found),
            cpu_s=sum(one.cpu_s for one in found),
            files=sum(one.files for one in found),
            threads=sum(one.threads for one in found),
        )


@contextmanager
def serving(
    state: Path, commands: Path, *, settings: Mapping[str, str], log: Path
) -> Iterator[ServedDaemon]:
    """`commands` is the directory with what stands in for Slurm."""
    port = _free_port()
    # as an installation has it
    compileall.compile_dir(Path(schedmate.__file__).parent, quiet=1)
    env = {
        **{name: text for name, text in os.environ.items() if not name.startswith("SCHEDMATE_")},
        "PATH": f"{commands}:{os.environ['PATH']}",
        "SCHEDMATE_CONFIG": "/dev/null",
        "SCHEDMATE_STATE_DIR": str(state),
        "SCHEDMATE_SCHEDULER": "slurm",
        "SCHEDMATE_LLM__ENABLED": "false",
        **settings,
    }
    words = [sys.executable, "-m", "schedmate", "serve", "--port", str(port)]
    with log.open("ab") as output:
        begun = time.monotonic()
        process = subprocess.Popen(words, env=env, cwd=ROOT, stdout=output, stderr=output)
    try:
        yield ServedDaemon(process, port, begun)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(_ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _tree(pid: int) -> list[int]:
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        below = [int(one) for task in tasks for one in (task / "children").read_text().split()]
    except OSError:
        return []
    return [pid, *(one for child in below for one in _tree(child))]


def _usage(pid: int) -> Usage | None:
    """None of a process that has ended meanwhile."""
    where = Path(f"/proc/{pid}")
    try:
        sizes = dict(
            line.split(":") for line in (where / "smaps_rollup").read_text().splitlines()[1:]
        )
        ticks = (where / "stat").read_text().rpartition(")")[2].split()[11:15]
        return Usage(
            rss_mb=_megabytes(sizes["Rss"]),
            pss_mb=_megabytes(sizes["Pss"]),
            cpu_s=sum(map(int, ticks)) / _TICKS,
            files=len(list((where / "fd").iterdir())),
            threads=len(list((where / "task").iterdir())),
        )
    except (OSError, KeyError, ValueError):
        return None


def _megabytes(text: str) -> float:
    return int(text.split(maxsplit=1)[0]) * 1024 / 1e6
