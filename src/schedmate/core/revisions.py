"""When a waiting job is predicted again, and whether its place in the queue follows.

Jobs of the same user and of the same code end while it waits, and the longer it waits the more of
them have. The waits between two predictions grow with its own: a job that waits for a day is
predicted again a dozen times, ten thousand of them a few times a second.
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


ONLY_UP = False


def differs(before: Prediction | None, after: Prediction | None) -> bool:
    one, other = middle_s(before), middle_s(after)
    if one is None or other is None:
        return one is not other
    if ONLY_UP:
        return math.log1p(other) - math.log1p(one) > math.log(_CHANGED)
    return abs(math.log1p(one) - math.log1p(other)) > math.log(_CHANGED)


def middle_s(prediction: Prediction | None) -> float | None:
    spread = None if prediction is None else prediction.duration_s
    return None if spread is None else spread.p50
