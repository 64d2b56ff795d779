"""GPUs are locked across the accounts of a machine, each by a file that all of them can open.

The process that watches over a run takes its locks before it runs anything (`runner.py`), and
the kernel lets go of them when it dies. The files lie in a directory that belongs to root and in
which nobody can remove or replace what is another's; nothing is ever written into them.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schedmate.schedulers.local.devices import Device

_PLACES = ("/run/lock", "/dev/shm", "/tmp")  # noqa: S108 - only where root owns it, and sticky
_UNSAFE = re.compile(r"[^\w.-]", re.ASCII)
_LOCK = re.compile(r"FLOCK\s+\S+\s+WRITE (\d+) (\S+) ")


def lock_directory(configured: str) -> Path | None:
    """Where all accounts find the locks; None where no directory is safe for that."""
    if configured:
        return Path(configured)
    return next((path for path in map(Path, _PLACES) if _is_common(path)), None)


def _is_common(path: Path) -> bool:
    """Root's, open to all, and with everybody's files safe from the others."""
    try:
        status = path.stat()
    except OSError:
        return False
    shared = stat.S_ISVTX | stat.S_IWOTH
    return stat.S_ISDIR(status.st_mode) and status.st_uid == 0 and status.st_mode & shared == shared


def lock_path(directory: Path, device: Device) -> Path:
    """By the UUID, which is the same for every account and in every container."""
    return directory / f"schedmate-{_UNSAFE.sub('_', device.uuid or device.name)}.lock"


def read_holders(paths: Mapping[str, Path]) -> dict[str, int]:
    """The process that holds each lock, by the name of its device, as the kernel lists them.

    A look that takes no lock is in nobody's way; what it cannot see the lock itself will show.
    """
    try:
        listed = Path("/proc/locks").read_text("ascii", "replace")
    except OSError:
        return {}
    held = {file: int(pid) for pid, file in _LOCK.findall(listed)}
    found = {name: held.get(_as_listed(path)) for name, path in paths.items()}
    return {name: pid for name, pid in found.items() if pid is not None}


def _as_listed(path: Path) -> str:
    """`fe:00:16670723`; empty where there is no such file."""
    try:
        status = path.lstat()
    except OSError:
        return ""
    device = status.st_dev
    return f"{os.major(device):02x}:{os.minor(device):02x}:{status.st_ino}"
