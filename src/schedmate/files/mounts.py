"""Whether an open file is stored somewhere, or made up by the kernel or by a user's own program.

Files of procfs, sysfs and the like show what the reading process is, not what a job wrote. A file
system that a user has mounted with FUSE can keep its readers waiting for ever.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

_MADE_UP = frozenset(
    (
        *("autofs", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts"),
        *("devtmpfs", "efivarfs", "functionfs", "fusectl", "hugetlbfs", "mqueue", "nfsd", "nsfs"),
        *("pipefs", "proc", "pstore", "resctrl", "rpc_pipefs", "securityfs", "selinuxfs"),
        *("smackfs", "sockfs", "sysfs", "tracefs"),
    )
)
_GOOD_FOR_S = 60.0
_MOUNT_ID = re.compile(r"^mnt_id:\s*(\d+)$", re.MULTILINE)
_MOUNTED_BY = re.compile(r"\buser_id=(\d+)")

_stored: dict[int, float] = {}
"""Devices that were found to be real, and until when that is believed."""


def is_stored(file: int, device: int, *, known: bool) -> bool:
    """`known`: a mount that this process cannot see, in another namespace, counts as made up."""
    now = time.monotonic()
    if _stored.get(device, 0.0) > now:
        return True
    try:
        mount = _mount_of(file)
    except OSError:
        return not known
    if mount is None:
        return not known
    if _is_made_up(*mount):
        return False
    _stored[device] = now + _GOOD_FOR_S
    return True


def _mount_of(file: int) -> tuple[str, str] | None:
    """The type and the options of the mount through which it was opened."""
    mount_id = _MOUNT_ID.search(Path(f"/proc/self/fdinfo/{file}").read_text("ascii"))
    mounts = Path("/proc/self/mountinfo").read_bytes().decode("utf-8", "replace")
    for line in mounts.splitlines() if mount_id else ():
        ours, _, theirs = line.partition(" - ")
        if mount_id is not None and ours.partition(" ")[0] == mount_id[1]:
            kind, _, rest = theirs.partition(" ")
            return kind, rest
    return None


def _is_made_up(kind: str, options: str) -> bool:
    if kind in _MADE_UP:
        return True
    by = _MOUNTED_BY.search(options) if kind.startswith("fuse") else None
    return by is not None and by[1] != "0"
