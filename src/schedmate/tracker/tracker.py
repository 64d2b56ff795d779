"""How far a job is and when it ends, from nothing but its logs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

from schedmate.model import Cost, Prediction, Progress, Workload
from schedmate.tracker.follow import LogFollower, LogPosition
from schedmate.tracker.report import Facts, progress_of
from schedmate.tracker.rhythm import Rhythm
from schedmate.tracker.scan import LogScan
from schedmate.tracker.whole import lines_of, open_log

STALL_FLOOR_S = 10.0


class JobTracker:
    """Follows all logs of one run of a job; `poll` is cheap when nothing was written.

    With `positions` of an earlier tracker nothing is read twice, and `last` is what it told,
    shown again until there is news.
    """

    def __init__(
        self,
        logs: Sequence[Path],
        *,
        started_at: float | None = None,
        workload: Workload | None = None,
        prediction: Prediction | None = None,
        positions: Sequence[LogPosition] = (),
        last: Progress | None = None,
        stall_floor_s: float = STALL_FLOOR_S,
    ) -> None:
        known = {position.path: position for position in positions}
        self._followers = [LogFollower(path, known.get(str(path))) for path in logs]
        self._scans = [LogScan() for _ in logs]
        self._started_at = started_at
        self._workload = workload
        self._prediction = prediction
        self._last = last
        self._rhythm = Rhythm(floor_s=stall_floor_s, started_at=started_at)
        self._resumed = bool(positions)
        self._seconds = 0.0
        self._first_look = True

    @property
    def positions(self) -> tuple[LogPosition, ...]:
        return tuple(follower.position for follower in self._followers)

    @property
    def _lines(self) -> int:
        return sum(follower.lines for follower in self._followers)

    def poll(self, now: float) -> Progress:
        """Read what is new in all logs and say where the job stands."""
        before = time.perf_counter()
        if self._first_look and not self._resumed:
            self._skip_earlier_runs()
        known = self._lines
        news = [self._look(index, now) for index in range(len(self._followers))]
        if self._first_look:
            self._catch_up(now)
        else:
            self._rhythm.look(now, spoke=any(news), lines=self._lines - known)
        progress = self._progress(now)
        self._seconds += time.perf_counter() - before
        return replace(progress, cost=Cost(seconds=round(self._seconds, 6)))

    def _look(self, index: int, now: float) -> bool:
        """Clock times count only for lines that were written since the last look."""
        follower, scan = self._followers[index], self._scans[index]
        clock = None if follower.behind or self._first_look else now
        before = follower.written_at
        for lines in follower.look():
            if follower.rewritten:
                follower.rewritten = False
                scan = self._scans[index] = LogScan()
            scan.feed(lines, clock)
        if follower.open_bar is not None:
            scan.peek(follower.open_bar, clock)
        return follower.written_at != before

    def _catch_up(self, now: float) -> None:
        self._first_look = False
        times = [follower.written_at for follower in self._followers]
        written_at = max((at for at in times if at is not None), default=None)
        if self._lines > 0 and written_at is not None:
            self._rhythm.catch_up(self._lines, until=min(written_at, now))

    def _skip_earlier_runs(self) -> None:
        """What was written before this run started is the output of an earlier one."""
        if self._started_at is None:
            return
        for follower in self._followers:
            if follower.written_before(self._started_at):
                follower.skip_to_end()

    def _progress(self, now: float) -> Progress:
        if self._last is not None and not any(scan.order for scan in self._scans):
            return self._as_before(self._last, now)
        facts = Facts(
            logs=tuple(str(follower.path) for follower in self._followers),
            scans=self._scans,
            workload=self._workload,
            prediction=self._prediction,
            now=now,
            started_at=self._started_at,
            rhythm=self._rhythm,
        )
        return progress_of(facts)

    def _as_before(self, last: Progress, now: float) -> Progress:
        if last.phase in ("finished", "failed") or not self._rhythm.is_stalled(now, patient=False):
            return last
        return replace(last, phase="stalled")


def track_file(path: Path) -> Progress:
    """Where the run of a finished or copied log stands, from one reading of it."""
    with open_log(path) as stream:
        return track_stream(stream, name=str(path))


def track_stream(stream: IO[bytes], *, name: str) -> Progress:
    before = time.perf_counter()
    scan = LogScan()
    for lines in lines_of(stream):
        scan.feed(lines, None)
    progress = progress_of(Facts(logs=(name,), scans=[scan]))
    return replace(progress, cost=Cost(seconds=round(time.perf_counter() - before, 6)))
