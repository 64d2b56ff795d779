"""The project that a job's directory is part of: `scripts/` runs `python ../train.py`.

A job is often submitted from a directory below the top of its project. The project then belongs
to the job; what lies above it does not. Homes and directories of others are never a project.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from schedmate.files import INVOKER, Reader, mode_of

_CHECKOUT = ".git"
_MARKS = (
    *("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "environment.yml"),
    *("environment.yaml", "README.md", "README.rst", "README", "LICENSE", "Makefile"),
)
_LEVELS = 3
_NEVER = frozenset({"/", "/tmp", "/home", "/root", "/scratch", "/work", "/data", "/mnt", "/opt"})  # noqa: S108 - never read as a project


def project_root(workdir: Path, reader: Reader = INVOKER) -> Path | None:
    """The nearest checkout above, else the nearest directory that looks like a project's top.

    None where the job's directory is such a top itself, or none is near.
    """
    try:
        above = _own_parents(workdir, reader)
        if mode_of(reader, str(workdir / _CHECKOUT)):
            return None
        checkouts = [each for each in above if mode_of(reader, str(each / _CHECKOUT))]
        tops = [each for each in above if any(_is_file(each / mark, reader) for mark in _MARKS)]
    except OSError:
        return None
    return next(iter(checkouts or tops), None)


def _is_file(path: Path, reader: Reader) -> bool:
    return stat.S_ISREG(mode_of(reader, str(path)))


def _own_parents(workdir: Path, reader: Reader) -> list[Path]:
    """A few directories above, as long as they belong to whom the job's directory belongs."""
    absolute = Path(os.path.abspath(workdir))  # noqa: PTH100 - links are left as they are
    owner = reader.stat(str(absolute)).st_uid
    found: list[Path] = []
    for parent in list(absolute.parents)[:_LEVELS]:
        if str(parent) in _NEVER or parent == Path.home() or str(parent.parent) == "/home":
            break
        if reader.stat(str(parent)).st_uid != owner:
            break
        found.append(parent)
    return found
