"""From a job's logs to its progress: how far, how fast, when it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.lazily import lazily

if TYPE_CHECKING:
    from schedmate.tracker.finished_logs import (
        profile_file,
        profile_stream,
        track_and_profile,
        track_file,
        track_stream,
        track_streams,
        track_with_curves,
    )
    from schedmate.tracker.tailing.tailer import LogPosition, LogTailer
    from schedmate.tracker.tracker import JobTracker

__all__ = [
    "JobTracker",
    "LogPosition",
    "LogTailer",
    "profile_file",
    "profile_stream",
    "track_and_profile",
    "track_file",
    "track_stream",
    "track_streams",
    "track_with_curves",
]

__getattr__ = lazily(
    __name__,
    {
        "profile_file": "schedmate.tracker.finished_logs",
        "profile_stream": "schedmate.tracker.finished_logs",
        "track_and_profile": "schedmate.tracker.finished_logs",
        "track_file": "schedmate.tracker.finished_logs",
        "track_stream": "schedmate.tracker.finished_logs",
        "track_streams": "schedmate.tracker.finished_logs",
        "track_with_curves": "schedmate.tracker.finished_logs",
        "LogTailer": "schedmate.tracker.tailing.tailer",
        "LogPosition": "schedmate.tracker.tailing.tailer",
        "JobTracker": "schedmate.tracker.tracker",
    },
)
