"""The course of loss and speed of one run, read from its log; of a long log its last part."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from schedmate.files import files_of
from schedmate.logs import open_regular
from schedmate.service.views.answers import Curve

if TYPE_CHECKING:
    from collections.abc import Sequence
    from io import FileIO
    from pathlib import Path

    from schedmate.model import Job, RunProfile, Workload
    from schedmate.service.views.job_view import JobView
    from schedmate.store import CountSeen

_MOST_BYTES: Final = 4 << 20
"""Read in some tenths of a second."""
_REMEMBERED: Final = 64
_FEWEST: Final = 2
_SHORT: Final = 0.5
"""Of the interval before."""
Mark = tuple[float, float]
"""Seconds since the start, and how much was done by then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    drawn: tuple[Curve, ...] = ()
    partial: bool = False
    """Only the end of the log was read."""


@dataclass(slots=True)
class CurveReader:
    """Reads each log once for as long as it does not change."""

    _known: OrderedDict[tuple[int, int, int], Curves] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def curves(self, job: Job, logs: Sequence[Path], workload: Workload | None) -> Curves:
        """Of the first of its logs that shows any."""
        for path in logs[:4]:
            try:
                with open_regular(path, files_of(job.user)) as stream:
                    found = self._of(stream, str(path), workload)
            except (OSError, ValueError):
                continue
            if found.drawn:
                return found
        return Curves()

    def _of(self, stream: FileIO, name: str, workload: Workload | None) -> Curves:
        status = os.fstat(stream.fileno())
        key = (status.st_ino, status.st_size, status.st_mtime_ns)
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        found = _read(stream, name, status.st_size, workload)
        with self._lock:
            self._known[key] = found
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return found


def speed_seen(
    view: JobView, profile: RunProfile | None, seen: Sequence[CountSeen]
) -> Curve | None:
    """Of a log without times: by when the daemon saw how much was done, up to its last look."""
    job = view.job
    if profile is not None and profile.unit != "line":
        unit: str = profile.unit
        marks = [(mark.at, mark.done) for mark in profile.curve]
    elif seen and job.start_time is not None:
        unit = seen[-1].unit
        begin = job.start_time
        marks = [(one.at - begin, one.done) for one in seen if one.unit == unit and one.at >= begin]
        marks = _with_newest(marks, view, unit)
    else:
        return None
    speeds = [
        (after, (done - before) / (after - at))
        for (at, before), (after, done) in pairwise(marks)
        if after > at and done >= before
    ]
    return _curve(f"{unit}s a second", speeds, timed=True)


def _with_newest(marks: list[Mark], view: JobView, unit: str) -> list[Mark]:
    """Of progress only what changes much becomes an event; the page shows the newest.

    What was done since the last mark says little of the speed where that is not long ago: the last
    interval is made longer then.
    """
    progress, at, begin = view.progress, view.progress_at, view.job.start_time
    if progress is None or at is None or begin is None or not marks:
        return marks
    newest = (at - begin, progress.current or 0.0)
    last, earlier = marks[-1], marks[-2] if len(marks) > 1 else (0.0, 0.0)
    if progress.unit != unit or newest[0] <= last[0] or newest[1] <= last[1]:
        return marks
    short = newest[0] - last[0] < _SHORT * (last[0] - earlier[0])
    return [*(marks[:-1] if short and len(marks) > _FEWEST else marks), newest]


def _read(stream: FileIO, name: str, size: int, workload: Workload | None) -> Curves:
    from schedmate.tracker import track_with_curves

    partial = size > _MOST_BYTES
    if partial:
        stream.seek(size - _MOST_BYTES)
    found = track_with_curves([(name, stream)], workload=workload)[1]
    if found is None:
        return Curves(partial=partial)
    loss = [(one.at, one.value) for one in found.loss.drawn]
    speed = [(one.at, one.value) for one in found.speed]
    curves = (
        _curve(found.loss.name, loss, timed=found.loss.timed, unit=found.unit),
        _curve(f"{found.unit}s a second", speed, timed=True),
    )
    return Curves(drawn=tuple(one for one in curves if one is not None), partial=partial)


def _curve(
    name: str, points: Sequence[tuple[float, float]], *, timed: bool, unit: str = ""
) -> Curve | None:
    if len(points) < _FEWEST:
        return None
    return Curve(name=name, timed=timed, unit=unit, points=tuple(points))
