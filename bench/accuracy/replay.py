"""One way to show the tracker a part of a log: its bytes, its file's times, and the job's state."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from schedmate.logs.file_times import WrittenSpan
from schedmate.model import JobState, Progress
from schedmate.tracker import JobTracker, track_with_curves

KnownBy = Literal["log", "process", "scheduler"]
"""Whether a run still goes on is unknown, known by its process, or reported by its scheduler."""
SETTLED_S = 60.0
"""How long after its end a log is looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What was written at some second of a run; without times only its bytes are known."""

    name: str
    written: bytes
    last_write_s: float | None = None
    at_s: float = 0.0
    state: JobState = JobState.RUNNING


def tracked(part: Part, known_by: KnownBy = "process") -> Progress:
    """The answer of `track LOG`, or of the daemon where the scheduler reports the state."""
    if known_by == "scheduler":
        return _by_scheduler(part)
    over, timed = part.state.ended, part.last_write_s is not None
    progress, _ = track_with_curves(
        [(part.name, BytesIO(part.written))],
        written=WrittenSpan(0.0, part.last_write_s) if part.last_write_s is not None else None,
        quiet_s=max(0.0, part.at_s - (part.last_write_s or 0.0)) if timed else None,
        writing=(lambda: not over) if known_by == "process" else None,
        curves=False,
    )
    return progress


def _by_scheduler(part: Part) -> Progress:
    with written_log(part) as log:
        tracker = JobTracker([log], started_at=0.0)
        if not part.state.ended:
            return tracker.poll(part.at_s, writing=True)
        completed = part.state is JobState.COMPLETED
        return tracker.poll(part.at_s, ended="finished" if completed else "failed")


@contextmanager
def written_log(part: Part) -> Iterator[Path]:
    """A file with the part, last written when the part was."""
    with TemporaryDirectory() as directory:
        log = Path(directory, "run.log")
        log.write_bytes(part.written)
        last = part.at_s if part.last_write_s is None else part.last_write_s
        os.utime(log, (last, last))
        yield log
