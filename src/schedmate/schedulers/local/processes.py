"""Which processes are alive, and which processes belong to a run. Linux' /proc, nothing else."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A process that cannot be mistaken for a later one with the same number."""

    pid: int
    born: int
    boot: str

    @property
    def alive(self) -> bool:
        fields = _stat(self.pid)
        if fields is None or boot_id() != self.boot:
            return False
        state, born = fields[0], int(fields[19])
        return born == self.born and state != "Z"


def boot_id() -> str:
    return (_PROC / "sys/kernel/random/boot_id").read_text("ascii").strip()


def booted_at() -> float | None:
    """Seconds since the epoch; None where the kernel does not say."""
    try:
        lines = (_PROC / "stat").read_text("ascii").splitlines()
    except OSError:
        return None
    return next((float(line.split()[1]) for line in lines if line.startswith("btime ")), None)


def signal_run(mark: str, shepherd: int, number: int) -> int:
    """Signal every process of a run but its shepherd; return how many there were."""
    pids = [pid for pid in _pids() if pid != shepherd and _belongs(pid, mark, shepherd)]
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
    return len(pids)


@dataclass(frozen=True, slots=True)
class ProcessTime:
    """A process, the entry of its environment that names where it belongs, and its CPU time.

    `ticks` has that of the children it has waited for, too.
    """

    pid: int
    parent: int
    state: str
    mark: str
    ticks: int


def process_times(prefix: str) -> list[ProcessTime]:
    """All that live, with the entry of their environment that begins so, if there is one."""
    found = []
    for pid in _pids():
        fields = _stat(pid)
        if fields is not None and fields[0] != "Z":
            ticks = sum(int(field) for field in fields[11:15])
            found.append(ProcessTime(pid, int(fields[1]), fields[0], _entry(pid, prefix), ticks))
    return found


def waits_in(pid: int) -> list[str]:
    """The functions of the kernel in which its threads wait, as far as they may be seen."""
    found = []
    with contextlib.suppress(OSError):
        for thread in (_PROC / str(pid) / "task").iterdir():
            with contextlib.suppress(OSError):
                found.append((thread / "wchan").read_text("ascii", "replace"))
    return found


def written_files(pid: int) -> set[str]:
    """The files that it has open for writing, as far as they may be seen."""
    found = set()
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208 - names are all it takes
            with contextlib.suppress(OSError):
                path = os.readlink(f"/proc/{pid}/fd/{name}")  # noqa: PTH115 - links into nowhere
                if path.startswith("/") and _is_written(pid, name):
                    found.add(path)
    return found


def _is_written(pid: int, descriptor: str) -> bool:
    lines = (_PROC / str(pid) / "fdinfo" / descriptor).read_text("ascii").splitlines()
    flags = next((int(line.split()[1], 8) for line in lines if line.startswith("flags:")), 0)
    return flags & os.O_ACCMODE != os.O_RDONLY


def _entry(pid: int, prefix: str) -> str:
    try:
        environment = (_PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return ""
    start = prefix.encode()
    entries = (one for one in environment.split(b"\0") if one.startswith(start))
    return os.fsdecode(next(entries, b""))


def _belongs(pid: int, mark: str, shepherd: int) -> bool:
    """By its environment, which all children inherit, or as the shepherd's own child."""
    fields = _stat(pid)
    if fields is None or fields[0] == "Z":
        return False
    if int(fields[1]) == shepherd:
        return True
    try:
        environment = (_PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return False
    return mark.encode() in environment.split(b"\0")


def _pids() -> list[int]:
    return [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()]


def _stat(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat behind the name, so that [0] is the state, [1] the parent."""
    try:
        text = (_PROC / str(pid) / "stat").read_text("utf-8", "replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()
