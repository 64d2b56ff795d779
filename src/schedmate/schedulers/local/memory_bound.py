"""How much memory a run may take: a cgroup of its own where one can be had, else it is watched.

Nothing but the standard library: the runner of a run that asks for memory loads this by its path.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from pathlib import Path

_MOUNT = Path("/sys/fs/cgroup")
_SYSTEMD = Path("/run/systemd/system")
_PROC = Path("/proc")
_ASK_S = 10.0


def delegated_cgroup() -> Path | None:
    """Below which this process may make cgroups with a bound, and move itself there."""
    own = _own_cgroup()
    if own is None:
        return None
    for parent in (own, own.parent):
        try:
            has_memory = "memory" in (parent / "cgroup.subtree_control").read_text("ascii").split()
        except OSError:
            continue
        if has_memory and all(os.access(parent / name, os.W_OK) for name in ("", "cgroup.procs")):
            return parent
    return None


def _own_cgroup() -> Path | None:
    try:
        lines = (_PROC / "self/cgroup").read_text("utf-8").splitlines()
    except OSError:
        return None
    place = next((line[3:] for line in lines if line.startswith("0::/")), None)
    if place is None or not (_MOUNT / "cgroup.controllers").exists():
        return None
    return _MOUNT / place.lstrip("/")


def has_user_scopes() -> bool:
    """Whether systemd makes scopes for this account."""
    runtime = os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    manager = Path("/run/systemd/private" if os.getuid() == 0 else f"{runtime}/systemd/private")
    return _SYSTEMD.is_dir() and manager.exists() and shutil.which("systemd-run") is not None


def is_enforced() -> bool:
    """By the kernel, or only watched."""
    return delegated_cgroup() is not None or has_user_scopes()


class MemoryBound:
    """Of one run. `name` is its own among all runs of the machine."""

    look_every_s = 0.5

    def __init__(self, megabytes: int, name: str) -> None:
        self._bytes = megabytes << 20
        self._name = name
        self._cgroup: Path | None = None
        self._unit = ""
        self._killed = False

    def prepare(self, command: list[str]) -> list[str]:
        """Get what can be had; the command as it has to be started for it."""
        parent = delegated_cgroup()
        if parent is not None:
            with contextlib.suppress(OSError):
                cgroup = parent / self._name
                cgroup.mkdir(exist_ok=True)
                (cgroup / "memory.max").write_text(str(self._bytes))
                for name, value in (("memory.swap.max", "0"), ("memory.oom.group", "1")):
                    with contextlib.suppress(OSError):  # a kernel without
                        (cgroup / name).write_text(value)
                self._cgroup = cgroup
                return command
        if not has_user_scopes():
            return command
        self._unit = f"{self._name}.scope"
        return [
            *("systemd-run", *self._manager(), "--scope", "--quiet", f"--unit={self._unit}"),
            *("-p", f"MemoryMax={self._bytes}", "-p", "MemorySwapMax=0", "--", *command),
        ]

    def _manager(self) -> list[str]:
        return [] if os.getuid() == 0 else ["--user"]

    def enter(self) -> None:
        """In the process that becomes the run."""
        if self._cgroup is not None:
            (self._cgroup / "cgroup.procs").write_text("0")

    @property
    def is_watched(self) -> bool:
        return self._cgroup is None and not self._unit

    def look(self, top: int) -> None:
        """End the processes below `top` where they take more."""
        below = _descendants(top)
        # pages that processes share are counted once, which takes longer to find out
        if _taken(below, _resident) > self._bytes and _taken(below, _proportional) > self._bytes:
            self._killed = True
            for pid in below:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)

    def was_exceeded(self) -> bool:
        """Once the run has ended."""
        if self._cgroup is not None:
            try:
                events = (self._cgroup / "memory.events").read_text("ascii").splitlines()
            except OSError:
                return False
            return any(line.startswith("oom_kill ") and line != "oom_kill 0" for line in events)
        if self._unit:
            return self._systemctl("show", "-p", "Result", "--value") == "oom-kill"
        return self._killed

    def close(self) -> None:
        if self._cgroup is not None:
            with contextlib.suppress(OSError):
                self._cgroup.rmdir()
        elif self._unit:
            self._systemctl("reset-failed")

    def _systemctl(self, *words: str) -> str:
        try:
            done = subprocess.run(
                ["systemctl", *self._manager(), *words, self._unit],
                capture_output=True,
                text=True,
                timeout=_ASK_S,
                check=False,
            )
        except (OSError, subprocess.SubprocessError):
            return ""
        return done.stdout.strip()


def _descendants(top: int) -> list[int]:
    found: list[int] = []
    waiting = [top]
    while waiting:
        pid = waiting.pop()
        with contextlib.suppress(OSError):
            for thread in (_PROC / str(pid) / "task").iterdir():
                with contextlib.suppress(OSError):
                    children = (thread / "children").read_text("ascii").split()
                    waiting += map(int, children)
                    found += map(int, children)
    return found


def _taken(pids: list[int], measure: tuple[str, tuple[str, ...]]) -> int:
    file, fields = measure
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            for line in (_PROC / str(pid) / file).read_text("ascii", "replace").splitlines():
                if line.startswith(fields):
                    total += int(line.split()[1]) << 10
    return total


_resident = ("status", ("RssAnon:", "RssShmem:"))
_proportional = ("smaps_rollup", ("Pss_Anon:", "Pss_Shmem:"))
