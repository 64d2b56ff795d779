"""Which processes of this machine have a log open for writing, and whether they are gone."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

_PROC = "/proc"
_LOOK_EVERY_S = 5.0
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
