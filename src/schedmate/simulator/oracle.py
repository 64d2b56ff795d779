"""What an ordering is told in a simulation where nothing predicts: the truth, or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.model import Prediction, Spread

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedmate.simulator.traces import TraceJob


def oracle(job: TraceJob) -> Prediction:
    duration = job.duration
    return Prediction(
        basis="identical",
        duration_s=Spread(duration, duration, duration),
        explanation="oracle: the trace's own duration",
    )


ADVISERS: dict[str, Callable[[TraceJob], Prediction]] = {"sjf": oracle}
"""By the ordering's name; an ordering that is not listed is told nothing."""
