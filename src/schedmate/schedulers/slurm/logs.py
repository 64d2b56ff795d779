"""Where a job's output is: Slurm's file name patterns, filled in."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

_PATTERN = re.compile(r"%(\d*)([%AajJNnstux])")
_PLAIN_PATH = re.compile(r"(?:/(?!\.?(?:/|$))[^/]+)+")
_NUMBERS = "AajJnt"
_UNCHANGED = "\\"
"""A name with it is taken as it is."""


def literal(name: str) -> str:
    """A pattern that stands for this name and nothing else."""
    return _UNCHANGED + name if "%" in name else name


@dataclass(frozen=True, slots=True, kw_only=True)
class LogNames:
    """What the letters of a pattern stand for."""

    raw_id: str
    array_id: str
    task_id: str | None
    name: str
    user: str
    node: str

    def fill(self, pattern: str) -> str:
        if _UNCHANGED in pattern:
            return pattern.replace(_UNCHANGED, "")
        return _PATTERN.sub(self._value, pattern)

    def _value(self, found: re.Match[str]) -> str:
        width, letter = found.groups()
        task = self.task_id or "4294967294"  # what Slurm writes for a job without tasks
        values = {
            "%": "%",
            "A": self.array_id,
            "a": task,
            "j": self.raw_id,
            "J": self.raw_id,
            "N": self.node,
            "n": "0",
            "s": "batch",
            "t": "0",
            "u": self.user,
            "x": self.name,
        }
        value = values[letter]
        return value.zfill(min(int(width), 10)) if width and letter in _NUMBERS else value


def log_paths(stdout: str, stderr: str, workdir: str, names: LogNames) -> tuple[str, ...]:
    """Both files, or the one they share; what goes to /dev/null is nowhere."""
    paths = dict.fromkeys(
        _joined(workdir, names.fill(_mend_default(pattern, names)))
        for pattern in dict.fromkeys((stdout, stderr or stdout))
        if pattern
    )
    return tuple(path for path in paths if path != "/dev/null")


def _joined(workdir: str, name: str) -> str:
    """As `PurePosixPath` joins them, which takes ten times as long where both are plain."""
    if name.startswith("/") and _PLAIN_PATH.fullmatch(name):
        return name
    return str(PurePosixPath(workdir, name))


def _mend_default(pattern: str, names: LogNames) -> str:
    """squeue names an array task's default file by its raw id; Slurm writes to another."""
    if names.task_id is None or PurePosixPath(pattern).name != f"slurm-{names.raw_id}.out":
        return pattern
    return str(PurePosixPath(pattern).with_name("slurm-%A_%a.out"))


@lru_cache(maxsize=4096)
def is_file(path: str) -> bool:
    """Kept, because the same scripts are asked about again and again."""
    return os.path.isfile(path)  # noqa: PTH113 - Path's raises for a name that is too long
