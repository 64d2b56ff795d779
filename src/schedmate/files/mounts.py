"""Whether an open file is stored somewhere, or made up by the kernel or by a user's own program.

Files of procfs, sysfs and the like show what the reading process is, not what a job wrote. A file
system that a user has mounted with FUSE can keep its readers waiting for ever.
"""

from __future__ import annotations

import re
import time

from schedmate.files import helper as program

_MADE_UP = frozenset(
    (
        *("autofs", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts"),
        *("devtmpfs", "efivarfs", "functionfs", "fusectl", "hugetlbfs", "mqueue", "nfsd", "nsfs"),
        *("pipefs", "proc", "pstore", "resctrl", "rpc_pipefs", "securityfs", "selinuxfs"),
        *("smackfs", "sockfs", "sysfs", "tracefs"),
    )
)
_GOOD_FOR_S = 60.0
_MOUNTED_BY = re.compile(rb"\buser_id=(\d+)")

_stored: dict[int, float] = {}
"""Devices that were found to be real, and until when that is believed."""


def is_stored(file: int, device: int, *, known: bool) -> bool:
    """`known`: a mount that this process cannot see, in another namespace, counts as made up."""
    now = time.monotonic()
    if _stored.get(device, 0.0) > now:
        return True
    mount = program.mount_of(file)
    if not mount:
        return not known
    if is_made_up(mount):
        return False
    _stored[device] = now + _GOOD_FOR_S
    return True


def is_made_up(mount: bytes) -> bool:
    """By its type and options, as `/proc/self/mountinfo` has them."""
    kind, _, options = mount.partition(b" ")
    if kind.decode("ascii", "replace") in _MADE_UP:
        return True
    by = _MOUNTED_BY.search(options) if kind.startswith(b"fuse") else None
    return by is not None and by[1] != b"0"
