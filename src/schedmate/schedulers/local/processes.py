"""Which processes are alive, and which processes belong to a run. Linux' /proc, nothing else."""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from schedmate.model.account import account_name

_PROC = Path("/proc")
Which = Literal["all", "first", "others"]
_LONGEST_LINE = 64
"""Of processes, each the parent of the next."""


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


@cache
def boot_id() -> str:
    return (_PROC / "sys/kernel/random/boot_id").read_text("ascii").strip()


def booted_at() -> float | None:
    """Seconds since the epoch; None where the kernel does not say."""
    try:
        lines = (_PROC / "stat").read_text("ascii").splitlines()
    except OSError:
        return None
    return next((float(line.split()[1]) for line in lines if line.startswith("btime ")), None)


def signal_run(
    mark: str, runner: int, number: int, owner: int | None = None, *, which: Which = "all"
) -> int:
    """Signal the processes of a run but its runner; return how many there were.

    With an `owner` only what that account could signal itself. `first` is the process that the
    run began with.
    """
    pids = [pid for pid in _pids() if pid != runner and _belongs(pid, mark, runner)]
    if which != "all":
        pids = [pid for pid in pids if _is_first(pid, runner) == (which == "first")]
    return sum(_signal(pid, number, owner) for pid in pids)


def _is_first(pid: int, runner: int) -> bool:
    """The runner's own child, which leads the process group of the run."""
    fields = _stat(pid)
    return fields is not None and fields[1:3] == [str(runner), str(pid)]


def _signal(pid: int, number: int, owner: int | None) -> bool:
    """Whether it is one to wait for."""
    try:
        process = os.pidfd_open(pid)  # from here on the number is no other process's
    except OSError:
        return True
    try:
        if owner is not None and owner not in _accounts(pid):
            return False
        with contextlib.suppress(ProcessLookupError, PermissionError):
            signal.pidfd_send_signal(process, number)
        return True
    finally:
        os.close(process)


def _accounts(pid: int) -> set[int]:
    """Real and saved user id: who has one of them may signal the process."""
    try:
        lines = (_PROC / str(pid) / "status").read_text("utf-8", "replace").splitlines()
    except OSError:
        return set()
    uids = next((line.split()[1:] for line in lines if line.startswith("Uid:")), [])
    return {int(uid) for uid in (*uids[:1], *uids[2:3])}


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


def transferred(pid: int) -> tuple[int, int] | None:
    """Bytes that it and the children it has waited for have read and written; None where unknown,
    (0, 0) where it is no more."""
    try:
        text = (_PROC / str(pid) / "io").read_text("ascii", "replace")
    except (FileNotFoundError, ProcessLookupError):
        return 0, 0
    except OSError:
        return None
    found = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    try:
        return int(found["rchar"]), int(found["wchar"])
    except (KeyError, ValueError):
        return None


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


def owner_of(pid: int) -> str | None:
    """The account of a process, empty where that is hidden; None for one that has ended."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except (PermissionError, OverflowError):
        pass
    try:
        return account_name((_PROC / str(pid)).stat().st_uid)
    except OSError:
        return ""


def is_of_runs(pid: int, folder: Path) -> bool:
    """Whether it belongs to a run whose files lie there: by its environment, or as it comes from
    the process that was started for one."""
    for _ in range(_LONGEST_LINE):
        if _entry(pid, f"SCHEDMATE_ATTEMPT={folder}/") or _has_word(pid, f"{folder}/"):
            return True
        fields = _stat(pid)
        pid = 0 if fields is None else int(fields[1])
        if pid <= 1:
            return False
    return False


def _has_word(pid: int, start: str) -> bool:
    try:
        words = (_PROC / str(pid) / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return any(word.startswith(os.fsencode(start)) for word in words)


def _entry(pid: int, prefix: str) -> str:
    try:
        environment = (_PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return ""
    start = prefix.encode()
    entries = (one for one in environment.split(b"\0") if one.startswith(start))
    return os.fsdecode(next(entries, b""))


def _belongs(pid: int, mark: str, runner: int) -> bool:
    """By its environment, which all children inherit, or as the runner's own child."""
    fields = _stat(pid)
    if fields is None or fields[0] == "Z":
        return False
    return int(fields[1]) == runner or _entry(pid, mark) == mark


def _pids() -> list[int]:
    return [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()]


def _stat(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat behind the name, so that [0] is the state, [1] the parent."""
    try:
        text = (_PROC / str(pid) / "stat").read_text("utf-8", "replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()
