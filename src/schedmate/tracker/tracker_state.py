"""What a tracker leaves to the one after it: of the same run, or of the job's next one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from schedmate.files import INVOKER, Reader
from schedmate.model import BadInput, EarlierRun, Resume
from schedmate.model.wire import dumps, loads
from schedmate.tracker.forecasting.rhythm import Rhythm
from schedmate.tracker.scan import LogScan
from schedmate.tracker.tailing.tailer import LogPosition, LogTailer

VERSION = 3


@dataclass(slots=True, kw_only=True)
class TrackerState:
    """All that a tracker after a restart needs to go on as if nothing had happened."""

    version: int
    positions: list[LogPosition]
    scans: list[LogScan]
    rhythm: Rhythm
    seconds: float
    before: EarlierRun | None = None
    resume: Resume | None = None

    def by_path(self) -> dict[str, tuple[LogPosition, LogScan | None]]:
        """A run may have opened more logs since; one that has not begun has read none."""
        return {
            place.path: (place, scan) for place, scan in zip_longest(self.positions, self.scans)
        }


def state_behind(logs: Sequence[Path], before: EarlierRun | None, reader: Reader = INVOKER) -> str:
    """With which the tracker of a job's next run begins behind all that is in its logs now."""
    tailers = [LogTailer(path, reader=reader) for path in logs]
    for tailer in tailers:
        tailer.skip_to_end()
    return dumps(
        TrackerState(
            version=VERSION,
            positions=[tailer.position for tailer in tailers],
            scans=[],
            rhythm=Rhythm(floor_s=0.0, started_at=None),
            seconds=0.0,
            before=before,
        )
    )


def left_before(state: str | None) -> EarlierRun | None:
    """What the run before left, as the state of a tracker of the next one has it."""
    found = restored(state)
    return None if found is None else found.before


def restored(state: str | None) -> TrackerState | None:
    """What an earlier tracker left; None where it cannot be used any more."""
    if state is None:
        return None
    try:
        before = loads(TrackerState, state)
    except BadInput:
        return None
    return before if before.version == VERSION else None
