"""From a job's logs to its progress: how far, how fast, when it ends."""

from __future__ import annotations

from schedmate.tracker.follow import LogFollower, LogPosition
from schedmate.tracker.tracker import JobTracker, track_file, track_stream

__all__ = ["JobTracker", "LogFollower", "LogPosition", "track_file", "track_stream"]
