"""How a run went that nobody followed, from the logs it has left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.model import SchedMateError
from schedmate.service.joblogs import logs_of
from schedmate.tracker import profile_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from schedmate.model import Job, RunProfile, Workload

_MOST_LOGS = 4
_MOST_BYTES = 64 << 20


def profile_of_ended(job: Job, workload: Workload) -> RunProfile | None:
    """The fullest profile in its logs; None where they are gone, huge or say nothing."""
    found = [profile for profile in _profiles(job, workload) if profile is not None]
    return max(found, key=_worth, default=None)


def _profiles(job: Job, workload: Workload) -> Iterator[RunProfile | None]:
    left = _MOST_BYTES
    for path in logs_of(job, workload)[:_MOST_LOGS]:
        size = _size(path)
        if size is None or size > left:
            continue
        left -= size
        try:
            yield profile_file(path)
        except (SchedMateError, OSError):
            continue


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size if path.is_file() else None
    except (OSError, ValueError):
        return None


def _worth(profile: RunProfile) -> tuple[bool, bool, int]:
    return profile.unit != "line", profile.total is not None, len(profile.curve)
