"""Smallest remaining service (time times GPUs) first, by an oracle; stops running jobs."""

from __future__ import annotations

from schedmate.policies.disciplines import ShortestRemaining


class Srsf(ShortestRemaining):
    name = "srsf"
    key = "expected_service"
