"""Which processes of this machine have a log open for writing, and whether they are gone."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

_PROC = "/proc"
_LOOK_EVERY_S = 5.0
_OF_THIS_MACHINE = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay"})
_GRACE_S = 1.0
"""The next command of a script may open the log again."""


@dataclass(slots=True)
class WriterWatch:
    """Finds the writers of a log and notices when the last of them has ended.

    Where they run elsewhere or belong to someone else, none is ever found and nothing ends.
    """

    path: Path
    pids: frozenset[int] = frozenset()
    looked_at: float = float("-inf")
    gone_at: float | None = None

    def look(self, now: float) -> Literal["unknown", "writing", "gone"]:
        """Whether there are writers, or there were some and there are none any more."""
        target = os.path.realpath(self.path)
        known = frozenset(pid for pid in self.pids if _writes(pid, target))
        if known:
            self.pids, self.gone_at = known, None
            return "writing"
        if self.pids or now - self.looked_at >= _LOOK_EVERY_S:
            self.looked_at = now
            found = _writers(target)
            if found:
                self.pids, self.gone_at = found, None
                return "writing"
        if not self.pids:
            return "unknown"
        self.gone_at = now if self.gone_at is None else self.gone_at
        return "gone" if now - self.gone_at >= _GRACE_S else "writing"


def has_writers(path: Path) -> bool:
    """Whether a process of this machine that we may look at has it open for writing."""
    return bool(_writers(os.path.realpath(path)))


def is_written(path: Path) -> bool | None:
    """Whether a process has it open for writing; None where we cannot see all who might.

    Those of another machine may write to a shared file system, those of another user are hidden.
    """
    if has_writers(path):
        return True
    try:
        ours = os.geteuid() in (0, path.stat().st_uid)
    except OSError:
        return None
    return False if ours and _file_system(os.path.realpath(path)) in _OF_THIS_MACHINE else None


def _file_system(target: str) -> str | None:
    """The kind of file system that holds a file, by the longest mount point above it."""
    try:
        mounts = Path(f"{_PROC}/self/mountinfo").read_text().splitlines()
    except OSError:
        return None
    kinds: dict[str, str] = {}
    for mount in mounts:
        place, _, source = mount.partition(" - ")
        kinds[place.split()[4]] = source.split()[0]
    above = [point for point in kinds if target.startswith(f"{point.rstrip('/')}/")]
    return kinds[max(above, key=len)] if above else None


def _writers(target: str) -> frozenset[int]:
    try:
        pids = [int(entry.name) for entry in Path(_PROC).iterdir() if entry.name.isdecimal()]
    except OSError:
        return frozenset()
    return frozenset(pid for pid in pids if pid != os.getpid() and _writes(pid, target))


def _writes(pid: int, target: str) -> bool:
    try:
        files = list(Path(f"{_PROC}/{pid}/fd").iterdir())
    except OSError:  # gone, or of another user
        return False
    return any(_is_written(file, target) for file in files)


def _is_written(file: Path, target: str) -> bool:
    try:
        if str(file.readlink()) != target:
            return False
        info = file.parent.with_name("fdinfo").joinpath(file.name).read_text()
    except OSError:
        return False
    flags = next((line.split()[1] for line in info.splitlines() if line.startswith("flags")), "0")
    return int(flags, 8) & os.O_ACCMODE != os.O_RDONLY
