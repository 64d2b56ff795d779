"""Whether the job's user may read a file, asked when we may read more than that user.

A line of what the advisor reads is shown to the job's user, who also chooses the job's
directory; a daemon that runs as root must not become a way to read other people's files.
"""

from __future__ import annotations

import os
import pwd
import stat
from functools import lru_cache
from pathlib import Path

_READ, _ENTER = 4, 1


def may_read(user: str, real: Path, *, workdir: Path) -> bool:
    """`real` has no links in it. A user this machine does not know keeps to the directory."""
    if os.geteuid() != 0:
        return True
    ids = _ids(user)
    if ids is None:
        return real.is_relative_to(workdir.resolve())
    uid, groups = ids
    if uid == 0:
        return True
    return _allowed(real, _READ, uid, groups) and all(
        _allowed(parent, _ENTER, uid, groups) for parent in real.parents
    )


def _allowed(path: Path, right: int, uid: int, groups: frozenset[int]) -> bool:
    status = path.stat()
    mode = stat.S_IMODE(status.st_mode)
    if status.st_uid == uid:
        return bool(mode >> 6 & right)
    if status.st_gid in groups:
        return bool(mode >> 3 & right)
    return bool(mode & right)


@lru_cache(maxsize=1000)
def _ids(user: str) -> tuple[int, frozenset[int]] | None:
    try:
        entry = pwd.getpwnam(user)
    except (KeyError, ValueError):
        return None
    return entry.pw_uid, frozenset(os.getgrouplist(user, entry.pw_gid))
