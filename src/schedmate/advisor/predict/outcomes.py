"""How runs like this one ended, and what they used."""

from __future__ import annotations

import numpy as np

from schedmate.advisor.predict.runs import CANCELLED, COMPLETED, Columns, Floats
from schedmate.model import Outcome

_NEAREST = 5


def outcome(runs: Columns) -> Outcome:
    """Rates, with one run's worth of doubt spread over the three ends."""
    doubt = 1 / 3
    total = len(runs) + 3 * doubt
    completed = int((runs.rows["ending"] == COMPLETED).sum())
    cancelled = int((runs.rows["ending"] == CANCELLED).sum())
    return Outcome(
        completed=round((completed + doubt) / total, 3),
        failed=round((len(runs) - completed - cancelled + doubt) / total, 3),
        cancelled=round((cancelled + doubt) / total, 3),
    )


def measured(values: Floats) -> float | None:
    """The middle of what the nearest runs that were measured used."""
    known = values[~np.isnan(values)][:_NEAREST]
    return round(float(np.median(known)), 3) if len(known) else None
