"""The log files of one job, where a person points at a directory."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from schedmate.model import BadInput, NotFound

_LOG_NAME = re.compile(
    r"\.(?:log|out|err|txt|stdout|stderr|[oe]\d{1,12})(?:\.\d{1,4})?$|^(?:stdout|stderr|log)\b",
    re.IGNORECASE,
)
_MOST_LOGS = 10_000
_MOST_FILES = 100_000


def logs_at(path: Path) -> tuple[Path, ...]:
    """The file itself, or every log below a directory in the order of its ranks."""
    if not path.exists():
        raise NotFound(f"no such log: {path}")
    if not path.is_dir():
        return (path,)
    found = sorted(
        (file for file in _files_below(path) if _LOG_NAME.search(file.name) and file.is_file()),
        key=_natural,
    )
    if not found:
        raise NotFound(f"no log in {path}: looked for *.log, *.out, *.err, *.txt, stdout, stderr")
    return tuple(found[:_MOST_LOGS])


def _files_below(top: Path) -> Iterator[Path]:
    """All of them, as long as it can be the directory of one job."""
    seen = 0
    for place, _, names in os.walk(top):
        seen += len(names)
        if seen > _MOST_FILES:
            raise BadInput(
                f"{top} has more than {_MOST_FILES:,} files below it: name the directory of one job"
            )
        yield from (Path(place, name) for name in names)


def _natural(path: Path) -> list[tuple[int, str]]:
    """`rank_2` before `rank_10`."""
    parts = re.findall(r"\d{1,18}|\D{1,200}", str(path))
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]
