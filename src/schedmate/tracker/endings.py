"""Whether a log ends the way only a failed run does."""

from __future__ import annotations

import re

_TRACEBACK = "Traceback (most recent call last)"
_KILLED = re.compile(r"slurmstepd: error: \*{3} (?:JOB|STEP) \S{1,60} ON .{1,200}? CANCELLED AT ")
_INDENTED = re.compile(r"(?:\[?(?:rank)?\d{1,6}\]?:)?\s")
_MOST_AFTER = 25
"""Launchers add this many lines of their own after a worker's traceback; a run that goes on
after a caught exception soon writes more."""


class Ending:
    """Fed with every line; a line of progress proves that the run survived."""

    def __init__(self) -> None:
        self._lines_since: int | None = None
        self._killed = False

    @property
    def failed(self) -> bool:
        raised = self._lines_since is not None and self._lines_since <= _MOST_AFTER
        return raised or self._killed

    def see(self, line: str) -> None:
        if _TRACEBACK in line:
            self._lines_since = 0
        elif "slurmstepd" in line and _KILLED.search(line[:1000]):
            self._killed = True
        elif self._lines_since is not None and not _INDENTED.match(line):
            self._lines_since += 1

    def progressed(self) -> None:
        self._lines_since, self._killed = None, False
