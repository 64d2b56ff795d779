"""The log files of one job, where a person points at a directory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from schedmate.model import NotFound

if TYPE_CHECKING:
    from pathlib import Path

_LOG_NAME = re.compile(
    r"\.(?:log|out|err|txt|stdout|stderr|[oe]\d{1,12})(?:\.\d{1,4})?$|^(?:stdout|stderr|log)\b",
    re.IGNORECASE,
)
_MOST_LOGS = 10_000


def logs_at(path: Path) -> tuple[Path, ...]:
    """The file itself, or every log below a directory in the order of its ranks."""
    if not path.exists():
        raise NotFound(f"no such log: {path}")
    if not path.is_dir():
        return (path,)
    found = sorted(
        (file for file in path.rglob("*") if _LOG_NAME.search(file.name) and file.is_file()),
        key=_natural,
    )
    if not found:
        raise NotFound(f"no log in {path}: looked for *.log, *.out, *.err, *.txt, stdout, stderr")
    return tuple(found[:_MOST_LOGS])


def _natural(path: Path) -> list[tuple[int, str]]:
    """`rank_2` before `rank_10`."""
    parts = re.findall(r"\d{1,18}|\D{1,200}", str(path))
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]
