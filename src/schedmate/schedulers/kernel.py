"""What the kernel shows of a process that does nothing: where its threads wait.

A thread that waits for a socket, a child or a lock may be a consumer without items as well as one
in a collective that never ends: only what can mean nothing else counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_BLOCKED: Final = frozenset("DTt")

_FAR_FILES: Final = re.compile(
    r"request_wait_answer|fuse_\w+|rpc_wait_bit_killable|__rpc_execute|nfs\d?_\w+|p9_client_\w+"
    r"|ptlrpc_\w+|ldlm_\w+|ll_\w+|osc_\w+|cl_sync_io_wait|cl_lock_\w+|obd_\w+|lov_\w+"
    r"|ceph_\w+|cifs_\w+|smb2_\w+|wait_for_response|afs_\w+|cxi(?:Wait|Blocked)\w+|gpfs\w+"
    r"|orangefs_\w+|FhgfsOps\w*|beegfs\w*"
)
"""Functions of file systems that are served from elsewhere. Waits for pages and local disks have
names of their own."""


def stuck_in(functions: Iterable[str]) -> str:
    """The first of these (`/proc/PID/wchan`) that waits for such a file system; empty for none."""
    plain = (name.strip().partition(".")[0] for name in functions)
    return next((name for name in plain if _FAR_FILES.fullmatch(name)), "")


def waiting_of(pids: Iterable[int]) -> tuple[bool, str]:
    """Whether one of these processes waits for a disk or was stopped, and where one is stuck; what
    may not be seen counts for nothing."""
    states: list[str] = []
    functions: list[str] = []
    for pid in pids:
        with suppress(OSError):
            stat = (_PROC / str(pid) / "stat").read_text("ascii", "replace")
            states.append(stat.rpartition(")")[2].split()[0])
            threads = (_PROC / str(pid) / "task").iterdir()
            functions += [(one / "wchan").read_text("ascii", "replace") for one in threads]
    return any(state in _BLOCKED for state in states), stuck_in(functions)
