"""A lasting drop of speed, told from dips, pauses, warm-up and schedules."""

from __future__ import annotations

from collections.abc import Sequence

from schedmate.model import RunProfile, Slowdown
from schedmate.tracker.timeline import Timeline


def slowdown(
    timeline: Timeline, likes: Sequence[RunProfile] = (), *, total: float | None = None
) -> Slowdown | None:
    """A drop of speed that lasts, against the job's own past or against similar runs."""
    raise NotImplementedError
