"""How a run went, thinned to what the next one like it can learn from."""

from __future__ import annotations

from schedmate.model import EndsBy, RunProfile, Unit
from schedmate.tracker.timeline import Timeline


def profile_of(
    timeline: Timeline,
    *,
    unit: Unit,
    total: float | None = None,
    ends_by: EndsBy = "unknown",
    ended_at: float | None = None,
) -> RunProfile | None:
    """The curve of a finished run, at most 48 marks; None where nothing was counted.

    `ended_at` is when the run ended, on the clock of `Timeline.add`, if later than its last point.
    """
    raise NotImplementedError
