"""Shortest remaining time first, by an oracle; stops running jobs."""

from __future__ import annotations

from schedmate.policies.disciplines import ShortestRemaining


class Srtf(ShortestRemaining):
    name = "srtf"
    key = "expected"
