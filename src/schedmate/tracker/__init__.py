"""From a job's logs to its progress: how far, how fast, when it ends."""

from __future__ import annotations

from schedmate.tracker.finished import (
    profile_file,
    profile_stream,
    track_and_profile,
    track_file,
    track_stream,
    track_streams,
)
from schedmate.tracker.following.follow import LogFollower, LogPosition
from schedmate.tracker.tracker import JobTracker

__all__ = [
    "JobTracker",
    "LogFollower",
    "LogPosition",
    "profile_file",
    "profile_stream",
    "track_and_profile",
    "track_file",
    "track_stream",
    "track_streams",
]
