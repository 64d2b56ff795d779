"""When a waiting job is predicted again, and whether its place in the queue follows.

Jobs of the same user and of the same code end while it waits, and the longer it waits the more of
them have. The time between two predictions grows with its own wait: a job that waits for a day is
predicted again eight times.

Its place follows a longer prediction only. What ends first in a queue that starts short jobs first
is short, and of predictions that go up and down the queue would take each job at its lowest: both
make the queue worse than no new prediction (docs/explanation/design-notes.md).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from schedmate.model import JobState

if TYPE_CHECKING:
    from schedmate.model import Job, Prediction

_SOONEST_S = 600.0
_OF_THE_WAIT = 1.0
_CHANGED = 1.25
"""By which factor a prediction is another one: each new number is a request to the scheduler."""


def again_at(job: Job, advised_at: float) -> float | None:
    """When a waiting job is to be predicted again, None where it does not wait."""
    if job.state is not JobState.PENDING:
        return None
    since = max(job.submit_time, job.eligible_time or 0.0)
    return advised_at + max(_SOONEST_S, _OF_THE_WAIT * (advised_at - since))


def differs(before: Prediction | None, after: Prediction | None) -> bool:
    """Whether it is worth writing down."""
    one, other = _middle_s(before), _middle_s(after)
    if one is None or other is None:
        return other is not None
    return abs(_apart(one, other)) > math.log(_CHANGED)


def sets_back(before: Prediction | None, after: Prediction | None) -> bool:
    """Whether a job that was ordered by one of them gets another place by the other."""
    one, other = _middle_s(before), _middle_s(after)
    if one is None or other is None:
        return other is not None
    return _apart(one, other) > math.log(_CHANGED)


def _apart(one: float, other: float) -> float:
    return math.log1p(other) - math.log1p(one)


def _middle_s(prediction: Prediction | None) -> float | None:
    spread = None if prediction is None else prediction.duration_s
    return None if spread is None else spread.p50
