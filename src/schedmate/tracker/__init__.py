"""From a job's logs to its progress: how far, how fast, when it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.lazily import lazily

if TYPE_CHECKING:
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

__getattr__ = lazily(
    __name__,
    {
        "profile_file": "schedmate.tracker.finished",
        "profile_stream": "schedmate.tracker.finished",
        "track_and_profile": "schedmate.tracker.finished",
        "track_file": "schedmate.tracker.finished",
        "track_stream": "schedmate.tracker.finished",
        "track_streams": "schedmate.tracker.finished",
        "LogFollower": "schedmate.tracker.following.follow",
        "LogPosition": "schedmate.tracker.following.follow",
        "JobTracker": "schedmate.tracker.tracker",
    },
)
