"""Users' own time limits, where a trace may have runs beyond them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from schedmate.model import JobState
from schedmate.simulator.traces.columns import STATES, TraceColumns


def ended_at_limits(columns: TraceColumns, over_s: float = 0.0) -> TraceColumns:
    """The same jobs; a run beyond its limit and Slurm's `OverTimeLimit` is ended there."""
    most = columns.limit + over_s
    late = columns.duration > most
    return replace(
        columns,
        duration=np.where(late, most, columns.duration),
        status=np.where(late, STATES.index(JobState.TIMEOUT), columns.status),
    )
